/**
 * Receivers on loopback, and what `http` makes of their answers.
 *
 * @module
 */

import { http } from "../../../plugins/handler/http.ts";
import type { Job } from "../../../src/contract/job.ts";
import { contextOf, handlerOf, jobOf, type RecordedContext } from "./_run.ts";

/** Serves `answer` on loopback while `body` runs. */
export async function withReceiver(
  answer: (request: Request) => Response | Promise<Response>,
  body: (origin: string) => Promise<void>,
): Promise<void> {
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, answer);
  try {
    await body(`http://127.0.0.1:${server.addr.port}`);
  } finally {
    await server.shutdown();
  }
}

/** What a run came to: the result, or what was thrown. */
export async function runOf(
  options: Record<string, unknown>,
  job: Job = jobOf(),
  context: RecordedContext = contextOf(),
): Promise<unknown> {
  try {
    return await handlerOf(http, options).run(job, context);
  } catch (thrown) {
    return thrown;
  }
}

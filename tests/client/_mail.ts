/**
 * A system with a pool `mail`, served over HTTP, for tests of the client.
 *
 * @module
 */

import { type Job, start } from "../../mod.ts";
import type { RemoteJob } from "../../src/client/mod.ts";
import type { Sluice } from "../../src/runtime/handles.ts";

/** Jobs of the pools. */
export type Pools = { mail: RemoteJob<{ to: string }, "urgent" | "batch" | "full"> };

/** A job. */
export const ANN = { lane: "urgent", payload: { to: "ann@example.com" } } as const;

/** A system under test. */
export interface Mail extends AsyncDisposable {
  /** Where its handler has sent mail to. */
  readonly ran: readonly string[];
  readonly sluice: Sluice;
  readonly url: string;
}

/** Starts it: lanes `urgent`, `batch`, and `full` that is paused and takes one job. */
export async function mail(tokens: object = {}): Promise<Mail> {
  const ran: string[] = [];
  const sluice = await start({
    admin: { port: 0, ...tokens },
    pools: {
      mail: {
        handler: ({ payload }: Job<{ to: string }>) => {
          ran.push(payload.to);
          if (payload.to === "nobody") throw new Error("no such address");
          return `sent to ${payload.to}`;
        },
        size: { min: 1, max: 2 },
        lanes: [
          { name: "urgent", attempts: 1 },
          { name: "batch" },
          { name: "full", paused: true, maxDepth: 1 },
        ],
      },
    },
  });
  return {
    ran,
    sluice,
    url: sluice.adminUrl!,
    [Symbol.asyncDispose]: async () => {
      await sluice.stop();
    },
  };
}

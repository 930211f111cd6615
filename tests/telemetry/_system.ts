/**
 * Runs jobs for tests of telemetry, in a process of its own: telemetry is switched on from outside.
 *
 * @module
 */

import { trace } from "@opentelemetry/api";
import { RetryLater, start } from "../../mod.ts";
import { admin } from "../../src/admin/mod.ts";
import type { Job } from "../../src/contract/job.ts";

const LANES = [{ name: "urgent", attempts: 1 }];

async function work({ payload }: Job): Promise<string> {
  await Promise.resolve();
  const traceId = trace.getActiveSpan()?.spanContext().traceId ?? "none";
  if (payload === "fail") throw new TypeError("no such address");
  if (payload === "later") throw new RetryLater(3_600_000, "busy");
  return traceId;
}

const received: (string | null)[] = [];
const server = Deno.serve(
  { hostname: "127.0.0.1", port: 0, onListen: () => {} },
  (request) => {
    received.push(request.headers.get("traceparent"));
    return new Response();
  },
);
const url = `http://127.0.0.1:${server.addr.port}/`;
const size = { min: 1, max: 1 };
const sluice = await start({
  pools: {
    mail: { handler: work, size, lanes: LANES },
    posted: { handler: work, size, lanes: LANES },
    hook: { handler: { use: "http", with: { url } }, size, lanes: LANES },
  },
});

const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
const given = await sluice.enqueue("mail", { lane: "urgent", payload: "ok", traceparent });
const root = await sluice.enqueue("mail", { lane: "urgent", payload: "ok" });
const failed = await sluice.enqueue("mail", { lane: "urgent", payload: "fail" });
await sluice.enqueue("mail", { lane: "urgent", payload: "later" });
const active = await trace.getTracer("test").startActiveSpan("request", async (span) => {
  const job = await sluice.enqueue("hook", { lane: "urgent", payload: 1 });
  span.end();
  return { job, traceId: span.spanContext().traceId };
});

const app = admin(sluice);
const posted = await Promise.all(["first", "second"].map((name) =>
  // at the same time
  trace.getTracer("test").startActiveSpan(name, async (span) => {
    const response = await app.request("/api/pools/posted/jobs?waitMs=20000", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ lane: "urgent", payload: "ok" }),
    });
    span.end();
    const { outcome } = await response.json();
    return { traceId: span.spanContext().traceId, ran: outcome.result };
  })
));

const outcomes = await Promise.all([given.done, root.done, failed.done, active.job.done]);
const stored = await sluice.pool("hook").find(active.job.id);
// Console lines are exported as logs: this one is for the test.
Deno.stdout.writeSync(new TextEncoder().encode(
  `RESULT ${
    JSON.stringify({
      outcomes,
      traceId: active.traceId,
      stored: stored?.traceparent,
      received,
      posted,
    })
  }\n`,
));
for await (const _ of Deno.stdin.readable); // figures are exported as long as it runs
await sluice.stop();
await server.shutdown();

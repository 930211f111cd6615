import assert from "node:assert/strict";
import { withPool } from "../_virtual.ts";

/** Runs until its signal aborts. */
async function hang(_: unknown, { signal }: { readonly signal: AbortSignal }): Promise<never> {
  const { promise, reject } = Promise.withResolvers<never>();
  signal.addEventListener("abort", () => reject(signal.reason));
  return await promise;
}

Deno.test("a run is limited by its type, else by its lane, else by its pool", async () => {
  await withPool({
    handler: undefined,
    handlers: { send: hang, report: hang },
    size: { min: 4, max: 4 },
    timeoutMs: 3000,
    timeoutMsByType: { report: 9000 },
    lanes: [{ name: "high", timeoutMs: 1000, attempts: 1 }, { name: "low", attempts: 1 }],
  }, async ({ pool, clock, events }) => {
    const fromMs = clock.nowMs();
    for (const lane of ["high", "low"]) {
      for (const type of ["send", "report"]) await pool.enqueue({ lane, type, payload: lane });
    }
    await clock.advance(20_000);

    const ended = events.flatMap((event) =>
      event.kind === "job-dead" ? [[event.lane, event.atMs - fromMs, event.error]] : []
    );
    const said = (ms: number) => `The job ran longer than timeoutMs (${ms})`;
    assert.deepEqual(ended.sort(), [
      ["high", 1000, said(1000)],
      ["high", 9000, said(9000)],
      ["low", 3000, said(3000)],
      ["low", 9000, said(9000)],
    ]);
  });
});

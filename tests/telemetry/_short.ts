/**
 * Runs a few jobs for a moment and ends, for tests of what telemetry exports of a short life.
 *
 * @module
 */

import { Fatal, start } from "../../mod.ts";

const sluice = await start({
  pools: {
    mail: {
      handler: ({ payload }) => {
        if (payload === "fatal") throw new Fatal("x".repeat(100_000));
        if (payload === "odd") throw Object.defineProperty(new Error("odd"), "name", { get: fail });
        if (payload !== "ok") throw new TypeError("no such address");
      },
      size: { min: 1, max: 1 },
      lanes: [{ name: "urgent", attempts: 2, backoff: { baseMs: 1, jitter: 0 } }],
    },
  },
});

function fail(): never {
  throw new Error("not to be read");
}

const jobs = await Promise.all(
  ["ok", "ok", "fatal", "bad", "odd"].map((payload) =>
    sluice.enqueue("mail", { lane: "urgent", payload })
  ),
);
await Promise.all(jobs.map((job) => job.done));
await sluice.stop();

/**
 * A process with a schedule of each second, a job that runs for long and one that is due in 100 s, on the
 * file of its argument. It prints what happens, a line of JSON each, until its input ends.
 */

import { start } from "../../../mod.ts";

const KINDS = ["job-started", "job-done", "job-dead", "job-failed", "lease-lost", "clock-stepped"];

const [path, role] = Deno.args as [string, string];
const system = await start({
  store: { use: "deno-kv", with: { path } },
  pools: {
    p: {
      handlers: { tick: "tick", long: "long" },
      size: { min: 2, max: 4 },
      leaseMs: 3000,
      timeoutMs: 120_000,
      lanes: [{ name: "a", deadlineMs: 60_000 }],
      schedules: [{ lane: "a", type: "tick", cron: "* * * * * *", payload: "tick" }],
    },
  },
}, {
  plugins: { tick: () => null, long: () => ended.promise },
  observer: (event) => {
    if (KINDS.includes(event.kind)) say(event);
  },
});
const ended = Promise.withResolvers<null>();
say({ kind: "ready" });
if (role === "first") {
  await system.enqueue("p", { lane: "a", type: "long", payload: "long" });
  const delayed = await system.enqueue("p", {
    lane: "a",
    type: "tick",
    payload: "due",
    delayMs: 100_000,
  });
  say({ kind: "delayed", id: delayed.id });
}
for await (const _ of Deno.stdin.readable);
ended.resolve(null);
const { handedBack } = await system.stop();
say({ kind: "stopped", handedBack });

function say(line: unknown): void {
  Deno.stdout.writeSync(new TextEncoder().encode(`${JSON.stringify(line)}\n`));
}

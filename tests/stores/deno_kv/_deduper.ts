/**
 * A process that adds jobs of a few dedupe keys, in all modes, leases and ends them, until it is killed.
 * It writes down what was acknowledged, and what it leased.
 */

import { randomStream } from "../../../src/base/random.ts";
import { end, entry, openQueue, openStore } from "./_store.ts";

const [path = "", log = "", name = "", seed = "0"] = Deno.args;
const random = randomStream(Number(seed));
const file = await Deno.open(log, { create: true, append: true });
const note = (line: unknown): void => {
  file.writeSync(new TextEncoder().encode(`${JSON.stringify(line)}\n`));
};

const now = (): number => performance.timeOrigin + performance.now();
const queue = await openQueue(await openStore({ path }), {
  leaseMs: 600,
  attempts: [99],
  keep: { done: 0, dead: 0, forMs: Infinity },
  random,
  nowMs: now(),
});
let nextBeatMs = 0;
for (let number = 1;; number++) {
  if (now() >= nextBeatMs) nextBeatMs = (await queue.renew(now())).nextAtMs;
  const mode = random() < 0.5 ? "replace" : "debounce";
  const nowMs = now();
  const more = random() < 0.05 ? "x".repeat(70_000) : "";
  const entries = Array.from({ length: 1 + Math.floor(random() * 3) }, (_, place) =>
    entry({
      dedupeKey: `${mode}-${Math.floor(random() * 2)}`,
      dedupe: { mode, maxMs: 60 },
      payload: { by: name, number: 10 * number + place, more },
      dueAtMs: mode === "debounce" ? nowMs + 30 : nowMs,
    }));
  const added = await queue.add(entries, nowMs);
  for (const [place, { id, error }] of added.entries()) {
    const { payload, dedupeKey } = entries[place]!;
    const { number } = payload as { number: number };
    note({ kind: "added", by: name, number, id, dedupeKey, error: error?.message });
  }
  if (random() < 0.5) continue;
  const jobs = await queue.lease([2], now());
  for (const { id, payload } of jobs) {
    const { by, number } = payload as { by: string; number: number };
    note({ kind: "ran", id, by, number });
  }
  await queue.settle(jobs.map((job) => end(job)), now());
}

// `context.overloaded()` at a receiver that allows 100 calls in each second and answers the rest of them with
// 429: fewer workers are no help, so the cap may cost nothing.

import assert from "node:assert/strict";
import { RetryLater } from "../../mod.ts";
import { VirtualClock } from "../../src/time/virtual_clock.ts";
import { type PoolParts, startPool, stopPool } from "../_virtual.ts";

const WINDOW_MS = 1000;

/** Calls that a receiver of `perWindow` takes in a minute, of jobs that come 1.3 times as fast. */
async function takenOf(perWindow: number, asks: boolean, parts: PoolParts): Promise<number> {
  const clock = new VirtualClock();
  let [window, used, taken] = [-1, 0, 0];
  const handler: PoolParts["handler"] = async (_job, context) => {
    const now = Math.floor(clock.nowMs() / WINDOW_MS);
    if (now !== window) [window, used] = [now, 0];
    const isRefused = used >= perWindow;
    if (!isRefused) [used, taken] = [used + 1, taken + 1];
    await new Promise<void>((done) => clock.at(clock.nowMs() + 20, done));
    if (!isRefused) return;
    const askedMs = asks ? WINDOW_MS - clock.nowMs() % WINDOW_MS : undefined;
    context.overloaded(askedMs);
    throw new RetryLater(askedMs ?? WINDOW_MS);
  };
  const size = { min: 1, max: 32 };
  const virtual = await startPool({ handler, size, lanes: [{ name: "all" }], ...parts }, { clock });
  let posted = 0;
  for (let ms = 0; ms < 60_000; ms += 50) {
    for (; posted < 1.3 * perWindow * (ms + 50) / WINDOW_MS; posted++) {
      await virtual.pool.enqueue({ lane: "all", payload: null }).catch(() => {}); // shed, as it may be
    }
    await clock.advance(50);
  }
  await stopPool(virtual);
  return taken;
}

for (const asks of [true, false]) {
  Deno.test(`adaptiveCap takes nothing from a receiver that answers 429 for the rest of each second${asks ? ", and until when" : ""}`, async () => {
    const off = await takenOf(100, asks, { adaptive: false });
    const on = await takenOf(100, asks, {});

    assert.ok(on >= 0.98 * off, `${on} of ${off}`);
  });
}

/** Receivers with a rate limit: what a circuit breaker costs there, and what it saves. */

import assert from "node:assert/strict";
import { type JobContext, RetryLater } from "../../mod.ts";
import { VirtualClock } from "../../src/time/virtual_clock.ts";
import { type PoolParts, withPool } from "../_virtual.ts";

const MINUTE = 60_000;

/** Whether a call at `atMs` from the start is accepted. */
type Limit = (atMs: number) => boolean;

/** This many calls a second, the rest of a fifth of a second saved up. */
function bucket(perSec: number): Limit {
  let [tokens, lastMs] = [perSec, 0];
  return (atMs) => {
    tokens = Math.min(perSec / 5 + 1, tokens + (atMs - lastMs) * perSec / 1000);
    lastMs = atMs;
    if (tokens < 1) return false;
    tokens--;
    return true;
  };
}

/** This many calls in each second of the clock. */
function windows(perSec: number): Limit {
  let [second, calls] = [0, 0];
  return (atMs) => {
    if (Math.floor(atMs / 1000) !== second) [second, calls] = [Math.floor(atMs / 1000), 0];
    return ++calls <= perSec;
  };
}

interface Came {
  done: number;
  refused: number;
}

/** What a pool of up to 32 workers comes to in a minute, with more jobs than the receiver takes: nothing else slows it. */
async function minute(takes: Limit, cooldown: PoolParts["cooldown"]): Promise<Came> {
  const clock = new VirtualClock();
  const startMs = clock.nowMs();
  const came: Came = { done: 0, refused: 0 };
  const handler = async (_: unknown, context: JobContext): Promise<void> => {
    await new Promise<void>((resolve) => clock.at(clock.nowMs() + 20, resolve));
    if (takes(clock.nowMs() - startMs)) return void came.done++;
    came.refused++;
    context.overloaded();
    throw new RetryLater(1000);
  };
  const lanes = [{ name: "only", targetWaitMs: 1000 }];
  const size = { min: 2, max: 32 };
  const parts = {
    handler,
    size,
    lanes,
    admission: "admit-all",
    adaptive: false,
    cooldown,
  } as const;
  await withPool(parts, async ({ pool }) => {
    for (let payload = 0; payload < 20_000; payload++) pool.post({ lane: "only", payload });
    await clock.advance(MINUTE);
  }, { clock });
  return { ...came };
}

for (const [kind, limit] of [["bucket", bucket], ["windows", windows]] as const) {
  for (const perSec of [10, 50, 200]) {
    Deno.test(`A receiver that takes ${perSec} a second (${kind}) does no less for a breaker, and refuses less`, async () => {
      const on = await minute(limit(perSec), {});
      const off = await minute(limit(perSec), false);

      assert.ok(on.done >= 0.98 * off.done, `${on.done} done with it, ${off.done} without`);
      assert.ok(on.refused <= off.refused, `${on.refused} refused with it, ${off.refused} without`);
      if (perSec === 200) assert.ok(on.refused <= off.refused / 8);
    });
  }
}

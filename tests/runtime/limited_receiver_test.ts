/** Receivers with a rate limit: what a circuit breaker costs there, and what it saves. */

import assert from "node:assert/strict";
import { type JobContext, RetryLater } from "../../mod.ts";
import { randomStream } from "../../src/base/random.ts";
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

/**
 * What a pool of up to 32 workers comes to in a minute, with more jobs than the receiver takes: nothing else slows it.
 *
 * @param asksMs How long the receiver asks to be left alone, ms.
 */
async function minute(
  takes: Limit,
  cooldown: PoolParts["cooldown"],
  { asksMs, caps = [] }: { asksMs?: number; caps?: PoolParts["caps"] } = {},
): Promise<Came> {
  const clock = new VirtualClock();
  const startMs = clock.nowMs();
  const came: Came = { done: 0, refused: 0 };
  const handler = async (_: unknown, context: JobContext): Promise<void> => {
    await new Promise<void>((resolve) => clock.at(clock.nowMs() + 20, resolve));
    if (takes(clock.nowMs() - startMs)) return void came.done++;
    came.refused++;
    context.overloaded(asksMs);
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
    caps,
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

Deno.test("A receiver that always asks for a second gets less done, and with its rate as a cap all it takes", async () => {
  const done = async (caps: PoolParts["caps"]): Promise<readonly [number, number]> => {
    const { done, refused } = await minute(bucket(200), {}, { asksMs: 1000, caps });
    return [done / 12_000, refused];
  };
  const [alone, refused] = await done([]);
  assert.ok(alone > 0.2 && alone < 0.3, `${alone}`);
  assert.ok(refused < 2000, `${refused}`);

  const cap = { use: "api-rate-cap", with: { callsPerSec: 200 } } as const;
  const [capped, few] = await done([cap]);
  assert.ok(capped >= 0.94, `${capped}`);
  assert.ok(few <= 100, `${few}`);
});

for (const share of [0.3]) {
  Deno.test(`A receiver that refuses ${share} of all calls at random opens no breaker in a minute`, async () => {
    const takes = (): Limit => {
      const random = randomStream(7, "mixed");
      return () => random() >= share;
    };
    const on = await minute(takes(), {}, { asksMs: 1000 });

    assert.deepEqual(on, await minute(takes(), false, { asksMs: 1000 }));
  });
}

Deno.test("After a refusal the pace of a slow rate holds no urgent job up", async () => {
  const caps = [{ use: "api-rate-cap", with: { rates: [{ calls: 30, perMs: 9000 * 60 }] } }];
  const came = await minute((atMs) => atMs > 1000, {}, {
    asksMs: 1000,
    caps: caps as PoolParts["caps"],
  });

  assert.ok(came.done >= 15, `${came.done} done`);
});

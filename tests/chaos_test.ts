/**
 * Some of the schedules that `deno task chaos` plays by the thousand.
 *
 * @module
 */

import assert from "node:assert/strict";
import { playSeed } from "./chaos/play.ts";
import { scheduleOf } from "./chaos/step.ts";

const SEEDS = 150;

Deno.test("Pools hold every invariant under random load and faults, in virtual time", async () => {
  for (let seed = 1; seed <= SEEDS; seed++) {
    const { breach } = await playSeed(seed);

    const replay = `deno task chaos -- --from ${seed} --seeds 1`;
    assert.equal(breach, undefined, `${replay}: step ${breach?.steps}: ${breach?.what}`);
  }
});

Deno.test("playSeed() comes to the same each time", async () => {
  assert.deepEqual(await playSeed(2), await playSeed(2));
});

Deno.test("scheduleOf() makes schedules of all kinds of steps, other ones for other seeds", () => {
  const schedules = Array.from({ length: 30 }, (_, seed) => scheduleOf(seed, 6));

  const kinds = new Set(schedules.flat().map((step) => step.do));
  assert.equal(kinds.size, 17);
  assert.equal(new Set(schedules.map((schedule) => JSON.stringify(schedule))).size, 30);
});

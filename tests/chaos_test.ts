/**
 * Some of the schedules that `deno task chaos` plays by the thousand.
 *
 * @module
 */

import assert from "node:assert/strict";
import { readArgs } from "./chaos/main.ts";
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

Deno.test("deno task chaos refuses what would play nothing and pass", () => {
  assert.deepEqual(readArgs([]), { from: 1, seeds: 200, steps: Infinity, show: false });
  assert.deepEqual(readArgs(["--from", "17", "--seeds", "1", "--steps", "23", "--show"]), {
    from: 17,
    seeds: 1,
    steps: 23,
    show: true,
  });
  const refused: readonly (readonly [args: string[], why: RegExp])[] = [
    [["--seeds", "abc"], /^Expected --seeds to be a whole number >= 1 but received "abc"$/],
    [["--seeds", "0"], /^Expected --seeds to be a whole number >= 1 but received "0"$/],
    [["--seeds", "1e3"], /^Expected --seeds /],
    [["--seeds="], /^Expected --seeds /],
    [["--from", "x"], /^Expected --from to be a whole number >= 0 but received "x"$/],
    [["--steps", "0"], /^Expected --steps to be a whole number >= 1 but received "0"$/],
    [["--seed", "5"], /--seed/],
  ];
  for (const [args, why] of refused) {
    assert.throws(() => readArgs(args), ({ message }: Error) => why.test(message), args.join(" "));
  }
});

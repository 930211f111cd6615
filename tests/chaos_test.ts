/**
 * Some of the schedules that `deno task chaos` plays by the thousand.
 *
 * @module
 */

import assert from "node:assert/strict";
import { readArgs } from "./chaos/main.ts";
import { playSeed } from "./chaos/play.ts";
import { lifeOf } from "./chaos/life/draw.ts";
import { WORLDS } from "./chaos/world.ts";
import { sharedSchedule } from "./chaos/shared/draw.ts";
import { scheduleOf } from "./chaos/step.ts";

/** Seeds that the gate plays in each world; `.ci/run` plays more. */
const SEEDS = { pools: 150, shared: 20, memory: 40, kv: 12 } as const;

for (const [name, seeds] of Object.entries(SEEDS) as [keyof typeof SEEDS, number][]) {
  Deno.test(`Pools hold every invariant under load and faults in the world ${name}`, async () => {
    for (let seed = 1; seed <= seeds; seed++) {
      const { breach } = await WORLDS[name].play(seed);

      const replay = `deno task chaos -- --world ${name} --from ${seed} --seeds 1`;
      assert.equal(breach, undefined, `${replay}: step ${breach?.steps}: ${breach?.what}`);
    }
  });
}

Deno.test("playSeed() comes to the same each time", async () => {
  assert.deepEqual(await playSeed(2), await playSeed(2));
});

Deno.test("scheduleOf() makes schedules of all kinds of steps, other ones for other seeds", () => {
  const schedules = Array.from({ length: 30 }, (_, seed) => scheduleOf(seed, 6));

  const kinds = new Set(schedules.flat().map((step) => step.do));
  assert.equal(kinds.size, 17);
  assert.equal(new Set(schedules.map((schedule) => JSON.stringify(schedule))).size, 30);
});

Deno.test("sharedSchedule() makes schedules of all kinds of steps", () => {
  const schedules = Array.from({ length: 30 }, (_, seed) => sharedSchedule(seed));

  const kinds = new Set(schedules.flat().map((step) => step.do));
  assert.equal(kinds.size, 11);
});

Deno.test("lifeOf() draws all kinds of steps, both harmless lives and others", () => {
  const lives = Array.from({ length: 60 }, (_, seed) => lifeOf(seed, "kv"));

  const kinds = new Set(lives.flatMap(({ steps }) => steps.map((step) => step.do)));
  assert.equal(kinds.size, 15);
  assert.ok(lives.some(({ steps }) => steps.every((step) => step.do !== "kill")));
});

Deno.test("deno task chaos refuses what would play nothing and pass", () => {
  assert.deepEqual(readArgs([]), {
    from: 1,
    seeds: 200,
    world: undefined,
    steps: Infinity,
    show: false,
  });
  const one = ["--world", "kv", "--from", "17", "--seeds", "1", "--steps", "23", "--show"];
  assert.deepEqual(readArgs(one), { from: 17, seeds: 1, world: "kv", steps: 23, show: true });
  const refused: readonly (readonly [args: string[], why: RegExp])[] = [
    [["--seeds", "abc"], /^Expected --seeds to be a whole number >= 1 but received "abc"$/],
    [["--seeds", "0"], /^Expected --seeds to be a whole number >= 1 but received "0"$/],
    [["--seeds", "1e3"], /^Expected --seeds /],
    [["--seeds="], /^Expected --seeds /],
    [["--from", "x"], /^Expected --from to be a whole number >= 0 but received "x"$/],
    [["--steps", "0"], /^Expected --steps to be a whole number >= 1 but received "0"$/],
    [["--seed", "5"], /--seed/],
    [
      ["--world", "moon"],
      /^Expected --world to be one of pools, shared, memory, kv but received "moon"$/,
    ],
  ];
  for (const [args, why] of refused) {
    assert.throws(() => readArgs(args), ({ message }: Error) => why.test(message), args.join(" "));
  }
});

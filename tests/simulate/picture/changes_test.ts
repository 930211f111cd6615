import assert from "node:assert/strict";
import { changesOf } from "../../../src/simulate/picture/changes.ts";
import { decision } from "./_report.ts";

Deno.test("changesOf() folds what follows in the same direction, and leaves out what changes nothing", () => {
  const decisions = [
    decision(0, 2, 2),
    decision(1000, 2, 4),
    decision(1100, 4, 6),
    decision(1200, 6, 2),
    decision(2000, 2, 3),
    decision(3500, 3, 4),
  ];

  const changes = changesOf({ decisions });

  assert.deepEqual(changes.map(({ fromMs, from, to, steps }) => [fromMs, from, to, steps]), [
    [1000, 2, 6, 2],
    [1200, 6, 2, 1],
    [2000, 2, 3, 1],
    [3500, 3, 4, 1],
  ]);
  assert.equal(changes[0]?.sentence, decisions[2]?.sentence);
});

Deno.test("changesOf() keeps processes apart", () => {
  const decisions = [
    { process: 0, ...decision(1000, 2, 4) },
    { process: 1, ...decision(1050, 1, 3) },
    { process: 0, ...decision(1100, 4, 6) },
  ];

  const changes = changesOf({ decisions });

  assert.deepEqual(changes.map(({ process, from, to }) => [process, from, to]), [
    [0, 2, 6],
    [1, 1, 3],
  ]);
});

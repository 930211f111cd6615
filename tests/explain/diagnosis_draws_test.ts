/**
 * The diagnosis over drawn set-ups: a few of what `deno task diagnose` plays.
 *
 * @module
 */

import assert from "node:assert/strict";
import { CAUSES } from "../diagnosis/draw.ts";
import { failing, lineOf, sound } from "../diagnosis/judge.ts";

Deno.test("diagnose() names what was planted in a set-up, and says nothing of sound ones", async () => {
  const wrong: string[] = [];
  for await (const outcome of failing(CAUSES.length, 11)) {
    if (!outcome.isRight) wrong.push(lineOf(outcome));
  }
  assert.ok(wrong.length <= 1, wrong.join("\n"));
  for await (const outcome of sound(8, 11)) {
    assert.ok(outcome.isRight, lineOf(outcome));
  }
});

import assert from "node:assert/strict";
import { middleOut } from "../../src/base/middle_out.ts";

Deno.test("middleOut() leaves out the middle of what is too long, and no half characters", () => {
  assert.equal(middleOut("mail", 4), "mail");
  assert.equal(middleOut("customer-facing-0007", 13), "custom…g-0007");
  assert.equal(middleOut("customer-facing-0007", 13).length, 13);
  assert.equal(middleOut("😀😀😀😀😀", 3), "😀…😀");
  assert.equal(middleOut("", 3), "");
});

Deno.test("middleOut() keeps both ends of a text", () => {
  assert.deepEqual([5, 4, 3, 1].map((most) => middleOut("abcdef", most)), [
    "ab…ef",
    "ab…f",
    "a…f",
    "…",
  ]);
  assert.equal(middleOut("abc", 3), "abc");
});

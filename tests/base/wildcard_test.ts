import assert from "node:assert/strict";
import { wildcard } from "../../src/base/wildcard.ts";

const CASES: readonly [pattern: string, fits: readonly string[], others: readonly string[]][] = [
  ["", [""], ["a"]],
  ["a.b", ["a.b"], ["axb", "a.bc", "A.B"]],
  ["*", ["", "a", "a\nb"], []],
  ["a*", ["a", "ab"], ["", "ba"]],
  ["*a", ["a", "ba"], ["ab"]],
  ["a*a", ["aa", "aba"], ["a"]],
  ["a*b*c", ["abc", "axbxc", "abbcc"], ["acb", "ab"]],
  ["*ab*ab", ["abab", "xabxab"], ["ab", "aba"]],
  ["**", ["", "a"], []],
  ["eu-*", ["eu-*-1", "eu-*"], ["*"]],
];

Deno.test("wildcard() takes * for any text and all else for itself", () => {
  for (const [pattern, fits, others] of CASES) {
    const is = wildcard(pattern);
    assert.deepEqual([...fits, ...others].filter(is), fits, pattern);
  }
});

Deno.test("wildcard() looks at long texts once, however many * there are", () => {
  const is = wildcard(`${"*a".repeat(500)}*b`);

  assert.equal(is("a".repeat(1024)), false); // a pattern that tries all ways would not end
});

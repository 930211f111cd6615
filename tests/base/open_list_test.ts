import assert from "node:assert/strict";
import { OpenList } from "../../src/base/open_list.ts";

Deno.test("OpenList is in the order of adding, wherever something is taken out", () => {
  const list = new OpenList<string>();
  const a = list.add("a");
  const b = list.add("b");
  const c = list.add("c");
  const d = list.add("d");

  assert.equal(list.delete(b), true); // in the middle
  assert.deepEqual(list.values(), ["a", "c", "d"]);
  assert.equal(list.delete(d), true); // the last
  assert.deepEqual(list.values(), ["a", "c"]);
  assert.equal(list.delete(a), true); // the first
  assert.deepEqual([list.first, list.values()], ["c", ["c"]]);
  assert.equal(list.delete(a), false);
  assert.equal(list.shift(), "c");
  assert.deepEqual([list.first, list.shift(), list.values()], [undefined, undefined, []]);
  assert.equal(list.delete(c), false);
  list.add("e");
  assert.deepEqual(list.values(), ["e"]);
});

Deno.test("OpenList: what was taken out refers to nothing that came later", () => {
  const list = new OpenList<number>();
  const one = list.add(1);
  list.add(2);
  list.delete(one);

  assert.deepEqual([one.before, one.after], [undefined, undefined]);
});

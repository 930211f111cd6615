import assert from "node:assert/strict";
import fc from "fast-check";
import { nearest, quoted, suggestion } from "../../src/base/suggest.ts";

Deno.test("nearest() finds swapped, missing, added and changed letters, in any case", () => {
  const names = ["urgent", "batch", "age-scaler", "depth-scaler"];

  assert.equal(nearest("urgnet", names), "urgent");
  assert.equal(nearest("btch", names), "batch");
  assert.equal(nearest("batchh", names), "batch");
  assert.equal(nearest("Urgent", names), "urgent");
  assert.equal(nearest("age_scalar", names), "age-scaler");
});

Deno.test("nearest() finds nothing for a name that is far from all", () => {
  assert.equal(nearest("weekly", ["urgent", "batch"]), undefined);
  assert.equal(nearest("", ["urgent"]), undefined);
  assert.equal(nearest("urgent", []), undefined);
  assert.equal(nearest("b", ["a"]), undefined);
  assert.equal(nearest("mx", ["my", "m"]), undefined);
  assert.equal(nearest("A", ["a"]), "a");
});

Deno.test("nearest() finds a name itself, and after any one mistake", () => {
  const word = fc.stringMatching(/^[a-z]{4,12}$/);
  fc.assert(fc.property(word, fc.nat(), (name, at) => {
    const cut = at % name.length;
    assert.equal(nearest(name, ["0", name]), name);
    assert.equal(nearest(name.slice(0, cut) + name.slice(cut + 1), [name]), name);
    assert.equal(nearest(`${name.slice(0, cut)}_${name.slice(cut)}`, [name]), name);
  }));
});

Deno.test("suggestion() names the nearest, else all there are", () => {
  assert.equal(suggestion("urgnt", ["urgent", "batch"]), ': did you mean "urgent"?');
  assert.equal(suggestion("x-ray", ["urgent", "batch"]), ': expected one of "urgent", "batch"');
  assert.equal(suggestion("x-ray", ["urgent"]), ': expected "urgent"');
  assert.equal(suggestion("x-ray", []), "");
});

Deno.test("quoted() puts names in double quotes", () => {
  assert.equal(quoted(["a", "b"]), '"a", "b"');
  assert.equal(quoted([]), "");
});

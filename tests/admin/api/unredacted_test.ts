import assert from "node:assert/strict";
import fc from "fast-check";
import { unredacted } from "../../../src/admin/api/unredacted.ts";
import type { ProblemError } from "../../../src/admin/http/wire.ts";
import { redactionOf } from "../../../src/config/redaction.ts";

const { show } = redactionOf({ redact: ["token"] });

/** What a payload is once someone has edited it as it was shown, and what is wrong with it. */
function edited(
  original: unknown,
  edit: (shown: unknown) => unknown,
): { readonly value: unknown; readonly faults: readonly string[] } {
  const shown = show(original, original);
  const faults: ProblemError[] = [];
  const value = unredacted(edit(structuredClone(shown)), { original, shown }, faults);
  return { value, faults: faults.map(({ pointer }) => pointer) };
}

Deno.test("unredacted() gives any payload back that nobody has changed", () => {
  fc.assert(fc.property(fc.jsonValue({ maxDepth: 4 }), (value) => {
    const payload = { token: "hunter22", said: "it was hunter22", list: [{ token: value }, value] };
    assert.deepEqual(edited(payload, (shown) => shown), { value: payload, faults: [] });
  }));
});

Deno.test("unredacted() takes what was changed, and what was left hidden from the job", () => {
  const payload = { user: "ann", login: { token: "hunter22" }, note: "by hunter22" };

  const { value, faults } = edited(payload, (shown) => ({ ...Object(shown), user: "bob" }));

  assert.deepEqual([value, faults], [{ ...payload, user: "bob" }, []]);
});

Deno.test("unredacted() wants a value for what is hidden elsewhere than in the job", () => {
  const payload = {
    token: "hunter22",
    list: [{ user: "ann", token: "a1b2" }, { user: "bob", token: "c3d4" }],
  };

  assert.deepEqual(edited(payload, () => ({ other: "[redacted]" })).faults, ["/payload/other"]);
  assert.deepEqual(edited(payload, () => "x [redacted]").faults, ["/payload"]);
  assert.deepEqual(edited(payload, () => ({ token: "my [redacted]" })).faults, ["/payload/token"]);
  // One of a list is gone: what was hidden in it is not given to the next.
  const fewer = edited(payload, () => ({ list: [{ user: "bob", token: "[redacted]" }] }));
  assert.deepEqual(fewer.faults, ["/payload/list/0/token"]);
  const swapped = edited(payload, (shown) => ({ list: Object(shown).list.toReversed() }));
  assert.deepEqual(swapped.faults, ["/payload/list/0/token", "/payload/list/1/token"]);
});

Deno.test("unredacted() ends for what is nested deeper than any payload", () => {
  let deep: unknown = "[redacted]";
  for (let level = 0; level < 5_000; level++) deep = { deep };

  assert.deepEqual(edited({}, () => deep).faults, []);
});

import assert from "node:assert/strict";
import { toDisplay } from "../../src/config/display.ts";
import { steady } from "./_bench.ts";

Deno.test("toShown() copies JSON as it is, references to the environment included", () => {
  const given = { a: [1, "b", null, true], token: { env: "NAME" } };

  const shown = toDisplay(given);

  assert.deepEqual(shown, given);
  assert.notEqual(shown, given);
});

Deno.test("toShown() turns what is not JSON into text", () => {
  const given = {
    plugin: steady,
    pair: { use: steady },
    named: function run() {},
    nameless: (() => () => {})(),
    most: Infinity,
    none: undefined,
    map: new Map(),
  };

  assert.deepEqual(toDisplay(given), {
    plugin: "steady",
    pair: { use: "steady" },
    named: "run",
    nameless: "[function]",
    most: "Infinity",
    map: "[object Map]",
  });
});

Deno.test("toShown() ends at what contains itself", () => {
  const circle: Record<string, unknown> = { a: 1 };
  circle.self = circle;

  assert.deepEqual(toDisplay(circle), { a: 1, self: "[circular]" });
});

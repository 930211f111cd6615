import assert from "node:assert/strict";
import { visible } from "../src/visible.ts";

Deno.test("visible() shows what a terminal would obey, and leaves line breaks, tabs and letters", () => {
  assert.equal(
    visible("\x1b]0;t\x07 \x9b2J \x7f \u202e"),
    "\\u001b]0;t\\u0007 \\u009b2J \\u007f \\u202e",
  );
  assert.equal(visible("one\n\ttwo ü 日本 👩‍🔧"), "one\n\ttwo ü 日本 👩‍🔧");
  assert.equal(visible("a\rb"), "a\\u000db");
});

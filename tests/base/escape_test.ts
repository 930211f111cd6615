import assert from "node:assert/strict";
import { visible, withoutPassword } from "../../src/base/escape.ts";

Deno.test("visible() shows what a terminal would obey, and leaves line breaks, tabs and letters", () => {
  assert.equal(
    visible("\x1b]0;t\x07 \x9b2J \x7f \u202e"),
    "\\u001b]0;t\\u0007 \\u009b2J \\u007f \\u202e",
  );
  assert.equal(visible("one\n\ttwo ü 日本 👩‍🔧"), "one\n\ttwo ü 日本 👩‍🔧");
  assert.equal(visible("a\rb"), "a\\u000db");
});

Deno.test("withoutPassword() hides user and password of each address in a text, and nothing else", () => {
  assert.equal(
    withoutPassword("redis://u:p@ss:w@host:6379/0, https://token@b.example/?q=a@b"),
    "redis://[redacted]@host:6379/0, https://[redacted]@b.example/?q=a@b",
  );
  for (const text of ["a@b.example", "https://b.example/@user", "http://b.example?to=a@b", "://"]) {
    assert.equal(withoutPassword(text), text);
  }
});

import assert from "node:assert/strict";
import { Remembered } from "../../src/admin/remembered.ts";

Deno.test("Remembered finds a job by pool and key, for ten minutes", () => {
  let nowMs = 0;
  const remembered = new Remembered(() => nowMs);

  remembered.keep("mail", "order-17", "j1");
  nowMs = 599_999;
  const found = [remembered.find("mail", "order-17"), remembered.find("other", "order-17")];
  nowMs = 600_000;

  assert.deepEqual(found, ["j1", undefined]);
  assert.equal(remembered.find("mail", "order-17"), undefined);
});

Deno.test("Remembered forgets the oldest keys first when there are too many", () => {
  const remembered = new Remembered(() => 0, 2);

  remembered.keep("mail", "a", "1");
  remembered.keep("mail", "b", "2");
  remembered.keep("mail", "a", "3");
  remembered.keep("mail", "c", "4");

  const found = ["a", "b", "c"].map((key) => remembered.find("mail", key));
  assert.deepEqual(found, ["3", undefined, "4"]);
});

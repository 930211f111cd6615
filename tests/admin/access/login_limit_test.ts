import assert from "node:assert/strict";
import { LoginLimit } from "../../../src/admin/access/login_limit.ts";

Deno.test("LoginLimit lets an address fail five times, then once in twelve seconds", () => {
  const limit = new LoginLimit();

  for (let failed = 0; failed < 5; failed++) {
    assert.equal(limit.waitMs("a", 1_000), 0);
    limit.failed("a", 1_000);
  }

  assert.equal(limit.waitMs("a", 1_000), 12_000);
  assert.equal(limit.waitMs("a", 12_999), 1);
  assert.equal(limit.waitMs("a", 13_000), 0);
  limit.failed("a", 13_000);
  assert.equal(limit.waitMs("a", 13_000), 12_000);
});

Deno.test("LoginLimit gives all tries back after a minute", () => {
  const limit = new LoginLimit();
  for (let failed = 0; failed < 5; failed++) limit.failed("a", 0);

  for (let failed = 0; failed < 5; failed++) {
    assert.equal(limit.waitMs("a", 60_000), 0);
    limit.failed("a", 60_000);
  }

  assert.ok(limit.waitMs("a", 60_000) > 0);
});

Deno.test("LoginLimit counts each address for itself, and forgets the oldest of very many", () => {
  const limit = new LoginLimit();
  for (let failed = 0; failed < 5; failed++) limit.failed("a", 0);

  const other = limit.waitMs("b", 0);
  for (let index = 0; index < 1_000; index++) limit.failed(`other ${index}`, 0);

  assert.deepEqual([other, limit.waitMs("a", 0)], [0, 0]);
});

import assert from "node:assert/strict";
import fc from "fast-check";
import { dbPoolCap, type DbPoolCapOptions } from "../../../plugins/cap/db_pool_cap.ts";
import { makeView } from "../../../src/testing/views.ts";
import { faultsOf, make } from "../_make.ts";

function workers(options: DbPoolCapOptions): number {
  return make(dbPoolCap, options)(makeView(), 100).workers;
}

Deno.test("dbPoolCap allows as many workers as connections, less the spare ones, suffice for", () => {
  assert.equal(workers({ connections: 20 }), 20); // the experiment's example
  assert.equal(workers({ connections: 20, perWorker: 3 }), 6);
  assert.equal(workers({ connections: 20, perWorker: 3, spare: 3 }), 5);
});

Deno.test("dbPoolCap allows one worker at least, and none only for an explicit 0", () => {
  assert.equal(workers({ connections: 2, perWorker: 5 }), 1);
  assert.equal(workers({ connections: 2, spare: 9 }), 1);
  assert.equal(workers({ connections: 0 }), 0);
});

Deno.test("dbPoolCap never needs more connections than there are beyond one worker's", () => {
  const count = fc.integer({ min: 1, max: 500 });
  fc.assert(fc.property(count, count, fc.nat(500), (connections, perWorker, spare) => {
    const allowed = workers({ connections, perWorker, spare });

    assert.ok(allowed === 1 || allowed * perWorker + spare <= connections);
    assert.ok((allowed + 1) * perWorker + spare > connections); // and wastes none
  }));
});

Deno.test("dbPoolCap says which figures decided", () => {
  const reason = (options: DbPoolCapOptions): string =>
    make(dbPoolCap, options)(makeView(), 1).reason;

  assert.equal(reason({ connections: 20 }), "20 connections at 1 a worker");
  assert.equal(
    reason({ connections: 20, perWorker: 2, spare: 4 }),
    "20 connections less 4 spare at 2 a worker",
  );
});

Deno.test("dbPoolCap holds over all processes unless told otherwise", () => {
  assert.equal(dbPoolCap.scope, "cluster");
});

Deno.test("dbPoolCap refuses what are no counts", () => {
  assert.deepEqual(faultsOf(dbPoolCap, { connections: 2.5, perWorker: 0, spare: -1 }), [
    "connections: Invalid integer: Received 2.5",
    "perWorker: Invalid value: Expected >=1 but received 0",
    "spare: Invalid value: Expected >=0 but received -1",
  ]);
});

/**
 * What a refused payload says, in code and over HTTP.
 *
 * @module
 */

import assert from "node:assert/strict";
import * as v from "valibot";
import { connect, RequestError } from "../../src/client/mod.ts";
import { defineHandler, start } from "../../mod.ts";
import { PayloadError, type PayloadFault } from "../../src/contract/thrown.ts";

const mail = defineHandler({
  payload: v.object({
    to: v.string("Expected an address"),
    "a/b~c": v.optional(v.number("Expected a number")),
    list: v.optional(v.array(v.object({ id: v.number("Expected an id") }))),
    password: v.optional(v.pipe(v.string(), v.check(() => false, (issue) => `bad ${issue.input}`))),
  }),
  run: () => "sent",
});

const CYCLE: Record<string, unknown> = { to: "ann" };
CYCLE["self"] = CYCLE;

/** Payloads that JSON can carry, then those that it cannot, with their faults. */
const SENT: readonly (readonly [unknown, readonly PayloadFault[]])[] = [
  [{}, [{
    pointer: "/payload/to",
    detail: 'Invalid key: Expected "to" but received undefined',
  }]],
  [{ to: 1, "a/b~c": "x" }, [
    { pointer: "/payload/to", detail: "Expected an address" },
    { pointer: "/payload/a~1b~0c", detail: "Expected a number" },
  ]],
  [{ to: "ann", list: [{ id: 1 }, { id: "x" }] }, [
    { pointer: "/payload/list/1/id", detail: "Expected an id" },
  ]],
  [{ to: "ann", password: "s3cret-word" }, [
    { pointer: "/payload/password", detail: "bad [redacted]" },
  ]],
];
const HELD: readonly (readonly [unknown, pointer: string])[] = [
  [{ to: "ann", at: [new Date(0)] }, "/payload/at/0"],
  [() => 1, "/payload"],
  [CYCLE, `/payload${"/self".repeat(8)}`],
];

Deno.test("a refused payload is a PayloadError with the place of each fault, and a client is told the same", async () => {
  await using sluice = await start({
    admin: { port: 0 },
    pools: { mail: { handler: mail, size: { min: 1, max: 1 }, lanes: [{ name: "all" }] } },
  });
  const pool = sluice.pool("mail");
  const client = connect(sluice.adminUrl!);
  const refused = async (payload: unknown): Promise<PayloadError> => {
    const job = { lane: "all", payload } as never; // as one without types would
    const [many] = await pool.enqueueAll([job]);
    const thrown = await pool.run(job).then(() => undefined, (error) => error);
    assert.ok(thrown instanceof PayloadError && thrown instanceof TypeError, String(thrown));
    assert.ok(many instanceof PayloadError);
    assert.deepEqual(many.errors, thrown.errors);
    return thrown;
  };

  for (const [payload, errors] of SENT) {
    const thrown = await refused(payload);
    assert.deepEqual(thrown.errors, errors);
    const told = await client.enqueue("mail", { lane: "all", payload }).then(
      () => undefined,
      (error) => error,
    );
    assert.ok(told instanceof RequestError);
    assert.deepEqual([told.message, told.errors], [thrown.message, errors]);
  }
  for (const [payload, pointer] of HELD) {
    const { errors, message } = await refused(payload);
    assert.deepEqual(errors, [{ pointer, detail: message }]);
  }
});

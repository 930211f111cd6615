import assert from "node:assert/strict";
import { sleep } from "../../../plugins/handler/sleep.ts";
import { AbortedError } from "../../../src/contract/errors.ts";
import { contextOf, faultsOf, handlerOf, jobOf } from "./_run.ts";

Deno.test("sleep ends after the payload's ms rather than the option's", async () => {
  const handler = handlerOf(sleep, { ms: 2 ** 31 - 1 });

  const result = await handler.run(jobOf({ payload: { ms: 0 } }), contextOf());

  assert.equal(result, undefined);
});

Deno.test("sleep ends after the option's ms when the payload says nothing", async () => {
  const handler = handlerOf(sleep, { ms: 0 });

  for (const payload of [null, undefined, {}, { to: "ada" }]) {
    assert.equal(await handler.run(jobOf({ payload }), contextOf()), undefined);
  }
});

Deno.test("sleep ends at once with the signal's reason when it is aborted", async () => {
  const handler = handlerOf(sleep, { ms: 2 ** 31 - 1 });
  const controller = new AbortController();
  const reason = new AbortedError("cancelled", "The job was cancelled");

  const running = Promise.resolve(
    handler.run(jobOf({ payload: null }), contextOf(controller.signal)),
  );
  controller.abort(reason);

  await assert.rejects(running, reason);
});

Deno.test("sleep does not begin when the signal is aborted already", async () => {
  const handler = handlerOf(sleep, { ms: 2 ** 31 - 1 });
  const reason = new AbortedError("drain", "The pool drains");

  const running = handler.run(jobOf({ payload: null }), contextOf(AbortSignal.abort(reason)));

  await assert.rejects(Promise.resolve(running), reason);
});

Deno.test("sleep refuses durations that no timer can hold", () => {
  assert.deepEqual(faultsOf(sleep, { ms: -1 }), ["Expected a duration of 0 ms or more"]);
  assert.deepEqual(faultsOf(sleep, { ms: 2 ** 31 }), [
    "Expected a duration of at most 2147483647 ms",
  ]);
  assert.deepEqual(faultsOf(sleep, { ms: "20" }), ["Expected a duration in ms"]);
});

Deno.test("sleep refuses a payload whose ms is no duration", () => {
  const { payload } = handlerOf(sleep, {});

  const check = (value: unknown): unknown => payload?.["~standard"].validate(value);

  assert.deepEqual(check({ ms: 5, note: "kept" }), { typed: true, value: { ms: 5, note: "kept" } });
  assert.match(JSON.stringify(check({ ms: -5 })), /Expected a duration of 0 ms or more/);
});

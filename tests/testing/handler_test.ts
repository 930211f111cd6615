import assert from "node:assert/strict";
import * as v from "valibot";
import { defineHandler, type HandlerParts } from "../../src/contract/plugin.ts";
import type { StandardSchema } from "../../src/contract/standard_schema.ts";
import { checkHandler, type CheckHandlerOptions } from "../../src/testing/mod.ts";

async function failure(
  run: HandlerParts<StandardSchema, unknown>["run"],
  options?: CheckHandlerOptions,
): Promise<string> {
  try {
    await checkHandler(defineHandler({ run }), options);
  } catch (thrown) {
    assert.ok(thrown instanceof assert.AssertionError);
    return thrown.message;
  }
  return "passed";
}

Deno.test("checkHandler() starts two workers, runs each and stops both", async () => {
  const log: string[] = [];
  const handler = defineHandler({
    payload: v.object({ n: v.number() }),
    start: (workerId) => {
      log.push(`start ${workerId}`);
      return workerId;
    },
    run: ({ payload }, { resource, signal }) => {
      signal.throwIfAborted();
      log.push(`run ${resource} ${payload.n}`);
    },
    stop: (workerId) => {
      log.push(`stop ${workerId}`);
    },
  });

  await checkHandler(handler, { payload: { n: 3 } });

  assert.deepEqual(log.filter((line) => line !== "run w1 3"), [
    "start w1",
    "start w2",
    "run w2 3",
    "stop w1",
    "stop w2",
  ]);
});

Deno.test("checkHandler() refuses a payload that does not fit", async () => {
  const handler = defineHandler({ payload: v.object({ n: v.number() }), run: () => {} });

  await assert.rejects(checkHandler(handler), {
    message: /handler "handler": Expected the payload given to fit its schema but: Invalid type/,
  });
});

Deno.test("checkHandler() finds results that are not JSON, and throws that are no errors", async () => {
  const cycle: Record<string, unknown> = {};
  cycle.self = cycle;

  assert.equal(await failure(() => ({ ok: true })), "passed");
  assert.equal(await failure(() => Promise.reject(new Error("expected"))), "passed");
  assert.match(
    await failure(() => cycle),
    /Expected run\(\) to return JSON but: Converting circular/,
  );
  assert.match(
    await failure(() => () => {}),
    /Expected run\(\) to return JSON but: A function, a symbol or undefined has none/,
  );
  assert.match(
    await failure(() => Promise.reject("a string")),
    /Expected run\(\) to throw an Error but it threw "a string"/,
  );
});

Deno.test("checkHandler() finds a run that goes on after its abort", async () => {
  let runs = 0;
  const deaf = (): Promise<void> | undefined => ++runs === 3 ? new Promise(() => {}) : undefined;

  assert.equal(
    await failure(deaf, { abortMs: 1 }),
    'handler "handler": Expected an aborted run to end within 1 ms but it continues: stop when context.signal aborts',
  );
});

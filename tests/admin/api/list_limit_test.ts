/** Lists of jobs that many ask for at once. */

import assert from "node:assert/strict";
import { ListLimit, StoppingError } from "../../../src/admin/api/list_limit.ts";

/** Asks for lists that end when the test lets them. */
function askers(limit: ListLimit, count: number) {
  const running: (() => void)[] = [];
  const asked = Array.from({ length: count }, (_, index) =>
    limit.run(async () => {
      await new Promise<void>((resolve) => running.push(resolve));
      return index;
    }));
  return { running, asked };
}

async function turn(): Promise<void> {
  for (let hops = 0; hops < 20; hops++) await Promise.resolve();
}

Deno.test("ListLimit.run() reads a few of 200 lists at once, and all of them in order", async () => {
  const { running, asked } = askers(new ListLimit(new AbortController().signal), 200);
  let most = 0;
  for (let ended = 0; ended < 200;) {
    await turn();
    most = Math.max(most, running.length);
    for (const end of running.splice(0)) {
      end();
      ended++;
    }
  }

  assert.deepEqual(await Promise.all(asked), Array.from({ length: 200 }, (_, index) => index));
  assert.equal(most, 4);
});

Deno.test("ListLimit.run() gives up at a stop what has not begun, and lets the rest end", async () => {
  const stop = new AbortController();
  const limit = new ListLimit(stop.signal);
  const { running, asked } = askers(limit, 10);
  const settled = Promise.allSettled(asked);
  await turn();
  stop.abort();
  await turn();
  assert.equal(running.length, 4);
  for (const end of running) end();

  const answers = await settled;
  assert.deepEqual(answers.map(({ status }) => status), [
    ...Array.from({ length: 4 }, () => "fulfilled"),
    ...Array.from({ length: 6 }, () => "rejected"),
  ]);
  await assert.rejects(limit.run(() => Promise.resolve(1)), StoppingError);
});

Deno.test("ListLimit.run() goes on after a list that failed", async () => {
  const limit = new ListLimit(new AbortController().signal);
  const failing = Array.from(
    { length: 9 },
    () => limit.run(() => Promise.reject(new Error("the store is gone"))),
  );
  for (const { status } of await Promise.allSettled(failing)) assert.equal(status, "rejected");

  assert.equal(await limit.run(() => Promise.resolve(7)), 7);
});

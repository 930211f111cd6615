import assert from "node:assert/strict";
import { AlertLine, type Open } from "../../../src/admin/alerts/line.ts";
import type { Failure } from "../../../src/admin/alerts/post.ts";
import { jsonLogger } from "../../../src/runtime/log.ts";
import { VirtualClock } from "../../../src/time/virtual_clock.ts";

const DOWN: Failure = { error: "the address answered 503", passes: true };

function lineTo(answers: (Failure | undefined)[]) {
  const clock = new VirtualClock();
  const sent: string[] = [];
  const logged: string[] = [];
  const line = new AlertLine({
    post: {
      send: (body) => {
        const { alert, sinceMs } = JSON.parse(body);
        sent.push(`${alert} ${sinceMs}`);
        return Promise.resolve(answers.length > 1 ? answers.shift() : answers[0]);
      },
    },
    clock,
    log: jsonLogger({
      write: (text) => {
        const { message, error } = JSON.parse(text);
        logged.push(`${message}: ${error}`);
      },
    }),
    signal: new AbortController().signal,
  });
  return { line, clock, sent, logged, answers };
}

function seen(sinceMs: number): Open {
  const finding = { code: "stalled", lane: undefined, saw: "s", change: "c", numbers: {} } as const;
  return { pool: "mail", sinceMs, finding, seenAtMs: sinceMs };
}

Deno.test("AlertLine drops a beginning that was not taken before its finding ended, and says so once", async () => {
  const { line, clock, sent, logged, answers } = lineTo([DOWN]);
  line.open = seen(1);
  line.tell();
  await clock.advance(600_000);
  const before = sent.length;

  line.open = undefined;
  await clock.advance(600_000);
  answers[0] = undefined; // it is back
  line.tell();
  await clock.advance(600_000);

  assert.ok(before > 6 && before < 20, `${before} attempts in ten minutes`);
  assert.equal(sent.length, before);
  assert.deepEqual(logged, [
    "An alert was not delivered: see admin.alerts: the address answered 503",
  ]);
  assert.equal(line.isOver, true);
});

Deno.test("AlertLine tells the finding of now, once the address takes it", async () => {
  const { line, clock, sent, answers } = lineTo([DOWN]);
  line.open = seen(1);
  line.tell();
  await clock.advance(10_000);
  line.open = seen(2); // it ended and began again
  await clock.advance(10_000);
  answers[0] = undefined;

  await clock.advance(60_000);

  assert.equal(sent.at(-1), "began 2");
  line.open = undefined;
  line.tell();
  await clock.advance(1);
  assert.equal(sent.at(-1), "ended 2");
  assert.equal(line.isOver, true);
});

Deno.test("AlertLine does not tell an end that was not taken before the finding began again", async () => {
  const { line, clock, sent, answers } = lineTo([undefined]);
  line.open = seen(1);
  await line.tell();
  answers[0] = DOWN;
  line.open = undefined;
  line.tell();
  await clock.advance(5_000);

  line.open = seen(2);
  await clock.advance(60_000);
  answers[0] = undefined;
  const before = sent.length;
  line.tell();
  await clock.advance(60_000);

  assert.equal(sent.length, before);
  assert.equal(line.isOver, false);
});

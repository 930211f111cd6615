import assert from "node:assert/strict";
import { eventLogger } from "../../src/cli/events.ts";
import { watchStrays } from "../../src/cli/strays.ts";
import type { Logger } from "../../src/contract/job.ts";

type Line = readonly [level: string, message: string, fields: Readonly<Record<string, unknown>>];

function recorder(): { readonly log: Logger; readonly lines: Line[] } {
  const lines: Line[] = [];
  const at = (level: string) => (message: string, fields = {}): void => {
    lines.push([level, message, fields]);
  };
  const log = { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
  return { log, lines };
}

Deno.test("eventLogger() writes jobs as details, without their keys, and faults as errors", () => {
  const { log, lines } = recorder();
  const observe = eventLogger(log);

  observe({
    kind: "job-added",
    atMs: 1,
    pool: "mail",
    lane: "urgent",
    id: "1",
    dueAtMs: 1,
    key: "ann@example.com",
  });
  observe({ kind: "worker-failed", atMs: 2, pool: "mail", error: "no connection" });
  observe({ kind: "paused", atMs: 3, pool: "mail", lane: undefined });

  assert.deepEqual(lines, [
    ["debug", "A job was stored", { pool: "mail", lane: "urgent", id: "1", dueAtMs: 1 }],
    ["error", "A worker could not be started", { pool: "mail", error: "no connection" }],
    ["info", "Paused", { pool: "mail", lane: undefined }],
  ]);
});

Deno.test("eventLogger() warns of a job whose handler was given up, and not of one that had not started", () => {
  const { log, lines } = recorder();
  const observe = eventLogger(log);
  const back = { kind: "job-handed-back", atMs: 1, pool: "mail", lane: "urgent" } as const;

  observe({ ...back, id: "1", error: undefined });
  observe({ ...back, id: "2", error: "The pool drains" });

  assert.deepEqual(lines.map(([level, message, { id }]) => [level, message, id]), [
    ["debug", "A job was returned to its lane", "1"],
    ["warn", "A job was returned to its lane", "2"],
  ]);
});

Deno.test("eventLogger() writes at most one line a second of what comes with every job", () => {
  const { log, lines } = recorder();
  const observe = eventLogger(log);
  const shed = (atMs: number, lane = "urgent"): void =>
    observe({
      kind: "job-shed",
      atMs,
      pool: "mail",
      lane,
      key: "ann@example.com",
      reason: "full",
      retryAfterMs: 5,
    });

  for (const atMs of [0, 1, 2, 999]) shed(atMs);
  shed(5, "batch");
  shed(1_000);

  const fields = { pool: "mail", reason: "full", retryAfterMs: 5 };
  assert.deepEqual(lines, [
    ["warn", "A job was rejected", { ...fields, lane: "urgent" }],
    ["warn", "A job was rejected", { ...fields, lane: "batch" }],
    ["warn", "A job was rejected", { ...fields, lane: "urgent", moreBefore: 3 }],
  ]);
});

Deno.test("watchStrays() keeps the process alive, logs and counts, until it is ended", () => {
  const { log, lines } = recorder();
  const target = new EventTarget();
  const unwatch = watchStrays(log, target);
  const stray = (type: string, fields: object): boolean =>
    target.dispatchEvent(Object.assign(new Event(type, { cancelable: true }), fields));

  const rejection = stray("unhandledrejection", { reason: "just text" });
  const thrown = stray("error", { error: new Error("late") });
  unwatch();
  const after = stray("unhandledrejection", { reason: 1 });

  assert.deepEqual([rejection, thrown, after], [false, false, true]); // false: prevented
  assert.deepEqual(
    lines.map(([level, message, { error, count }]) => [level, message, error, count]),
    [
      [
        "error",
        "A promise was rejected and nothing caught it: await it in the handler, or catch it",
        "just text",
        1,
      ],
      [
        "error",
        "A callback threw and nothing caught it: await it in the handler, or catch it",
        "late",
        2,
      ],
    ],
  );
});

Deno.test("eventLogger() writes a stack with pool, lane and job, and the same one of a lane once", () => {
  const { log, lines } = recorder();
  const observe = eventLogger(log);
  const dead = { kind: "job-dead", pool: "mail", lane: "urgent", reason: "fatal" } as const;

  for (const [atMs, stack] of [[1, "at a"], [2_001, "at a"], [4_001, "at b"]] as const) {
    observe({ ...dead, atMs, id: `${atMs}`, error: "no", stack, serviceMs: 1 });
  }

  assert.deepEqual(lines.map(([, , { id, lane, stack }]) => [id, lane, stack]), [
    ["1", "urgent", "at a"],
    ["2001", "urgent", undefined],
    ["4001", "urgent", "at b"],
  ]);
});

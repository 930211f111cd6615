import assert from "node:assert/strict";
import fc from "fast-check";
import {
  addLine,
  fitHistory,
  lastLines,
  readHistory,
  withAttempt,
} from "../../src/base/history.ts";
import type { JobAttempt, LogLine } from "../../src/contract/job.ts";

const text = fc.string({ maxLength: 3_000, unit: "binary" });
const line = fc.record({
  afterMs: fc.nat(),
  level: fc.constantFrom("info", "warn"),
  text: fc.string({ maxLength: 500 }),
});
const attempts = fc.array(
  fc.record({
    attempt: fc.nat(),
    startedAtMs: fc.nat(),
    ms: fc.nat(),
    worker: fc.constant("w1"),
    end: fc.constantFrom("failed", "deferred", "done"),
    error: text,
    stack: fc.option(text, { nil: undefined }),
    log: fc.option(fc.array(line, { maxLength: 100 }), { nil: undefined }),
  }),
  { maxLength: 9 },
) as fc.Arbitrary<JobAttempt[]>;

Deno.test("withAttempt() keeps the last five attempts in 12,000 bytes, the latest in any case", () => {
  fc.assert(
    fc.property(attempts, (all) => {
      let history: readonly JobAttempt[] | undefined;
      for (const one of all) history = withAttempt(history, one);
      if (all.length === 0) return;
      const bytes = new TextEncoder().encode(JSON.stringify(history)).length;

      assert.ok(history !== undefined && history.length <= 5 && bytes <= 12_000);
      assert.equal(history.at(-1)?.attempt, all.at(-1)?.attempt);
      assert.deepEqual(
        readHistory(JSON.parse(JSON.stringify(history))),
        JSON.parse(JSON.stringify(history)),
      );
    }),
    { numRuns: 60 },
  );
});

Deno.test("fitHistory() leaves out older logs first, then half of the latest, stacks, and attempts", () => {
  const log: LogLine[] = Array.from({ length: 8 }, (_, index) => ({
    ...{ afterMs: index, level: "info" as const, text: "x".repeat(60) },
  }));
  const one = {
    startedAtMs: 1,
    ms: 1,
    worker: "w1",
    end: "failed" as const,
    stack: "s".repeat(99),
  };
  const history = [{ ...one, attempt: 1, log }, { ...one, attempt: 2, log }];
  const told = (bytes: number): unknown =>
    fitHistory(history, bytes)?.map(({ attempt, stack, log }) =>
      `${attempt}${stack === undefined ? "" : "s"}${log?.length ?? ""}`
    ).join(" ");

  assert.deepEqual([2_200, 1_300, 900, 500, 450, 250, 150, 100, 10].map(told), [
    ...["1s8 2s8", "1s 2s8", "1s 2s4", "1s 2s1"],
    ...["1s 2s", "1 2s", "1 2", "2", undefined],
  ]);
});

Deno.test("addLine() cuts a line, and lastLines() are the last hundred", () => {
  const log: LogLine[] = [];
  for (let afterMs = 0; afterMs < 450; afterMs++) {
    addLine(log, { afterMs, level: "info", text: "x".repeat(600) });
    assert.ok(log.length < 200);
  }

  assert.deepEqual([lastLines(log).length, lastLines(log)[0]?.afterMs], [100, 350]);
  assert.equal(log[0]?.text.length, 500);
});

Deno.test("readHistory() leaves out what is no attempt, whatever it was given", () => {
  const good = { attempt: 1, startedAtMs: 2, ms: 3, worker: "w1", end: "failed" };

  fc.assert(fc.property(fc.jsonValue(), (value) => {
    const read = readHistory([value, good, { ...good, log: [value] }]);
    assert.deepEqual(read?.[0] ?? good, good);
  }));
  assert.equal(readHistory({ length: 1 }), undefined);
});

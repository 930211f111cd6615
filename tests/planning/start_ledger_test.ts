import assert from "node:assert/strict";
import fc from "fast-check";
import { draw, type StartRecord } from "../../src/planning/start_ledger.ts";
import { mostWithin } from "../_rate.ts";

/** A process that draws and starts jobs of what it has drawn. */
class User {
  id = "";
  known = 0;
  left = 0;
  untilMs = -Infinity;
  started: number[] = [];
}

Deno.test("draw() never gives more than the window leaves, whoever draws, dies or hears no answer", () => {
  const step = fc.record({
    who: fc.nat(3),
    gapMs: fc.double({ min: 0, max: 2000, noNaN: true }),
    first: fc.nat(30),
    others: fc.nat(30),
    starts: fc.nat(30),
    fate: fc.constantFrom("goes on", "goes on", "goes on", "dies", "hears nothing"),
  });
  const rules = fc.record({
    most: fc.integer({ min: 1, max: 60 }),
    spanMs: fc.integer({ min: 10_000, max: 30_000 }),
    burst: fc.integer({ min: 1, max: 20 }),
  });
  fc.assert(
    fc.property(rules, fc.array(step, { minLength: 50, maxLength: 200 }), (rules, steps) => {
      const users = [new User(), new User(), new User(), new User()];
      const all: number[] = [];
      let record: StartRecord | undefined;
      let nowMs = 1.7e12;
      for (const { who, gapMs, first, others, starts, fate } of steps) {
        nowMs += gapMs;
        const user = users[who]!;
        const answer = draw(record, rules, { ...user, first, others }, nowMs);
        record = structuredClone(answer.record); // as a store has it
        if (fate === "dies") {
          users[who] = new User();
          continue;
        }
        user.left = 0;
        if (fate === "hears nothing") continue;
        user.id = answer.id;
        user.known = answer.record.held[answer.id]?.[2] ?? 0;
        user.left = answer.count;
        user.untilMs = answer.untilMs;
        user.started = [];
        for (let count = Math.min(starts, user.left); count > 0; count--) {
          nowMs += 10;
          if (nowMs >= user.untilMs) break;
          user.started.push(nowMs);
          all.push(nowMs);
        }
      }

      const most = mostWithin(all, rules.spanMs);
      assert.ok(most <= rules.most, `${most} of ${rules.most}`);
      assert.ok(record!.starts.length <= 260 && Object.keys(record!.held).length <= 200);
    }),
    { numRuns: 200 },
  );
});

Deno.test("draw() gives back what was not used, and the pace with it", () => {
  const rules = { most: 60, spanMs: 60_000, burst: 1 };
  const one = { id: "", known: 0, started: [], first: 0, others: 9 };
  const first = draw(undefined, rules, one, 1000);
  assert.deepEqual([first.id, first.count, first.dueAtMs], ["1", 1, 1500]);
  const soon = draw(first.record, rules, { ...one, id: "1", known: 1, started: [1001] }, 1200);
  assert.deepEqual([soon.record.starts, soon.count], [[[1001, 1]], 0]);

  const unused = draw(first.record, rules, { ...one, id: "1", known: 1 }, 1200);
  assert.deepEqual([unused.record.starts, unused.count], [[], 1]);
});

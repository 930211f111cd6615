import assert from "node:assert/strict";
import {
  findingClass,
  isWell,
  marksOf,
  type ShownPool,
} from "../../../src/admin/pages/pool_state.tsx";
import type { WorkerView } from "../../../src/contract/view.ts";
import { running } from "../_app.ts";

Deno.test("marksOf() says ok of a pool that is, and nothing else", async () => {
  const pool = await aPool();

  assert.deepEqual(marksOf(pool), [{ text: "ok", tone: "good" }]);
});

Deno.test("marksOf() says what makes jobs suffer, and what that means", async () => {
  const worker: WorkerView = {
    id: "w1",
    state: "stuck",
    startedAtMs: 0,
    sinceMs: 0,
    jobsDone: 0,
  };
  const finding = { lane: undefined, saw: "", change: "", numbers: {} };
  const pool = await aPool({
    stale: true,
    degraded: true,
    workers: [worker, worker],
    diagnosis: [{ ...finding, code: "at-capacity" }, { ...finding, code: "fixed-would-do" }],
  });

  const marks = marksOf(pool);

  assert.deepEqual(marks.map(({ text, tone, means }) => [text, tone, means]), [
    ["stale", "bad", "The store cannot be read: counts are the last known ones."],
    ["degraded", "bad", "A strategy fails: its last valid answer stays in use."],
    ["2 stuck", "bad", "The handlers of 2 workers ignore their abort."],
    ["at capacity", "bad", undefined],
  ]);
});

Deno.test("A finding has the color of its mark, and a pool is well if it has none", async () => {
  const finding = { lane: undefined, saw: "", change: "", numbers: {} };
  const codes = ["at-capacity", "fixed-would-do"] as const;
  const classes = codes.map((code) => findingClass({ ...finding, code }));
  const capped = await aPool({ diagnosis: [{ ...finding, code: "at-capacity" }] });

  assert.deepEqual(classes, ["finding bad", "finding"]);
  assert.deepEqual([isWell(await aPool()), isWell(capped)], [true, false]);
  assert.equal(isWell(await aPool({ paused: true })), false);
});

Deno.test("marksOf() counts a pool that was drained among those to look at: only a restart mends it", async () => {
  const pool = await aPool({ draining: true, stopped: true });

  assert.deepEqual(marksOf(pool).map(({ text, tone }) => [text, tone]), [["stopped", "bad"]]);
});

Deno.test("marksOf() says who or what holds a pool: that needs no one's attention", async () => {
  const texts = async (more: Partial<ShownPool>): Promise<string> =>
    marksOf(await aPool(more)).map(({ text, tone }) => `${text} ${tone}`).join(", ");

  assert.equal(await texts({ paused: true, rateBound: true }), "paused warn, rate-bound warn");
  assert.equal(await texts({ holdUntilMs: 1, rateBound: true }), "cooling down warn");
  assert.equal(await texts({ openKeys: 3 }), "3 keys held warn");
  assert.equal(await texts({ draining: true }), "draining warn");
  assert.equal(await texts({ override: { min: 1, untilMs: 1 } }), "overridden warn");
  assert.equal(await texts({ decision: undefined }), "starting warn");
  assert.equal(await texts({ decision: undefined, worked: false }), "not worked here warn");
});

Deno.test("marksOf() says over target of waits that are, until a finding says more of them", async () => {
  const pool = await aPool();
  const [lane] = pool.lanes;
  assert.ok(lane !== undefined);
  const late = { ...lane, name: "a", targetWaitMs: 50, oldestWaitMs: 51 };
  const finding = { code: "at-capacity", lane: "a", saw: "", change: "", numbers: {} } as const;
  const marks = (more: Partial<ShownPool>): string =>
    marksOf({ ...pool, ...more }).map(({ text, tone, means }) => `${text} ${tone} ${means}`).join();

  assert.equal(
    marks({ lanes: [late, { ...late, name: "b" }] }),
    'over target warn Jobs of lanes "a", "b" wait longer than their targets.',
  );
  assert.equal(marks({ lanes: [late], diagnosis: [finding] }), "at capacity bad undefined");
  assert.match(marks({ lanes: [late], stopped: true }), /^stopped bad [^,]*$/);
  assert.match(marks({ lanes: [{ ...late, paused: true }] }), /^ok /);
  assert.match(marks({ lanes: [{ ...late, oldestWaitMs: 50 }] }), /^ok /);
  assert.match(marks({ lanes: [{ ...late, targetWaitMs: null }] }), /^ok /);
});

async function aPool(more: Partial<ShownPool> = {}): Promise<ShownPool> {
  await using system = await running();
  const handle = system.sluice.pool("typed");
  return { ...handle.snapshot(), diagnosis: handle.diagnosis(), ...more };
}

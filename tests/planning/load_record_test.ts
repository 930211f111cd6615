import assert from "node:assert/strict";
import { LoadRecorder, type RecordedLane } from "../../src/planning/load_record.ts";

function lane(offered: number, rest: Partial<RecordedLane> = {}): RecordedLane {
  const timed = rest.timed ?? offered;
  return {
    name: "urgent",
    arrivals: offered + 1,
    shed: 2,
    dead: { late: 3 },
    timed,
    timedMs: timed * 20,
    timedLog: timed * Math.log(20),
    failures: 0,
    ready: 0,
    ...rest,
  };
}

Deno.test("a load is recorded second by second, whatever the ticks", () => {
  const load = new LoadRecorder();
  assert.equal(load.read(7_000_000, [lane(0, { ready: 4 })]), undefined);

  let offered = 0;
  for (let ms = 0; ms <= 5000; ms += 50) {
    if (ms % 1000 === 500) offered += 10 + ms / 500; // 11, 13, 15, 17, 19
    load.look(7_000_000 + ms, [lane(offered, { ready: ms === 0 ? 4 : 0 })]);
  }

  const read = load.read(7_005_000, [lane(offered)]);
  assert.equal(read?.fromMs, 7_000_000);
  assert.deepEqual(read?.lanes[0]?.offered, [11, 13, 15, 17, 19]);
  assert.deepEqual(read?.lanes[0]?.timedMs, [220, 260, 300, 340, 380]);
  assert.equal(read?.lanes[0]?.waiting, 4);
  assert.deepEqual(load.read(7_005_000, [lane(offered)], 2000)?.lanes[0]?.offered, [17, 19]);
});

Deno.test("ten minutes are kept, rests take nothing and count as nothing", () => {
  const load = new LoadRecorder();
  for (let second = 0; second <= 1500; second++) load.look(second * 1000, [lane(second)]);
  load.look(1_560_000, [lane(1510)]); // it rested for a minute

  const offered = load.read(1_560_000, [lane(1510)])?.lanes[0]?.offered ?? [];
  assert.equal(offered.length, 600);
  assert.equal(offered.reduce((a, b) => a + b, 0), 1510 - 960);
  assert.deepEqual(offered.slice(-2), [0, 10]);
});

Deno.test("a reload of lanes begins a new record", () => {
  const load = new LoadRecorder();
  for (let second = 0; second < 5; second++) load.look(second * 1000, [lane(second)]);
  load.look(5000, [lane(5), { ...lane(0), name: "batch" }]);
  load.look(6000, [lane(6), { ...lane(3), name: "batch" }]);

  const now = [lane(6), { ...lane(3), name: "batch" }];
  assert.deepEqual(load.read(6000, now)?.lanes.map(({ name, offered }) => [name, offered]), [
    ["urgent", [1]],
    ["batch", [3]],
  ]);
});

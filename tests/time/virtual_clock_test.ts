import assert from "node:assert/strict";
import { VirtualClock } from "../../src/time/virtual_clock.ts";

Deno.test("VirtualClock runs every microtask of an instant before time moves, however many instants", async () => {
  const clock = new VirtualClock(0);
  const seen: string[] = [];
  const wanted: string[] = [];
  for (let atMs = 1; atMs <= 200; atMs++) {
    wanted.push(`${atMs} at ${atMs}`);
    clock.at(atMs, async () => {
      for (let depth = 0; depth < 20; depth++) await undefined;
      seen.push(`${atMs} at ${clock.nowMs()}`);
    });
  }

  await clock.runUntil(1000);

  assert.deepEqual(seen, wanted);
  assert.equal(clock.nowMs(), 1000);
});

Deno.test("VirtualClock fires timers of one instant in the order in which they were set, new ones too", async () => {
  const clock = new VirtualClock(0);
  const seen: string[] = [];
  clock.at(20, () => seen.push("later"));
  clock.at(10, () => {
    seen.push("first");
    clock.at(5, () => seen.push("past"));
  });
  clock.at(10, () => seen.push("second"));
  clock.at(10, () => seen.push("cancelled")).cancel();

  await clock.runUntil(10);
  assert.deepEqual(seen, ["first", "second", "past"]);

  await clock.advance(10);
  assert.deepEqual(seen, ["first", "second", "past", "later"]);
});

Deno.test("VirtualClock.runUntil() rejects with what a timer throws, and goes on after it", async () => {
  const clock = new VirtualClock(0);
  let fired = 0;
  clock.at(1, () => {
    throw new Error("thrown by a timer");
  });
  clock.at(2, () => fired++);

  await assert.rejects(clock.runUntil(5), /thrown by a timer/);
  await clock.runUntil(5);

  assert.equal(fired, 1);
});

Deno.test("VirtualClock.nextAtMs() is the next timer that is not cancelled", () => {
  const clock = new VirtualClock(0);
  assert.equal(clock.nextAtMs(), undefined);
  const first = clock.at(3, () => {});
  clock.at(4, () => {});

  assert.equal(clock.nextAtMs(), 3);
  first.cancel();
  assert.equal(clock.nextAtMs(), 4);
});

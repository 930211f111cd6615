import assert from "node:assert/strict";
import { type Clock, pause, systemClock, within } from "../../src/time/clock.ts";
import { VirtualClock } from "../../src/time/virtual_clock.ts";

Deno.test("systemClock() never goes back, and is the system's time", () => {
  const clock = systemClock();
  let last = 0;
  for (let index = 0; index < 100_000; index++) {
    const nowMs = clock.nowMs();
    assert.ok(nowMs >= last);
    last = nowMs;
  }
  assert.ok(Math.abs(last - performance.timeOrigin - performance.now()) < 60_000);
});

Deno.test("systemClock() sees work of a millisecond between two readings of one turn", () => {
  const clock = systemClock();
  const work = (): void => {
    const until = performance.now() + 1;
    while (performance.now() < until);
  };
  for (let index = 0; index < 40; index++) { // until the first sixteen are over, one look serves many
    clock.nowMs();
    work();
  }
  const before = clock.nowMs();
  work();

  assert.ok(clock.nowMs() - before >= 1);
});

Deno.test("systemClock() reads anew in the next turn", async () => {
  const clock = systemClock();
  for (let index = 0; index < 5; index++) clock.nowMs();
  const before = performance.timeOrigin + performance.now();
  await Promise.resolve();

  assert.ok(clock.nowMs() >= before);
});

Deno.test("systemClock().at() waits for times beyond what a platform timer takes", async () => {
  const clock = systemClock();
  let fired = 0;
  const far = clock.at(clock.nowMs() + 2 ** 31 + 1000, () => fired++);
  await new Promise<void>((resolve) => clock.at(clock.nowMs() + 5, resolve));
  far.cancel();

  assert.equal(fired, 0);
});

Deno.test("systemClock().at() fires at once for a time that is past", async () => {
  const clock = systemClock();
  await new Promise<void>((resolve) => clock.at(clock.nowMs() - 1000, resolve));
});

/** A clock of the system whose wall clock a test sets. */
function settable(): {
  readonly clock: Clock;
  readonly time: { offMs: number };
  readonly steps: number[];
} {
  const time = { offMs: 0 };
  const steadyMs = (): number => performance.timeOrigin + performance.now();
  const clock = systemClock({ steadyMs, wallMs: () => steadyMs() + time.offMs });
  const steps: number[] = [];
  return { clock, time, steps };
}

Deno.test("systemClock() notices a step of the wall clock as a timer fires, and its own time does not jump", async () => {
  for (const offMs of [3_600_000, -3_600_000, 2_000, -2_000]) {
    const { clock, time, steps } = settable();
    const leave = clock.wall!.onStep((byMs) => steps.push(byMs));
    const beganMs = clock.nowMs();
    time.offMs = offMs;

    while (steps.length === 0) await pause(clock, 20); // it looks once a second at most
    time.offMs = 0;
    while (steps.length === 1) await pause(clock, 20);
    leave();

    assert.ok(clock.nowMs() - beganMs < 60_000);
    assert.ok(steps.every((byMs, index) => Math.abs(byMs - (index === 0 ? offMs : -offMs)) < 100));
    assert.ok(Math.abs(clock.wall!.aheadMs) < 100);
  }
});

Deno.test("systemClock() takes no notice of less than half a second, and begins with the wall clock as it is", async () => {
  const { clock, time, steps } = settable();
  const leave = clock.wall!.onStep((byMs) => steps.push(byMs));
  time.offMs = 400;
  await pause(clock, 1100);
  await pause(clock, 1);
  leave();
  assert.deepEqual([steps, clock.wall!.aheadMs], [[], 0]);

  const late = systemClock({ steadyMs: () => 1000, wallMs: () => 9000 });
  assert.equal(late.wall!.at(late.nowMs()), 9000);
});

Deno.test("VirtualClock fires timers in order of time, then of setting, each at its instant", async () => {
  const clock = new VirtualClock(0);
  const log: string[] = [];
  const note = (name: string) => () => void log.push(`${name}@${clock.nowMs()}`);
  clock.at(20, note("b"));
  clock.at(10, note("a"));
  clock.at(20, note("c"));
  const gone = clock.at(15, note("cancelled"));
  gone.cancel();
  await clock.advance(30);

  assert.deepEqual(log, ["a@10", "b@20", "c@20"]);
  assert.equal(clock.nowMs(), 30);
  assert.equal(clock.nextAtMs(), undefined);
});

Deno.test("VirtualClock lets all microtasks run before time moves", async () => {
  const clock = new VirtualClock(0);
  const log: number[] = [];
  clock.at(10, async () => {
    for (let index = 0; index < 50; index++) await Promise.resolve();
    log.push(clock.nowMs());
    clock.at(clock.nowMs(), () => log.push(clock.nowMs()));
  });
  clock.at(11, () => log.push(clock.nowMs()));
  await clock.advance(20);

  assert.deepEqual(log, [10, 10, 11]);
});

Deno.test("pause() ends with its time, or at once when its signal aborts, and leaves no timer", async () => {
  const clock = new VirtualClock(0);
  const stop = new AbortController();
  const ended: string[] = [];

  pause(clock, 10).then(() => ended.push(`time@${clock.nowMs()}`));
  pause(clock, 50, stop.signal).then(() => ended.push(`signal@${clock.nowMs()}`));
  await clock.advance(20);
  stop.abort();
  await pause(clock, 50, stop.signal);
  await clock.advance(0);

  assert.deepEqual(ended, ["time@10", "signal@20"]);
  assert.equal(clock.nextAtMs(), undefined);
});

Deno.test("within() answers as the work does, or fails once its time is over, and leaves no timer", async () => {
  const clock = new VirtualClock(0);
  const limit = { ms: 10, late: "Too late" };
  const slow = Promise.withResolvers<string>();

  const inTime = await within(clock, Promise.resolve("done"), limit);
  const fails = assert.rejects(
    within(clock, Promise.reject(new Error("own")), limit),
    /^Error: own$/,
  );
  const late = assert.rejects(within(clock, slow.promise, limit), /^Error: Too late$/);
  await clock.advance(10);
  await Promise.all([fails, late]);
  slow.reject(new Error("heard by nobody"));

  assert.equal(inTime, "done");
  assert.equal(clock.nextAtMs(), undefined);
});

import assert from "node:assert/strict";
import { JobsBySequence } from "../../../stores/memory/by_sequence.ts";
import { DelayedJobs } from "../../../stores/memory/delayed.ts";
import { CANCELLED, MemoryJob } from "../../../stores/memory/job.ts";
import { KeyPlaces } from "../../../stores/memory/keys.ts";
import { KeyStarts } from "../../../stores/memory/starts.ts";
import { MemoryLane } from "../../../stores/memory/lane.ts";

const lane = new MemoryLane("a", 0, { name: "p", idPrefix: "x", expire() {} });

function makeJob(sequence: number, dueAtMs = 0): MemoryJob {
  return new MemoryJob(lane, sequence, null, dueAtMs);
}

Deno.test("DelayedJobs gives jobs when they are due, without those that have left", () => {
  const delayed = new DelayedJobs();
  const jobs = Array.from({ length: 1000 }, (_, index) => makeJob(index, (index * 7) % 1000));
  for (const job of jobs) delayed.push(job);
  for (const job of jobs) {
    if (job.readyAtMs % 10 === 0) continue;
    job.code = CANCELLED;
    delayed.leave();
  }

  assert.deepEqual([delayed.size, delayed.nextDueAtMs], [100, 0]);
  const due: number[] = [];
  for (let job = delayed.popDue(50); job !== undefined; job = delayed.popDue(50)) {
    due.push(job.readyAtMs);
  }
  assert.deepEqual(due, [0, 10, 20, 30, 40, 50]);
  assert.deepEqual([delayed.size, delayed.nextDueAtMs], [94, 60]);
});

Deno.test("KeyPlaces keeps no trace of a key whose jobs are gone", () => {
  const places = new KeyPlaces(1, undefined);
  const [first, second, third] = [makeJob(1), makeJob(2), makeJob(3)];

  assert.equal(places.take("k", first, 0), 0);
  assert.equal(places.take("k", second, 0), Infinity);
  assert.equal(places.take("k", third, 0), Infinity);
  second.code = CANCELLED;
  places.leave("k");
  places.release("k", undefined, 0);
  assert.equal(places.next("k"), third);
  assert.equal(places.take("k", third, 0), 0);
  assert.equal(places.next("k"), undefined);
  places.release("k", undefined, 0);

  assert.equal(places.size, 0);
});

Deno.test("KeyStarts keeps no trace of a key that has not started in its window", () => {
  const starts = new KeyStarts([{ starts: 1, perMs: 100 }]);
  for (let ms = 0; ms < 10_000; ms += 10) starts.add(`k${ms}`, ms, ms);

  assert.ok(starts.size <= 11, `${starts.size} keys`);
  assert.deepEqual([starts.nextMs("k9990", 0, 9990), starts.nextMs("k0", 0, 9990)], [10_090, 9990]);
  assert.equal(starts.nextMs("k9990", 1, 9990), Infinity);
});

Deno.test("JobsBySequence finds jobs, forgets them, and gives the rest in order", () => {
  const jobs = new JobsBySequence();
  for (let sequence = 1; sequence <= 2000; sequence++) jobs.set(makeJob(sequence));
  for (let sequence = 1; sequence <= 2000; sequence++) {
    if (sequence % 500 !== 0) jobs.delete(sequence);
  }
  const other = makeJob(500);
  jobs.set(other);

  assert.equal(jobs.get(500), other);
  assert.equal(jobs.get(501), undefined);
  assert.equal(jobs.get(NaN), undefined);
  assert.deepEqual([...jobs.from(0)].map((job) => job.sequence), [500, 1000, 1500, 2000]);
  assert.deepEqual([...jobs.from(1001)].map((job) => job.sequence), [1500, 2000]);
  for (const sequence of [500, 500, 1000, 1500, 2000]) jobs.delete(sequence);
  jobs.set(makeJob(2001));
  assert.deepEqual([...jobs.from(0)].map((job) => job.sequence), [2001]);
});

import assert from "node:assert/strict";
import fc from "fast-check";
import { CANCELLED, MemoryJob, READY } from "../../../stores/memory/job.ts";
import { MemoryLane } from "../../../stores/memory/lane.ts";
import { JobRing } from "../../../stores/memory/ring.ts";

const lane = new MemoryLane("a", 0, { name: "p", idPrefix: "x", expire() {} });
const isReady = (job: MemoryJob): boolean => job.code === READY;

function makeJobs(count: number): MemoryJob[] {
  return Array.from(
    { length: count },
    (_, index) => new MemoryJob(lane, index, null, 1000 + index),
  );
}

Deno.test("JobRing gives jobs back in order, however often it goes round and grows", () => {
  const ring = new JobRing(isReady, 4);
  const jobs = makeJobs(5000);
  const out: number[] = [];
  jobs.forEach((job, index) => {
    ring.push(job);
    if (index % 3 === 0) out.push(ring.shift()!.sequence);
  });
  for (const job of ring.drain()) out.push(job.sequence);

  assert.deepEqual(out, jobs.map((job) => job.sequence));
  assert.equal(ring.live, 0);
  assert.equal(ring.shift(), undefined);
});

Deno.test("JobRing skips what has left from the middle and counts the rest, over any schedule", () => {
  const step = fc.oneof(
    fc.record({ do: fc.constant("push" as const) }),
    fc.record({ do: fc.constant("shift" as const) }),
    fc.record({ do: fc.constant("leave" as const), which: fc.nat(300) }),
    fc.record({ do: fc.constant("back" as const), which: fc.nat(9) }),
  );
  fc.assert(fc.property(fc.array(step, { maxLength: 300, size: "max" }), (steps) => {
    const ring = new JobRing(isReady, 4);
    const model: MemoryJob[] = [];
    const out: MemoryJob[] = [];
    let sequence = 0;
    for (const one of steps) {
      if (one.do === "push") {
        const job = new MemoryJob(lane, ++sequence, null, 1000 + Math.floor(sequence / 2));
        ring.push(job);
        model.push(job);
      } else if (one.do === "shift") {
        const job = ring.shift();
        assert.equal(job, model.shift());
        if (job !== undefined) out.push(job);
      } else if (one.do === "leave" && model.length > 0) {
        const [job] = model.splice(one.which % model.length, 1);
        job!.code = CANCELLED;
        ring.leaveGap();
      } else if (one.do === "back" && out.length > 0) {
        const [job] = out.splice(one.which % out.length, 1);
        ring.putBack(job!);
        model.push(job!);
        model.sort((a, b) => a.sequence - b.sequence);
      }
      assert.equal(ring.live, model.length);
      assert.equal(ring.first, model[0]);
      for (const atMs of [999, 1003, 1010, 2000]) {
        const exact = model.filter((job) => job.readyAtMs <= atMs).length;
        const counted = ring.countUpTo(atMs);
        const slack = model.length < 64 ? 0 : Math.ceil(model.length / 15);
        assert.ok(counted >= exact && counted <= exact + slack, `${counted} for ${exact}`);
      }
    }
  }));
});

Deno.test("JobRing takes out many from the middle at a cost that does not grow with the rest", () => {
  const ring = new JobRing(isReady);
  const jobs = makeJobs(20_000);
  for (const job of jobs) ring.push(job);

  for (let index = 1; index < jobs.length; index += 2) {
    jobs[index]!.code = CANCELLED;
    ring.leaveGap();
  }

  assert.equal(ring.live, 10_000);
  assert.deepEqual(ring.drain(), jobs.filter((job) => job.sequence % 2 === 0));
});

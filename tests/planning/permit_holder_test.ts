import assert from "node:assert/strict";
import { PermitHolder } from "../../src/planning/permit_holder.ts";
import type { Need, PermitRecord } from "../../src/planning/permits.ts";

const LEASE_MS = 3000;

/** Needs of one cap. */
function needs(cap: number, wants: number, used = 0, cools = true): Map<string, Need> {
  return new Map([["cap", { cap, wants, cools, used: () => used }]]);
}

/** A record that holders commit to at once. */
function board(): {
  record: PermitRecord | undefined;
  look(holder: PermitHolder, needs: Map<string, Need>, nowMs: number): boolean;
} {
  return {
    record: undefined,
    look(holder, needs, nowMs) {
      const draft = holder.look(this.record, needs, nowMs);
      if (draft === undefined) return false;
      this.record = draft;
      holder.answered(true);
      return true;
    },
  };
}

function holderOf(coolMs = 0): PermitHolder {
  return new PermitHolder({ leaseMs: LEASE_MS, coolMs }, () => {});
}

Deno.test("PermitHolder that is alone holds all of a cap, whatever the cap is", () => {
  const [shared, one] = [board(), holderOf()];
  assert.equal(one.inForce("cap", 10, 0), 0);
  shared.look(one, new Map(), 0);

  assert.deepEqual([one.inForce("cap", 10, 1), one.inForce("cap", 99, 1)], [10, 99]);
  assert.equal(shared.look(one, needs(10, 3), 1), false);
});

Deno.test("PermitHolder gives a joining one what that one wants, as its own jobs end", () => {
  const [shared, one, two] = [board(), holderOf(), holderOf()];
  shared.look(one, needs(10, 10), 0);
  shared.look(two, needs(10, 10), 0);
  assert.equal(two.inForce("cap", 10, 0), 0);
  shared.look(one, needs(10, 10, 8), 10);
  assert.equal(one.inForce("cap", 10, 10), 5);
  shared.look(two, needs(10, 10), 20);
  assert.equal(two.inForce("cap", 10, 20), 2);
  shared.look(one, needs(10, 10, 5), 30);
  shared.look(two, needs(10, 10, 2), 40);

  assert.deepEqual([one, two].map((holder) => holder.inForce("cap", 10, 40)), [5, 5]);
  assert.equal(shared.look(one, needs(10, 10, 5), 50), false);
});

Deno.test("hears() of another gives one that was alone, untimed, time to tell what it keeps", () => {
  const [shared, one] = [board(), holderOf()];
  shared.look(one, needs(10, 10), 0);
  one.hears(true, 0);
  const laterMs = 100 * LEASE_MS;
  assert.equal(one.inForce("cap", 10, laterMs), 10);

  one.hears(false, laterMs);

  assert.equal(one.inForce("cap", 10, laterMs + LEASE_MS / 2 - 1), 10);
  assert.equal(one.inForce("cap", 10, laterMs + LEASE_MS / 2), 0);
});

Deno.test("PermitHolder moves nothing while nobody lacks anything", () => {
  const [shared, one, two] = [board(), holderOf(), holderOf()];
  shared.look(one, needs(10, 1), 0);
  shared.look(two, needs(10, 1), 0);
  shared.look(one, needs(10, 1), 0);
  shared.look(two, needs(10, 1), 0);

  for (const wants of [2, 4, 0, 5]) assert.equal(shared.look(one, needs(10, wants), 1), false);
  assert.equal(one.isMoving(needs(10, 5), 1), false);
  assert.equal(one.isMoving(needs(10, 6), 1), true);
});

Deno.test("PermitHolder takes what a silent one held within a lease, and that one stops before", () => {
  const [shared, one, two] = [board(), holderOf(), holderOf()];
  shared.look(one, needs(10, 10), 0);
  shared.look(two, needs(10, 10), 0);
  shared.look(one, needs(10, 10, 5), 0);
  shared.look(two, needs(10, 10), 0); // the last that is heard of `one` is of time 0
  let takenAtMs = Infinity;
  for (let nowMs = 50; nowMs <= LEASE_MS; nowMs += 50) {
    shared.look(two, needs(10, 10), nowMs);
    if (two.inForce("cap", 10, nowMs) > 5 && takenAtMs === Infinity) takenAtMs = nowMs;
  }

  assert.ok(takenAtMs <= LEASE_MS, `taken after ${takenAtMs}`);
  assert.equal(one.inForce("cap", 10, takenAtMs - 1), 0);
  assert.equal(one.look(shared.record, needs(10, 10, 5), LEASE_MS)!.holders[3]!.parts.cap![0], 0);
});

Deno.test("PermitHolder that leaves frees its part at once, of a rate once its starts count no more", () => {
  const settle = (coolMs: number): [PermitHolder, ReturnType<typeof board>] => {
    const [shared, one, two] = [board(), holderOf(coolMs), holderOf(coolMs)];
    shared.look(one, needs(10, 10), 0);
    shared.look(two, needs(10, 10), 0);
    shared.look(one, needs(10, 10), 0);
    shared.look(two, needs(10, 10), 0);
    shared.record = one.leave(shared.record);
    shared.look(two, needs(10, 10), 10);
    return [two, shared];
  };
  const [workers] = settle(0);
  assert.equal(workers.inForce("cap", 10, 10), 10);

  const [starts, shared] = settle(1000);
  assert.equal(starts.inForce("cap", 10, 10), 5);
  shared.look(starts, needs(10, 10), 1009);
  assert.equal(starts.inForce("cap", 10, 1009), 5);
  shared.look(starts, needs(10, 10), 1010);
  assert.equal(starts.inForce("cap", 10, 1010), 10);
});

Deno.test("PermitHolder takes at once what one held whose process is gone, but for its last starts", () => {
  const shared = board();
  const one = new PermitHolder({ leaseMs: LEASE_MS, coolMs: 1000, process: "dead" }, () => {});
  const two = holderOf(1000);
  shared.look(one, needs(10, 10), 0);
  const look = (nowMs: number): number => {
    const draft = two.look(shared.record, needs(10, 10), nowMs, {
      isGone: (process) => process === "dead",
      isHere: () => false,
      wallMs: nowMs,
    });
    if (draft !== undefined) {
      shared.record = draft;
      two.answered(true);
    }
    return two.inForce("cap", 10, nowMs);
  };

  assert.deepEqual([look(0), look(500), look(999), look(1000)], [0, 0, 0, 10]);
});

Deno.test("PermitHolder counts how long one is gone from when it is seen to be, however long it was silent before", () => {
  const shared = board();
  const one = new PermitHolder({ leaseMs: LEASE_MS, coolMs: 1000, process: "dead" }, () => {});
  const two = holderOf(1000);
  for (const holder of [one, two, one, two]) shared.look(holder, needs(10, 10), 0);
  const look = (nowMs: number, gone: boolean): number => {
    const draft = two.look(shared.record, needs(10, 10), nowMs, {
      isGone: () => gone,
      isHere: () => false,
      wallMs: nowMs,
    });
    if (draft !== undefined) {
      shared.record = draft;
      two.answered(true);
    }
    return two.inForce("cap", 10, nowMs);
  };
  assert.deepEqual([look(0, false), look(500, false), look(990, false)], [5, 5, 5]);

  assert.deepEqual([look(1000, true), look(1500, true), look(1999, true)], [5, 5, 5]);
  assert.equal(look(2000, true), 10);
});

Deno.test("PermitHolder takes at once the workers of one that left, though its starts still count", () => {
  const [shared, one, two] = [board(), holderOf(1000), holderOf(1000)];
  shared.look(one, needs(10, 10, 0, false), 0);
  shared.record = one.leave(shared.record);
  shared.look(two, needs(10, 10, 0, false), 0);

  assert.equal(two.inForce("cap", 10, 0), 10);
});

Deno.test("PermitHolder does not use again what a commit without an answer may have given away", () => {
  const [shared, one, two] = [board(), holderOf(), holderOf()];
  shared.look(one, needs(10, 5), 0);
  shared.look(two, needs(10, 5), 0);
  shared.look(one, needs(10, 5), 0);
  shared.look(two, needs(10, 10), 0);
  assert.deepEqual([one, two].map((holder) => holder.inForce("cap", 10, 0)), [5, 5]);
  assert.notEqual(one.look(shared.record, needs(10, 0), 1), undefined);
  one.failed();
  assert.notEqual(one.look(shared.record, needs(10, 5), 2), undefined);
  assert.equal(one.inForce("cap", 10, 2), 0);
  one.answered(true);
  assert.equal(one.inForce("cap", 10, 2), 5);
});

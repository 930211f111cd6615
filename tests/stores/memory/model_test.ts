/** The memory store against a model that is too simple to be wrong. */

import assert from "node:assert/strict";
import fc from "fast-check";
import { MemoryStore } from "../../../stores/memory/mod.ts";
import type { MemoryQueue } from "../../../stores/memory/queue.ts";
import type { JobRecord } from "../../../src/contract/job.ts";
import type { Leased, QueueOptions, Settlement } from "../../../src/contract/store.ts";
import { isWaiting, Jobs, type Model, PER_KEY, type State } from "./_model.ts";

const LEASE_MS = 1000;
const ATTEMPTS = 3;

type Step =
  | {
    readonly do: "add";
    readonly lane: number;
    readonly key: number;
    readonly dedupe: number;
    readonly delayMs: number;
    readonly ttlMs: number;
  }
  | { readonly do: "lease"; readonly holder: number; readonly wants: readonly [number, number] }
  | {
    readonly do: "settle";
    readonly which: number;
    readonly to: Settlement["to"];
    readonly charged: boolean;
    readonly dueInMs: number;
    readonly keepsSlot: boolean;
  }
  | { readonly do: "change"; readonly which: number; readonly change: "cancel" | "revive" }
  | { readonly do: "freeze"; readonly holder: number }
  | { readonly do: "pass"; readonly ms: number };

const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    { weight: 5, arbitrary: addStep() },
    {
      weight: 4,
      arbitrary: fc.record({
        do: fc.constant("lease" as const),
        holder: fc.nat(1),
        wants: fc.tuple(fc.nat(3), fc.nat(3)),
      }),
    },
    {
      weight: 4,
      arbitrary: fc.record({
        do: fc.constant("settle" as const),
        which: fc.nat(20),
        to: fc.constantFrom<Settlement["to"]>("done", "retry", "dead", "back", "cancelled"),
        charged: fc.boolean(),
        dueInMs: fc.integer({ min: -5, max: 40 }),
        keepsSlot: fc.boolean(),
      }),
    },
    {
      weight: 2,
      arbitrary: fc.record({
        do: fc.constant("change" as const),
        which: fc.nat(40),
        change: fc.constantFrom("cancel" as const, "revive" as const),
      }),
    },
    { weight: 1, arbitrary: fc.record({ do: fc.constant("freeze" as const), holder: fc.nat(1) }) },
    { weight: 3, arbitrary: fc.record({ do: fc.constant("pass" as const), ms: fc.nat(60) }) },
  ),
  { maxLength: 80, size: "max" },
);

function addStep(): fc.Arbitrary<Step> {
  return fc.record({
    do: fc.constant("add" as const),
    lane: fc.nat(1),
    key: fc.nat(3),
    dedupe: fc.nat(9),
    delayMs: fc.constantFrom(0, 0, 0, 10, 40),
    ttlMs: fc.constantFrom(Infinity, Infinity, Infinity, 30),
  });
}

Deno.test("MemoryStore does what a simple model does, over any schedule", () => {
  fc.assert(fc.property(steps, (schedule) => new Run().play(schedule)), { numRuns: 300 });
});

/** Plays a schedule on the store and on the model, comparing after each step. */
class Run {
  readonly #jobs = new Jobs();
  readonly #store = new MemoryStore();
  readonly #ended = new Set<string>();
  readonly #holders: MemoryQueue[];
  readonly #leases: Leased[] = [];
  #fence = 0;

  constructor() {
    this.#holders = [0, 1].map(() => this.#store.open(this.#options()));
  }

  play(schedule: readonly Step[]): void {
    for (const step of schedule) {
      this.#step(step);
      this.#compare();
    }
  }

  #options(): QueueOptions {
    return {
      pool: "p",
      lanes: [
        { name: "a", maxRunningPerKey: PER_KEY },
        { name: "b", maxRunningPerKey: Infinity },
      ],
      leaseMs: LEASE_MS,
      attempts: [ATTEMPTS, ATTEMPTS],
      keep: { done: 1e6, dead: 1e6, forMs: Infinity },
      random: () => 0.5,
      nowMs: this.#jobs.nowMs,
      listener: {
        wake() {},
        cancelled: (id) =>
          assert.ok(this.#jobs.byId(id).cancelling || this.#jobs.byId(id).state === "running"),
        ended: (record) => {
          assert.equal(this.#ended.has(`${record.id} ${record.endedAtMs}`), false, "told once");
          this.#ended.add(`${record.id} ${record.endedAtMs}`);
        },
      },
    };
  }

  #step(step: Step): void {
    switch (step.do) {
      case "add":
        return this.#add(step);
      case "lease":
        return this.#lease(step.holder, step.wants);
      case "settle":
        return this.#settle(step);
      case "change":
        return this.#change(step.which, step.change);
      case "freeze":
        return this.#freeze(step.holder);
      case "pass":
        this.#jobs.nowMs += step.ms;
    }
  }

  #add(step: Step & { do: "add" }): void {
    const key = step.key === 0 ? undefined : `k${step.key}`;
    const dedupeKey = step.dedupe > 2 ? undefined : `d${step.dedupe}`;
    const dueAtMs = this.#jobs.nowMs + step.delayMs;
    const expiresAtMs = this.#jobs.nowMs + step.delayMs + step.ttlMs;
    const entry = {
      lane: step.lane,
      type: "",
      payload: step,
      key,
      dueAtMs,
      expiresAtMs,
      dedupeKey,
    };
    const [added] = this.#holders[0]!.add([{ ...entry, traceparent: undefined }], this.#jobs.nowMs);
    this.#jobs.moveUp();
    const owner = dedupeKey === undefined ? undefined : this.#jobs.owner(dedupeKey);
    assert.equal(added!.duplicate, owner !== undefined);
    if (owner !== undefined) {
      assert.equal(added!.id, owner.id);
      return;
    }
    const model: Model = {
      id: added!.id,
      sequence: this.#jobs.all.length,
      lane: step.lane,
      key,
      dedupeKey,
      state: "delayed",
      readyAtMs: dueAtMs,
      expiresAtMs,
      createdAtMs: this.#jobs.nowMs,
      attempt: 0,
      blockedAt: 0,
      holder: -1,
      fence: 0,
      cancelling: false,
      keeps: false,
    };
    this.#jobs.all.push(model);
    this.#jobs.moveUp();
  }

  #lease(holder: number, wants: readonly number[]): void {
    const leased = this.#holders[holder]!.lease(wants, this.#jobs.nowMs);
    const expected: Model[] = [];
    wants.forEach((want, lane) => {
      this.#jobs.moveUp();
      for (let count = 0; count < want; count++) {
        this.#jobs.dropExpired(lane);
        const job = this.#jobs.ready(lane)[0];
        if (job === undefined) break;
        job.state = "running";
        job.holder = holder;
        job.attempt++;
        job.fence = ++this.#fence;
        expected.push(job);
      }
    });
    assert.deepEqual(leased.map((job) => job.id), expected.map((job) => job.id));
    leased.forEach((job, index) => {
      assert.equal(job.readyAtMs, expected[index]!.readyAtMs);
      assert.equal(job.attempt, expected[index]!.attempt);
      assert.equal(job.createdAtMs, expected[index]!.createdAtMs);
      expected[index]!.fence = job.fence;
      this.#leases.push(job);
    });
  }

  #settle({ which, to, charged, dueInMs, keepsSlot }: Step & { do: "settle" }): void {
    const running = this.#jobs.all.filter((job) => job.state === "running");
    const model = running[which % Math.max(1, running.length)];
    if (model === undefined) return;
    const job = this.#leases.findLast((lease) => lease.id === model.id)!;
    const dueAtMs = this.#jobs.nowMs + dueInMs;
    const settlement = {
      job,
      fence: model.fence,
      to,
      charged,
      dueAtMs,
      keepsSlot,
      result: 1,
      error: undefined,
    };
    const wrong = { ...settlement, fence: model.fence - 1, reason: undefined };
    const other = this.#holders[1 - model.holder]!;
    assert.deepEqual(other.settle([{ ...settlement, reason: "fatal" }], this.#jobs.nowMs), [false]);
    const queue = this.#holders[model.holder]!;
    const answers = queue.settle([wrong, { ...settlement, reason: "fatal" }], this.#jobs.nowMs);
    assert.deepEqual(answers, [false, true]);

    if (!charged) model.attempt--;
    const ends = to === "done" || to === "dead" || to === "cancelled";
    if (!ends && model.cancelling) this.#jobs.leave(model, "cancelled");
    else if (ends) this.#jobs.leave(model, to);
    else if (to === "back") this.#jobs.putBack(model);
    else {
      if (keepsSlot && model.lane === 0) model.keeps = true;
      else this.#jobs.leave(model, "done");
      model.state = "delayed";
      model.readyAtMs = Math.max(dueAtMs, this.#jobs.nowMs);
    }
    this.#jobs.moveUp();
  }

  #change(which: number, change: "cancel" | "revive"): void {
    const model = this.#jobs.all[which % Math.max(1, this.#jobs.all.length)];
    if (model === undefined) return;
    const isOwned = model.dedupeKey !== undefined && change === "revive" &&
      model.state === "dead" &&
      this.#jobs.owner(model.dedupeKey) !== undefined;
    const waits = isWaiting(model);
    const was = model.state;
    if (change === "cancel" && was === "running") model.cancelling = true;
    const { ok } = this.#holders[0]!.change(model.id, change, this.#jobs.nowMs);
    assert.equal(ok, change === "cancel" ? waits || was === "running" : was === "dead" && !isOwned);
    if (change === "cancel" && waits) this.#jobs.leaveWaiting(model, "cancelled");
    if (change === "revive" && ok) {
      model.state = "delayed";
      model.attempt = 0;
      model.cancelling = false;
      model.expiresAtMs += this.#jobs.nowMs - model.createdAtMs;
      model.readyAtMs = this.#jobs.nowMs;
    }
    this.#jobs.moveUp();
  }

  /** One holder stops renewing; the other, which goes on, takes its jobs. */
  #freeze(frozen: number): void {
    const live = this.#holders[1 - frozen]!;
    let renewal = live.renew(this.#jobs.nowMs);
    for (let beat = 0; beat < 5 && renewal.peers > 1; beat++) {
      this.#jobs.nowMs += LEASE_MS / 2;
      renewal = live.renew(this.#jobs.nowMs);
    }
    const lost = this.#jobs.all.filter((job) => job.state === "running" && job.holder === frozen);
    assert.deepEqual([renewal.peers, renewal.reaped], [1, lost.length]);
    for (
      const model of lost.toSorted((a, b) => b.readyAtMs - a.readyAtMs || b.sequence - a.sequence)
    ) {
      if (model.cancelling) this.#jobs.leave(model, "cancelled");
      else if (model.attempt >= ATTEMPTS) this.#jobs.leave(model, "dead");
      else this.#jobs.putBack(model);
      const job = this.#leases.findLast((lease) => lease.id === model.id)!;
      const late = { job, fence: model.fence, to: "done" as const, charged: true, dueAtMs: 0 };
      const answers = this.#holders[frozen]!.settle(
        [{ ...late, result: undefined, reason: undefined, error: undefined }],
        this.#jobs.nowMs,
      );
      assert.deepEqual(answers, [false]);
    }
    this.#jobs.moveUp();
    assert.equal(this.#holders[frozen]!.renew(this.#jobs.nowMs).alive, false);
    assert.equal(this.#holders[frozen]!.renew(this.#jobs.nowMs).alive, true);
    live.renew(this.#jobs.nowMs);
  }

  #compare(): void {
    const counts = this.#holders[0]!.count(this.#jobs.nowMs);
    this.#jobs.moveUp();
    counts.forEach((lane, index) => {
      this.#jobs.dropExpired(index);
      const jobs = this.#jobs.all.filter((job) => job.lane === index);
      const inState = (state: State): number => jobs.filter((job) => job.state === state).length;
      assert.deepEqual(
        { ready: lane.ready, blocked: lane.blocked, delayed: lane.delayed, running: lane.running },
        {
          ready: inState("ready"),
          blocked: inState("blocked"),
          delayed: inState("delayed"),
          running: inState("running"),
        },
      );
      const ready = this.#jobs.ready(index);
      assert.equal(lane.oldestReadyAtMs, ready[0]?.readyAtMs ?? Infinity);
      for (const atMs of [this.#jobs.nowMs, this.#jobs.nowMs - 20, this.#jobs.nowMs - 50]) {
        const older = ready.filter((job) => job.readyAtMs <= atMs).length;
        assert.equal(this.#holders[1]!.readySince(index, atMs), older);
      }
    });
    const { jobs } = this.#holders[1]!.list({ limit: 1e6 });
    assert.deepEqual(jobs.map(seen), this.#jobs.all.map(expected));
  }
}

function seen({ id, state, attempt, key }: JobRecord): unknown {
  return { id, state, attempt, key };
}

function expected({ id, state, attempt, key }: Model): unknown {
  return { id, state, attempt, key };
}

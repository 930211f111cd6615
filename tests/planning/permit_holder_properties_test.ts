import assert from "node:assert/strict";
import fc from "fast-check";
import { PermitHolder } from "../../src/planning/permit_holder.ts";
import type { PermitRecord } from "../../src/planning/permits.ts";

const LEASE_MS = 3000;

/** What may happen in a run, in some order. */
type Step =
  | { readonly kind: "want"; readonly who: number; readonly wants: number }
  | {
    readonly kind: "look";
    readonly who: number;
    /** How long the commit is on its way, ms, and what becomes of its answer. */
    readonly delayMs: number;
    readonly fate: "heard" | "lost" | "repeated";
  }
  | { readonly kind: "crash" | "join" | "leave" | "freeze"; readonly who: number }
  | { readonly kind: "wait"; readonly ms: number };

/** What one of several pools that share a record is. */
interface Part {
  readonly host: string;
  readonly pool: string;
  /** Permits that each of its workers takes. */
  readonly step: number;
  /** Permits that it knows of. */
  readonly cap: number;
}

/** A process with a clock of its own, that uses whatever it may. */
interface Process {
  holder: PermitHolder;
  readonly part: Part | undefined;
  readonly skew: { readonly offsetMs: number; readonly rate: number };
  wants: number;
  /** Times of starts that still count, or of jobs that run. */
  used: number[];
  here: boolean;
  frozenUntilMs: number;
  busy: boolean;
}

interface Letter {
  readonly atMs: number;
  readonly run: () => void;
}

/** Plays a run on one record. Calls `check` after every ms that something happens in. */
class World {
  nowMs = 0;
  #record: PermitRecord | undefined;
  #version = 0;
  readonly #letters: Letter[] = [];
  readonly processes: Process[];
  /** What processes used that were there before. */
  readonly #past: number[] = [];
  readonly #cap: number;
  readonly #jobMs: number;

  constructor(
    cap: number,
    jobMs: number,
    skews: readonly Process["skew"][],
    parts: readonly Part[] = [],
  ) {
    this.#cap = cap;
    this.#jobMs = jobMs;
    this.processes = skews.map((skew, index) => ({
      holder: this.#join(parts[index]),
      part: parts[index],
      skew,
      wants: 0,
      used: [],
      here: false,
      frozenUntilMs: 0,
      busy: false,
    }));
  }

  apply(step: Step): void {
    if (step.kind === "wait") return this.pass(step.ms);
    const one = this.processes[step.who % this.processes.length]!;
    if (step.kind === "join" && !one.here) {
      this.#past.push(...one.used);
      one.used = [];
      one.holder = this.#join(one.part);
      one.here = true;
      one.busy = false;
      one.frozenUntilMs = 0;
    } else if (!one.here || one.frozenUntilMs > this.nowMs) return;
    else if (step.kind === "want") one.wants = step.wants;
    else if (step.kind === "look") this.#look(one, step);
    else if (step.kind === "crash") one.here = false;
    else if (step.kind === "freeze") one.frozenUntilMs = this.nowMs + 2 * LEASE_MS;
    else if (step.kind === "leave" && !one.busy) {
      const record = one.holder.leave(this.#record);
      if (record !== undefined) this.#set(record);
      one.here = false;
    }
  }

  /** Lets time pass; everyone looks now and then by itself. */
  pass(ms: number): void {
    for (const untilMs = this.nowMs + ms; this.nowMs < untilMs;) {
      this.nowMs += 5;
      for (const letter of this.#letters.filter(({ atMs }) => atMs <= this.nowMs)) {
        this.#letters.splice(this.#letters.indexOf(letter), 1);
        letter.run();
      }
      for (const one of this.processes) {
        if (this.nowMs % 100 === 0) {
          this.apply({
            kind: "look",
            who: this.processes.indexOf(one),
            delayMs: 0,
            fate: "heard",
          });
        }
        this.#use(one);
      }
      this.check();
    }
  }

  /** What counts against the cap: a crashed process's starts do, its jobs do not run any more. */
  check(): void {
    const past = this.#past.filter((atMs) => atMs > this.nowMs - this.#jobMs).length;
    const used = this.processes.reduce((sum, { used }) => sum + used.length, past);
    assert.ok(used <= this.#cap, `${used} of ${this.#cap} are in use at ${this.nowMs}`);
    const inForce = this.processes.filter(({ here }) => here)
      .reduce((sum, one) => sum + this.inForce(this.processes.indexOf(one)), 0);
    assert.ok(inForce <= this.#cap, `${inForce} of ${this.#cap} are in force at ${this.nowMs}`);
  }

  inForce(who: number): number {
    const one = this.processes[who]!;
    return one.holder.inForce("cap", one.part?.cap ?? this.#cap, this.#clockOf(one));
  }

  /** Uses all that it may; what was used counts for a time, or until it holds no more. */
  #use(one: Process): void {
    const untilMs = this.nowMs - this.#jobMs;
    one.used.splice(0, one.used.length, ...one.used.filter((atMs) => atMs > untilMs));
    if (!one.here || one.frozenUntilMs > this.nowMs) return;
    const may = Math.min(one.wants, this.inForce(this.processes.indexOf(one)));
    const { step = 1 } = one.part ?? {};
    while (one.used.length + step <= may) {
      for (let count = 0; count < step; count++) one.used.push(this.nowMs);
    }
  }

  #join(shared: Part | undefined): PermitHolder {
    return new PermitHolder({ leaseMs: LEASE_MS, coolMs: this.#jobMs, shared }, () => {});
  }

  #clockOf({ skew }: Process): number {
    return skew.offsetMs + skew.rate * this.nowMs;
  }

  #look(one: Process, { delayMs, fate }: Extract<Step, { kind: "look" }>): void {
    if (one.busy) return;
    const { holder, part: { cap, step } = { cap: this.#cap, step: 1 } } = one;
    const wants = Math.min(one.wants, cap) - Math.min(one.wants, cap) % step;
    const need = { cap, step, wants, cools: true, used: () => one.used.length };
    const version = this.#version;
    const draft = holder.look(this.#record, new Map([["cap", need]]), this.#clockOf(one), {
      isGone: () => false,
      wallMs: this.nowMs, // of one machine
      isHere: (id) =>
        this.processes.some((other) =>
          other.here && other.part?.host === one.part?.host && other.holder.id === id
        ),
    });
    if (draft === undefined) return;
    one.busy = true;
    const arrive = (): boolean => {
      if (version !== this.#version) return false;
      this.#set(draft);
      return true;
    };
    const answer = (run: () => void): void => {
      if (one.holder !== holder) return;
      one.busy = false;
      run();
    };
    if (fate === "lost") { // the process gives up on it, and it may arrive all the same
      this.#letters.push({ atMs: this.nowMs + delayMs, run: () => void arrive() });
      return answer(() => holder.failed());
    }
    this.#letters.push({
      atMs: this.nowMs + delayMs,
      run: () => {
        const ok = arrive();
        const isFrozen = one.frozenUntilMs > this.nowMs;
        if (isFrozen) answer(() => holder.failed());
        else answer(() => holder.answered(ok));
      },
    });
    if (fate === "repeated") {
      this.#letters.push({ atMs: this.nowMs + 2 * delayMs + 10, run: () => void arrive() });
    }
  }

  #set(record: PermitRecord): void {
    this.#record = JSON.parse(JSON.stringify(record));
    this.#version++;
  }
}

const who = fc.nat(3);
const steps = fc.array(
  fc.oneof(
    {
      weight: 3,
      arbitrary: fc.record({ kind: fc.constant("want" as const), who, wants: fc.nat(12) }),
    },
    {
      weight: 4,
      arbitrary: fc.record({
        kind: fc.constant("look" as const),
        who,
        delayMs: fc.constantFrom(0, 5, 40, 400),
        fate: fc.constantFrom("heard" as const, "lost" as const, "repeated" as const),
      }),
    },
    { weight: 3, arbitrary: fc.record({ kind: fc.constant("join" as const), who }) },
    {
      weight: 1,
      arbitrary: fc.record({
        kind: fc.constantFrom("crash" as const, "leave" as const, "freeze" as const),
        who,
      }),
    },
    {
      weight: 4,
      arbitrary: fc.record({
        kind: fc.constant("wait" as const),
        ms: fc.constantFrom(5, 50, 300, 1500),
      }),
    },
  ),
  { minLength: 10, maxLength: 60 },
);
const skews = fc.array(
  fc.record({
    offsetMs: fc.integer({ min: -40_000, max: 40_000 }),
    rate: fc.double({ min: 0.98, max: 1.02, noNaN: true }),
  }),
  { minLength: 4, maxLength: 4 },
);

Deno.test("PermitHolder: permits add up to no more than the cap, whatever joins, dies and is delayed", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 9 }), skews, steps, (cap, skews, steps) => {
      const world = new World(cap, 250, skews);
      for (const step of steps) {
        world.apply(step);
        world.check();
      }
    }),
    { numRuns: 300 },
  );
});

Deno.test("PermitHolder: whatever has happened, all of a cap is in force again within a lease or two", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 9 }), skews, steps, (cap, skews, steps) => {
      const world = new World(cap, 250, skews);
      for (const step of steps) world.apply(step);
      for (const [who] of world.processes.entries()) {
        world.apply({ kind: "join", who });
        world.apply({ kind: "want", who, wants: 12 });
      }
      world.pass(5 * LEASE_MS);
      const inForce = world.processes.reduce((sum, _, who) => sum + world.inForce(who), 0);

      assert.equal(inForce, cap);
    }),
    { numRuns: 100 },
  );
});

/** Two processes of two pools each; the second pool takes several permits a worker. */
const parts = fc.record({
  caps: fc.tuple(fc.integer({ min: 6, max: 12 }), fc.integer({ min: 6, max: 12 })),
  steps: fc.tuple(fc.integer({ min: 1, max: 2 }), fc.integer({ min: 1, max: 3 })),
}).map(({ caps, steps }): readonly Part[] =>
  [0, 1, 2, 3].map((index) => ({
    host: `host ${index >> 1}`,
    pool: `pool ${index % 2}`,
    step: steps[index % 2]!,
    cap: caps[index >> 1]!,
  }))
);

Deno.test("PermitHolder: pools that share a record never exceed the cap, also while processes know of others", () => {
  fc.assert(
    fc.property(parts, skews, steps, (parts, skews, steps) => {
      const most = Math.max(...parts.map(({ cap }) => cap));
      const world = new World(most, 250, skews, parts);
      for (const step of steps) {
        world.apply(step);
        world.check();
      }
    }),
    { numRuns: 300 },
  );
});

Deno.test("PermitHolder: pools that share a record come to the least cap, and none of them starves", () => {
  fc.assert(
    fc.property(parts, skews, steps, (parts, skews, steps) => {
      const caps = parts.map(({ cap }) => cap);
      const world = new World(Math.max(...caps), 250, skews, parts);
      for (const step of steps) world.apply(step);
      world.pass(2 * LEASE_MS); // nobody is frozen any more
      for (const [who] of world.processes.entries()) {
        world.apply({ kind: "join", who });
        world.apply({ kind: "want", who, wants: 12 });
      }
      world.pass(5 * LEASE_MS);
      const inForce = world.processes.map((_, who) => world.inForce(who));
      const least = Math.min(...caps);
      const sum = inForce.reduce((sum, own) => sum + own, 0);

      assert.ok(sum <= least && sum > least - Math.min(...parts.map(({ step }) => step)), `${sum}`);
      inForce.forEach((own, who) => assert.equal(own % parts[who]!.step, 0));
      for (const pool of [0, 1]) assert.ok(inForce[pool]! + inForce[pool + 2]! > 0, `pool ${pool}`);
    }),
    { numRuns: 100 },
  );
});

Deno.test("PermitHolder: where there is too little for each pool they take turns, and each gets one", () => {
  const few = fc.tuple(parts, fc.integer({ min: 1, max: 2 }), fc.integer({ min: 1, max: 2 }))
    .map(([parts, cap, step]) =>
      parts.map((part, index) => ({
        ...part,
        pool: `pool ${index}`,
        cap,
        step: Math.min(cap, index % 2 === 0 ? 1 : step),
      }))
    );
  fc.assert(
    fc.property(few, skews, steps, (parts, skews, steps) => {
      const world = new World(parts[0]!.cap, 250, skews, parts);
      for (const step of steps) world.apply(step);
      world.pass(2 * LEASE_MS); // nobody is frozen any more
      for (const [who] of world.processes.entries()) {
        world.apply({ kind: "join", who });
        world.apply({ kind: "want", who, wants: 12 });
      }
      world.pass(2 * LEASE_MS);
      const had = new Set<number>();
      for (let ms = 0; ms < 15_000; ms += 50) {
        world.pass(50);
        for (const [who] of parts.entries()) if (world.inForce(who) > 0) had.add(who);
      }

      assert.deepEqual([...had].sort(), [0, 1, 2, 3]);
    }),
    { numRuns: 60 },
  );
});

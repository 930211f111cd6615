import assert from "node:assert/strict";
import fc from "fast-check";
import { audit } from "../../../stores/deno_kv/doctor/audit.ts";
import { Db } from "../../../stores/deno_kv/io/db.ts";
import { KvStore } from "../../../stores/deno_kv/store.ts";
import { randomStream } from "../../../src/base/random.ts";
import type { DedupeRule, Leased, Queue } from "../../../src/contract/store.ts";
import { openRemote, withServer } from "./_remote.ts";
import { end, entry, NOW, openQueue } from "./_store.ts";

const LEASE_MS = 1000;
const PER_KEY = 2;
/** By lane. */
const ATTEMPTS = [2, 3];

const MODES: readonly (DedupeRule | undefined)[] = [
  undefined,
  { mode: "until-start" },
  { mode: "window", windowMs: 200 },
  { mode: "replace" },
  { mode: "debounce", maxMs: 250 },
];

interface Party {
  queue: Queue;
  held: Leased[];
  /** False: it has died, and nobody calls it any more. */
  lives: boolean;
  /** What it asked for as jobs were about to be stored. */
  asked: Promise<void>;
}

/** Parties that share a pool, and do things at random. */
class World {
  readonly #stores: readonly KvStore[];
  readonly #random: () => number;
  readonly parties: Party[] = [];
  readonly ids: string[] = [];
  /** Ids of jobs that ended done, as acknowledged. */
  readonly done: string[] = [];
  nowMs = NOW;
  /** Jobs leased that were not to start at once. */
  ahead = 0;
  readonly #most: number;

  /** `most`: parties that live at once. */
  constructor(stores: readonly KvStore[], seed: number, most: number) {
    this.#stores = stores;
    this.#most = most;
    this.#random = randomStream(seed);
  }

  /** Jobs of a call, at most: where one holder lives, more wait than it asks for. */
  get #load(): number {
    return this.#most === 1 ? 8 : 4;
  }

  async join(): Promise<void> {
    const adding = (): void => {
      if (this.#random() < 0.5) party.asked = Promise.all([party.asked, this.#lease(party)]).then();
    };
    const queue = await openQueue(this.pick(this.#stores)!, {
      lanes: [
        { name: "a", maxRunningPerKey: PER_KEY },
        { name: "b", maxRunningPerKey: Infinity },
      ],
      leaseMs: LEASE_MS,
      attempts: ATTEMPTS,
      keep: { done: 5, dead: 8, forMs: Infinity },
      random: this.#random,
      nowMs: this.nowMs,
      listener: { adding, wake() {}, cancelled() {}, ended() {} },
    });
    const party: Party = { queue, held: [], lives: true, asked: Promise.resolve() };
    this.parties.push(party);
  }

  pick<T>(from: readonly T[]): T | undefined {
    return from[Math.floor(this.#random() * from.length)];
  }

  async step(): Promise<void> {
    const party = this.pick(this.parties.filter(({ lives }) => lives));
    if (party === undefined) return await this.join();
    this.nowMs += Math.floor(this.#random() * 30);
    const chance = this.#random();
    if (chance < 0.3) await this.#add(party);
    else if (chance < 0.5) await this.#lease(party);
    else if (chance < 0.75) await this.#settle(party);
    else if (chance < 0.85) await this.#change(party);
    else if (chance < 0.9) await this.#renew(party);
    else if (chance < 0.92) party.lives = this.#most === 1; // alone again only a lease after a death
    else if (chance < 0.94) await this.#leave(party);
    else if (chance < 0.96) await this.#reopen(party);
    else if (this.parties.filter(({ lives }) => lives).length < this.#most) await this.join();
    else await party.queue.count(this.nowMs);
  }

  /** Everything that is left ends. */
  async finish(): Promise<void> {
    await this.join();
    const party = this.parties.at(-1)!;
    for (const other of this.parties) if (other !== party) other.lives = false;
    for (let beat = 0; beat < 8; beat++, this.nowMs += LEASE_MS / 2) await this.#renew(party);
    for (let round = 0; round < 500; round++, this.nowMs += 200) {
      await this.#renew(party);
      const jobs = await party.queue.lease([50, 50], this.nowMs);
      await party.queue.settle(jobs.map((job) => end(job)), this.nowMs);
      const counts = await party.queue.count(this.nowMs);
      const left = counts.map((lane) => lane.ready + lane.blocked + lane.delayed + lane.running);
      if (left.every((count) => count === 0)) return;
    }
    const counts = await party.queue.count(this.nowMs);
    assert.fail(`Jobs are left that cannot be leased: ${JSON.stringify(counts)}`);
  }

  async #add(party: Party): Promise<void> {
    const entries = Array.from({ length: 1 + Math.floor(this.#random() * this.#load) }, () => {
      const chance = this.#random();
      return entry({
        lane: chance < (this.#most === 1 ? 0.3 : 0.6) ? 0 : 1,
        payload: this.#random() < 0.03 ? "x".repeat(130_000) : { n: Math.floor(chance * 1000) },
        key: this.#random() < 0.5 ? this.pick(["k", "l", "m"]) : undefined,
        dedupeKey: this.#random() < 0.3 ? this.pick(["d", "e", "f", "g"]) : undefined,
        dedupe: this.pick(MODES),
        dueAtMs: this.#random() < 0.3 ? this.nowMs + Math.floor(this.#random() * 300) : 0,
        expiresAtMs: this.#random() < 0.1 ? this.nowMs + 200 : Infinity,
      });
    });
    const added = await party.queue.add(entries, this.nowMs);
    await party.asked;
    for (const { id, duplicate } of added) if (!duplicate) this.ids.push(id);
  }

  async #lease(party: Party): Promise<void> {
    const wants = this.#wants();
    const ahead = wants.map((want) => Math.floor(this.#random() * (want + 1)));
    const jobs = await party.queue.lease(wants, this.nowMs, ahead);
    for (const job of jobs) assert.ok(job.fence >= job.attempt, "a lease for each attempt");
    for (const [lane, want] of wants.entries()) {
      const own = jobs.filter(({ laneIndex }) => laneIndex === lane);
      assert.ok(own.length <= want, "no more than are wanted");
      const early = own.slice(want - ahead[lane]!);
      assert.ok(early.every(({ attempt }) => attempt < ATTEMPTS[lane]!), "no last attempt ahead");
      this.ahead += early.length;
    }
    party.held.push(...jobs);
  }

  async #settle(party: Party): Promise<void> {
    const jobs = party.held.splice(0, 1 + Math.floor(this.#random() * 4));
    const settlements = jobs.map((job) => {
      const to = this.pick(["done", "done", "done", "retry", "dead", "back"] as const)!;
      const dueAtMs = this.nowMs + Math.floor(this.#random() * 200) - 50;
      const error = to === "retry" ? "again" : undefined;
      const keepsSlot = this.#random() < 0.5; // matters to a retry only
      return end(job, to, {
        dueAtMs,
        error,
        keepsSlot,
        result: to === "done" ? job.id : undefined,
      });
    });
    const settling = party.queue.settle(settlements, this.nowMs);
    // As a pool does, in the same turn: the claim goes with the ends.
    const leasing = this.#random() < 0.5 ? this.#lease(party) : undefined;
    const accepted = await settling;
    await leasing;
    for (const [index, settlement] of settlements.entries()) {
      if (accepted[index] && settlement.to === "done") this.done.push(settlement.job.id);
    }
  }

  #wants(): readonly number[] {
    return [Math.floor(this.#random() * 4), Math.floor(this.#random() * 4)];
  }

  async #change({ queue }: Party): Promise<void> {
    const id = this.pick(this.ids);
    const change = this.pick(["cancel", "revive", "remove"] as const)!;
    if (id !== undefined) await queue.change(id, change, this.nowMs);
  }

  async #renew(party: Party): Promise<void> {
    if (!(await party.queue.renew(this.nowMs)).alive) party.held = [];
  }

  async #reopen({ queue }: Party): Promise<void> {
    const limits = [1, 2, 3, Infinity] as const;
    const prepared = await queue.reopen?.({
      lanes: ["a", "b"].map((name) => {
        const isFree = this.#most === 1 && name === "b";
        return { name, maxRunningPerKey: isFree ? Infinity : this.pick(limits)! };
      }),
      attempts: ATTEMPTS,
      leaseMs: LEASE_MS,
      keep: { done: this.pick([0, 5])!, dead: this.pick([0, 8])!, forMs: Infinity },
    });
    prepared?.(this.nowMs);
    await queue.lease([0, 0], this.nowMs); // waits for what follows from it
  }

  async #leave(party: Party): Promise<void> {
    party.lives = false;
    await party.queue.leave(this.nowMs);
  }
}

interface Given {
  readonly seed: number;
  readonly steps: number;
  readonly maxChecks?: number;
  readonly most?: number;
}

/** How many jobs were leased that were not to start at once. */
async function runWorld({ seed, steps, maxChecks = 100, most = 3 }: Given): Promise<number> {
  const kv = await Deno.openKv(":memory:");
  const db = new Db(kv, { remote: false, maxChecks, random: Math.random });
  const store = new KvStore(db, { file: undefined, remote: false, pollMs: Infinity, seen: 0 });
  return await runOn([store], kv, { seed, steps, most });
}

/** The same on open stores of one database, which it closes. */
async function runOn(
  stores: readonly KvStore[],
  kv: Deno.Kv,
  { seed, steps, most = 3 }: Given,
): Promise<number> {
  const world = new World(stores, seed, most);
  try {
    for (let step = 0; step < steps; step++) {
      await world.step();
      if (step % 20 === 0) assert.deepEqual(await faultsIn(kv), [], `after step ${step}`);
    }
    await world.finish();
    assert.deepEqual(await faultsIn(kv), [], "in the end");
    assert.equal(new Set(world.done).size, world.done.length, "no job is done twice");
    return world.ahead;
  } finally {
    for (const store of stores) await store.close();
  }
}

/** What disagrees, but for the leases of those who have died and nobody has noticed yet. */
async function faultsIn(kv: Deno.Kv): Promise<readonly string[]> {
  return await audit(kv, "p");
}

Deno.test("KvQueue keeps counts, places, pointers and keys true, whatever several holders do", async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer(), async (seed) => void await runWorld({ seed, steps: 200 })),
    { numRuns: 12 },
  );
});

Deno.test("KvQueue does so with no more than 10 checks a commit", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer(),
      async (seed) => void await runWorld({ seed, steps: 150, maxChecks: 10 }),
    ),
    { numRuns: 6 },
  );
});

Deno.test("KvQueue does so where one holder at a time lives, whose claims go with its ends", async () => {
  let ahead = 0;
  await fc.assert(
    fc.asyncProperty(fc.integer(), async (seed) => {
      ahead += await runWorld({ seed, steps: 300, most: 1 });
    }),
    { numRuns: 12 },
  );
  assert.ok(ahead > 0);
});

Deno.test("KvQueue does so over a network, in several processes whose adds are leased with their commit", async () => {
  let ahead = 0;
  await fc.assert(
    fc.asyncProperty(fc.integer(), async (seed) => {
      await withServer({ maxChecks: 10 }, async (server) => {
        const stores = await Promise.all([1, 2, 3].map(() => openRemote(server)));
        const kv = await Deno.openKv(server.url);
        ahead += await runOn(stores, kv, { seed, steps: 120 });
        kv.close();
      });
    }),
    { numRuns: 5 },
  );
  assert.ok(ahead > 0);
});

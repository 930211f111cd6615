/**
 * Dedupe modes over random schedules: several members add, lease, end, cancel, revive, leave and die, and a
 * model says of each answer what it must be.
 *
 * @module
 */

import assert from "node:assert/strict";
import { randomStream } from "../base/random.ts";
import type { DedupeRule, JobEntry, Store } from "../contract/store.ts";
import { renewUntilAlone } from "./_store_dead_members.ts";
import {
  type Held,
  openTrial,
  SERIAL,
  START_MS,
  type StoreCheck,
  type StoreTrial,
} from "./_trial.ts";

const WAIT_MS = 40;
const MAX_MS = 100;

/** One key of each mode. */
const RULES: Readonly<Record<DedupeRule["mode"], DedupeRule>> = {
  "until-end": { mode: "until-end" },
  "until-start": { mode: "until-start" },
  "window": { mode: "window", windowMs: 150 },
  "replace": { mode: "replace" },
  "debounce": { mode: "debounce", maxMs: MAX_MS },
};
const MODES = Object.keys(RULES) as readonly DedupeRule["mode"][];

/** What the model knows of a job. */
interface Known {
  readonly id: string;
  readonly mode: DedupeRule["mode"];
  readonly createdAtMs: number;
  payload: number;
  dueMs: number;
  expiresAtMs: number;
  /** It has been leased since it has its key. */
  started: boolean;
  revived: boolean;
  ended: boolean;
}

/** Members that share a pool, and the model. */
class Schedule {
  readonly #store: Store;
  readonly #random: () => number;
  readonly #jobs = new Map<string, Known>();
  readonly #owners = new Map<string, Known>();
  #members: { readonly trial: StoreTrial; readonly held: Held[] }[] = [];
  #nowMs = START_MS;
  #payload = 0;

  constructor(store: Store, seed: number) {
    this.#store = store;
    this.#random = randomStream(seed, "dedupe");
  }

  async run(steps: number): Promise<void> {
    await this.#join();
    for (let step = 0; step < steps; step++) await this.#step();
    for (const { trial, held } of this.#members) {
      trial.nowMs = this.#nowMs;
      for (const job of held.splice(0)) await trial.settle(job, "done");
    }
    const { trial, held } = this.#members[0]!;
    this.#nowMs += 1000;
    trial.nowMs = this.#nowMs;
    for (let round = 0; round < 100; round++) {
      this.#leased(await trial.lease(50, 50), held);
      if (held.length === 0) break;
      for (const job of held.splice(0)) await trial.settle(job, "done");
    }
    for (const { id } of this.#jobs.values()) {
      const state = (await trial.queue.find(id))?.state ?? "done";
      assert.ok(["done", "dead", "cancelled"].includes(state), `job ${id} is ${state} in the end`);
    }
  }

  async #join(): Promise<void> {
    const trial = await openTrial(this.#store, {
      ...SERIAL,
      attempts: [99, 99],
      nowMs: this.#nowMs,
    });
    this.#members.push({ trial, held: [] });
  }

  async #step(): Promise<void> {
    this.#nowMs += Math.floor(this.#random() * 12);
    const member = this.#pick(this.#members);
    member.trial.nowMs = this.#nowMs;
    const chance = this.#random();
    if (chance < 0.5) await this.#add(member.trial);
    else if (chance < 0.7) {
      const wants = [this.#random() < 0.5 ? 1 : 2, 1];
      this.#leased(await member.trial.lease(...wants), member.held);
    } else if (chance < 0.88) await this.#settle(member);
    else if (chance < 0.94) await this.#change(member.trial);
    else if (chance < 0.96 && this.#members.length < 3) await this.#join();
    else if (chance < 0.98 && this.#members.length > 1) await this.#lose(member);
    else await member.trial.count();
  }

  async #add(trial: StoreTrial): Promise<void> {
    const mode = this.#pick(MODES);
    const nowMs = this.#nowMs;
    const payload = ++this.#payload;
    const dueMs = mode === "debounce" ? nowMs + WAIT_MS : nowMs;
    const expiresAtMs = this.#random() < 0.1 ? nowMs + 60 : Infinity;
    const entry: Partial<JobEntry> = {
      lane: this.#random() < 0.5 ? 0 : 1,
      key: this.#random() < 0.5 ? "k" : undefined,
      payload,
      dueAtMs: dueMs,
      expiresAtMs,
      dedupeKey: mode,
      dedupe: RULES[mode],
    };
    const { id, duplicate } = await trial.add(entry);
    const owner = this.#ownerOf(mode);
    assert.equal(duplicate, owner !== undefined, `${mode} at ${nowMs - START_MS}: ${owner?.id}`);
    if (owner === undefined) {
      const known: Known = {
        id,
        mode,
        createdAtMs: nowMs,
        payload,
        dueMs,
        expiresAtMs,
        started: false,
        revived: false,
        ended: false,
      };
      this.#jobs.set(id, known);
      this.#owners.set(mode, known);
      return;
    }
    assert.equal(id, owner.id);
    if (mode !== "replace" && mode !== "debounce") return;
    owner.payload = payload;
    owner.expiresAtMs = expiresAtMs;
    const isDelayed = mode === "debounce" && nowMs < owner.dueMs;
    const mostMs = owner.createdAtMs + MAX_MS;
    if (isDelayed) owner.dueMs = Math.max(owner.dueMs, Math.min(nowMs + WAIT_MS, mostMs));
  }

  /** The job that has the key of a mode now. */
  #ownerOf(mode: DedupeRule["mode"]): Known | undefined {
    const owner = this.#owners.get(mode);
    if (owner === undefined) return undefined;
    if (mode === "window") {
      return this.#nowMs < owner.createdAtMs + RULES.window.windowMs! ? owner : undefined;
    }
    if (mode !== "until-end" && owner.started) return undefined;
    const isExpired = !this.#isHeld(owner.id) && owner.expiresAtMs <= this.#nowMs;
    return owner.ended || isExpired ? undefined : owner;
  }

  #isHeld(id: string): boolean {
    return this.#members.some(({ held }) => held.some((one) => one.id === id));
  }

  #leased(jobs: readonly Held[], held: Held[]): void {
    for (const one of jobs) {
      const known = this.#jobs.get(one.id);
      assert.ok(known !== undefined, `nobody added job ${one.id}`);
      const { mode, payload, dueMs, createdAtMs } = known;
      if (!known.started) {
        assert.equal(one.job.payload, payload, `the latest payload of ${mode}`);
        assert.ok(this.#nowMs >= dueMs, `${mode}: not before it is due`);
        const dueAtMs = one.job.dueAtMs ?? one.readyAtMs;
        const isBound = mode === "debounce" && !known.revived;
        if (isBound) assert.ok(dueAtMs <= createdAtMs + MAX_MS, "no later than its bound");
      }
      known.started = true;
      held.push(one);
    }
  }

  async #settle({ trial, held }: { trial: StoreTrial; held: Held[] }): Promise<void> {
    const job = held.shift();
    if (job === undefined) return;
    const to = this.#pick(["done", "done", "dead", "retry", "back", "cancelled"] as const);
    const isTaken = await trial.settle(job, to, { dueAtMs: this.#nowMs + 20 });
    const known = this.#jobs.get(job.id)!;
    if (isTaken && to !== "retry" && to !== "back") known.ended = true;
  }

  /** Cancels a job that waits, or revives a dead one. */
  async #change({ queue }: StoreTrial): Promise<void> {
    const known = this.#pick([...this.#jobs.values()]);
    if (known === undefined || this.#isHeld(known.id)) return;
    const { id, mode } = known;
    const change = this.#random() < 0.5 ? "cancel" : "revive";
    const owner = this.#ownerOf(mode);
    const before = (await queue.find(id))?.state;
    const { ok } = await queue.change(id, change, this.#nowMs);
    if (!ok) return;
    if (change === "cancel") {
      known.ended = true;
      return;
    }
    assert.equal(before, "dead");
    assert.ok(mode === "window" || owner === undefined, "nobody else has its key");
    known.ended = false;
    known.revived = true;
    known.dueMs = this.#nowMs;
    known.expiresAtMs += this.#nowMs - known.createdAtMs;
    known.started = false;
    if (mode !== "window") this.#owners.set(mode, known);
  }

  /** A member leaves, or all others die: what they hold goes back. */
  async #lose(member: { trial: StoreTrial; held: Held[] }): Promise<void> {
    if (this.#random() < 0.5) {
      this.#members = this.#members.filter((other) => other !== member);
      return void await member.trial.queue.leave(this.#nowMs);
    }
    this.#members = [member];
    await renewUntilAlone(member.trial);
    this.#nowMs = member.trial.nowMs;
  }

  #pick<T>(from: readonly T[]): T {
    return from[Math.floor(this.#random() * from.length)]!;
  }
}

/** Plays one schedule. A store that does not hold dedupe modes passes. */
export async function playDedupe(store: Store, seed: number, steps: number): Promise<void> {
  const { queue } = await openTrial(store, { ...SERIAL, pool: "asked" });
  if (queue.holdsDedupe === true) await new Schedule(store, seed).run(steps);
}

/** Some schedules. */
export const dedupeRandomChecks: readonly StoreCheck[] = [1, 2, 3].map((seed) => ({
  name: `each dedupe mode answers as its model does over 200 random steps (seed ${seed})`,
  run: (store) => playDedupe(store, seed, 200),
}));

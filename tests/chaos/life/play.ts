/**
 * Plays ordinary lives of a pool, in virtual time, on the store in memory and on Deno KV. What is asked
 * from outside alone is looked at: what handlers run, what callers were told, what lists and counts say.
 *
 * @module
 */

import { setImmediate } from "node:timers/promises";
import { audit } from "../../../stores/deno_kv/doctor/audit.ts";
import { MemoryStore } from "../../../stores/memory/mod.ts";
import { RejectedError, StoreError } from "../../../src/contract/errors.ts";
import type { JobRecord } from "../../../src/contract/job.ts";
import { randomStream } from "../../../src/base/random.ts";
import { VirtualClock } from "../../../src/time/virtual_clock.ts";
import { deafStore, twinOf } from "../../stores/deno_kv/_commits.ts";
import { watchCounters } from "./counters.ts";
import { Door, Surroundings } from "./door.ts";
import { type Batch, type Life, lifeOf, type LifeStep, type LifeStore, type Plan } from "./draw.ts";
import { type Known, Ledger } from "./ledger.ts";
import { Member, STOP_SLACK_MS } from "./member.ts";
import type { Played } from "../world.ts";

/** Most processes that run at once. */
const MOST_MEMBERS = 3;
/** Some job starts or ends within so long, as long as any is left, ms. */
const PATIENCE_MS = 900_000;
/** How far time moves between two looks, ms. */
const STEP_MS = 500;
/** So often the store is asked at one moment, one call after the other, by a busy loop only. */
const MOST_ROUNDS = 5_000;
/** Jobs of one page of a list. */
const PAGE = 100;
/** A batch is enqueued within the hour of its life: jobs are numbered from here. */
const FIRST = 1;

/** Plays the life of a seed, or its first steps. */
export async function playLife(seed: number, store: LifeStore, most = Infinity): Promise<Played> {
  await using played = new PlayedLife(seed, lifeOf(seed, store));
  return await played.play(most);
}

class PlayedLife {
  readonly #life: Life;
  readonly #seed: number;
  readonly #clock = new VirtualClock();
  readonly #startMs = this.#clock.nowMs();
  readonly #around = new Surroundings();
  readonly #ledger: Ledger;
  readonly #members: Member[] = [];
  readonly #memory = new MemoryStore();
  #kv: Deno.Kv | undefined;
  #next = FIRST;

  constructor(seed: number, life: Life) {
    this.#seed = seed;
    this.#life = life;
    this.#ledger = new Ledger(life, () => this.#clock.nowMs());
  }

  async play(most: number): Promise<Played> {
    const rejected = (event: PromiseRejectionEvent): void => {
      event.preventDefault();
      this.#ledger.breach(`A rejection was not handled: ${event.reason}`);
    };
    addEventListener("unhandledrejection", rejected);
    let done = 0;
    try {
      await this.#start();
      for (const step of this.#life.steps.slice(0, most)) {
        done++;
        await this.#act(step);
        await this.#quiet();
        if (this.#ledger.broken !== undefined) break;
      }
      if (this.#ledger.broken === undefined) await this.#end();
    } catch (thrown) {
      this.#ledger.breach(thrown instanceof Error ? thrown.stack ?? thrown.message : `${thrown}`);
    } finally {
      removeEventListener("unhandledrejection", rejected);
    }
    const { broken, jobs } = this.#ledger;
    let starts = 0;
    for (const known of jobs.values()) starts += known.starts;
    return {
      breach: broken === undefined ? undefined : { what: broken, steps: done },
      jobs: jobs.size,
      starts,
      virtualMs: this.#clock.nowMs() - this.#startMs,
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { door } of this.#members) await door?.close();
    this.#kv?.close();
  }

  get #awake(): readonly Member[] {
    return this.#members.filter(({ awake }) => awake);
  }

  async #start(): Promise<void> {
    if (
      this.#members.filter(({ clock, stopped }) => !clock.dead && !stopped).length >= MOST_MEMBERS
    ) {
      return;
    }
    const member = new Member({
      number: this.#members.length,
      life: this.#life,
      ledger: this.#ledger,
      clock: this.#clock,
      seed: this.#seed + this.#members.length,
      open: async (clock) => {
        if (this.#life.store === "memory") {
          return new Door(this.#memory, clock, this.#around, false);
        }
        this.#kv ??= await Deno.openKv(":memory:");
        const random = randomStream(this.#seed, `store/${this.#members.length}`);
        const kv = await twinOf(this.#kv);
        watchCounters(kv, (what) => this.#ledger.breach(what));
        const store = deafStore(kv, random);
        return new Door(store, clock, this.#around, true);
      },
    });
    await member.start();
    this.#members.push(member);
  }

  async #act(step: LifeStep): Promise<void> {
    if (step.do === "advance") return await this.#pass(step.ms);
    if (step.do === "start") return await this.#start();
    if (step.do === "full") {
      this.#ledger.harmed = true;
      this.#around.fullUntilMs = this.#clock.nowMs() + step.ms;
      return;
    }
    const awake = this.#awake;
    const member = awake[step.who % Math.max(1, awake.length)];
    if (member === undefined) return;
    switch (step.do) {
      case "enqueue":
        return this.#enqueue(member, step);
      case "kill":
        return member.kill();
      case "block":
        return member.block(step.ms);
      case "stop":
        return member.stop();
      case "slice":
        return await this.#slice(member);
      case "walk":
        await this.#list(member);
        return;
      case "clock":
        return member.clock.setWall(step.aheadMs);
      case "reload":
        return this.#ask(member.sluice.reload(member.config(step.variant)));
      case "pause":
        return this.#ask(member.pool.pause(step.lane));
      case "resume":
        return this.#ask(member.pool.resume(step.lane));
      case "override": {
        const { min, max } = this.#life.pool.size as { readonly min: number; readonly max: number };
        return member.pool.override({ target: Math.max(min, Math.min(step.target, max)) }, 3000);
      }
      case "change":
        return this.#change(member, step);
    }
  }

  /** What is asked may only fail by the store. */
  #ask(asked: Promise<unknown>): void {
    asked.catch((thrown) => {
      if (thrown instanceof StoreError && this.#ledger.harmed) return;
      this.#ledger.breach(`An action fails: ${thrown}`);
    });
  }

  #enqueue(member: Member, batch: Batch): void {
    const jobs = Array.from({ length: batch.count }, (_, index) => this.#jobOf(batch, index));
    const taken = (known: typeof jobs[number]["known"], id: string, duplicate: boolean): void =>
      this.#ledger.taken(known, id, duplicate);
    const refused = (bytes: number, error: unknown): void => {
      if (error instanceof RejectedError) return;
      if (error instanceof StoreError && this.#ledger.harmed) return;
      if (error instanceof RangeError && bytes > 1_040_000) return;
      this.#ledger.breach(`An enqueue of ${bytes} bytes fails: ${error}`);
    };
    if (batch.how === "bulk") {
      const answers = member.pool.enqueueAll(jobs.map(({ job }) => job));
      answers.then((handles) => {
        for (const [index, handle] of handles.entries()) {
          const { known } = jobs[index]!;
          if (handle instanceof Error) refused(known.plan.pad.length, handle);
          else taken(known, handle.id, handle.duplicate);
        }
        if (!batch.isWithdrawn) return;
        for (const { known } of jobs) if (known.id !== undefined) this.#cancel(member, known);
      }, (error) => refused(0, error));
      return;
    }
    for (const { job, known } of jobs) {
      member.enqueue(
        job,
        ({ id, duplicate }) => taken(known, id, duplicate),
        (error) => refused(known.plan.pad.length, error),
      );
    }
  }

  #jobOf(batch: Batch, index: number) {
    const { lane, type, keys, dedupe, delayMs, ttlMs, bytes } = batch;
    const size = bytes[index % bytes.length]!;
    const plan: Plan = {
      n: this.#next++,
      ms: batch.ms,
      end: batch.end,
      heedsAbort: batch.heedsAbort,
      result: batch.result,
      resultBytes: size,
      pad: "p".repeat(Math.max(0, size - 150)),
    };
    const key = keys === 0 ? undefined : `key ${index % keys}`;
    const known = this.#ledger.offered({ plan, lane, key, delayMs, ttlMs });
    const job = {
      lane,
      payload: plan,
      delayMs,
      ...type === "" ? {} : { type },
      ...key === undefined ? {} : { key },
      ...dedupe === 0 ? {} : { dedupeKey: `only ${index % (dedupe * 10)}` },
      ...ttlMs === undefined ? {} : { ttlMs },
    };
    return { job, known };
  }

  #change(member: Member, { change, count, from }: Extract<LifeStep, { do: "change" }>): void {
    const ids = [...this.#ledger.byId];
    for (let place = 0; place < Math.min(count, ids.length); place++) {
      const [id, known] = ids[(from + place) % ids.length]!;
      if (change === "cancel") {
        this.#cancel(member, known);
        continue;
      }
      // It may take effect long before its answer comes.
      if (change === "revive") known.revived++;
      const changed = member.pool.change(id, change).then(({ ok }) => {
        if (ok && change === "remove") known.removed = true;
        if (!ok && change === "revive") known.revived--;
      });
      this.#ask(changed);
    }
  }

  #cancel(member: Member, known: Known): void {
    known.cancelled = true; // it may take effect long before its answer comes
    this.#ask(member.pool.change(known.id ?? "", "cancel"));
  }

  /** Whatever is ready or runs is counted by a slice that is asked now. */
  async #slice(member: Member): Promise<void> {
    const slice = member.sluice.slice(200);
    await this.#pass(1000);
    await Promise.race([slice, setImmediate()]);
  }

  async #pass(ms: number): Promise<void> {
    for (let left = ms; left > 0; left -= STEP_MS) {
      await this.#clock.advance(Math.min(STEP_MS, left));
      await this.#quiet();
      this.#checkStops();
      if (this.#ledger.broken !== undefined) return;
    }
  }

  /** Waits until the store has answered all, and all processes have heard of it. */
  async #quiet(): Promise<void> {
    for (let rounds = 0; rounds < MOST_ROUNDS; rounds++) {
      await this.#clock.settle();
      if (await this.#around.answered()) continue;
      const doors = this.#members.map(({ door }) => door);
      const writers = doors.filter(({ wrote }) => wrote);
      if (writers.length === 0) return;
      for (const door of writers) door.wrote = false;
      if (this.#life.store === "memory") continue;
      for (const door of doors) if (writers.some((writer) => writer !== door)) door.hear();
    }
    throw new Error("The processes do not come to rest: they ask the store all the time");
  }

  /** A stop ends within its deadline and some seconds, whatever runs. */
  #checkStops(): void {
    if (this.#ledger.harmed) return;
    for (const { name, stopped, stopAskedAtMs, clock } of this.#members) {
      const took = this.#clock.nowMs() - stopAskedAtMs;
      if (stopped || clock.dead || took <= this.#life.drainMs + STOP_SLACK_MS + STEP_MS) continue;
      this.#ledger.breach(`${name} has not stopped ${took} ms after it was asked to`);
    }
  }

  /** Lists all jobs, page by page: none is skipped and none comes twice. */
  async #list({ pool }: Member): Promise<ReadonlyMap<string, JobRecord>> {
    const records = new Map<string, JobRecord>();
    let cursor: string | undefined;
    do {
      const page = await pool.list({ limit: PAGE, cursor });
      for (const record of page.jobs) {
        if (records.has(record.id)) this.#ledger.breach(`${record.id} is listed twice`);
        records.set(record.id, record);
      }
      cursor = page.cursor;
    } while (cursor !== undefined);
    return records;
  }

  /** Ends all harm, lets all jobs end, and looks what is left. */
  async #end(): Promise<void> {
    this.#around.fullUntilMs = -Infinity;
    for (const { clock } of this.#members) clock.setWall(0);
    await this.#pass(45_000); // who was blocked goes on
    if (this.#awake.length === 0) await this.#start();
    for (const member of this.#awake) {
      member.pool.clearOverride();
      this.#ask(member.sluice.reload(member.config(0)));
      await this.#pass(STEP_MS);
      this.#ask(member.pool.resume());
      for (const { name } of this.#life.lanes) this.#ask(member.pool.resume(name));
    }
    await this.#passUntilEnded();
    if (this.#ledger.broken !== undefined) return;
    const [member] = this.#awake;
    if (member === undefined) throw new Error("No process is left");
    this.#ledger.settle(await this.#list(member));
    this.#checkCounts(member);
    for (const each of this.#awake) each.stop();
    await this.#pass(this.#life.drainMs + 6 * STOP_SLACK_MS);
    if (this.#kv === undefined || this.#ledger.broken !== undefined) return;
    const faults = await audit(this.#kv, "p");
    if (faults.length > 0) this.#ledger.breach(`What is stored disagrees: ${faults.join("; ")}`);
  }

  async #passUntilEnded(): Promise<void> {
    let progress = -1;
    for (let quietMs = 0; quietMs < PATIENCE_MS; quietMs += 5 * STEP_MS) {
      await this.#pass(5 * STEP_MS);
      if (this.#ledger.broken !== undefined) return;
      if (this.#ledger.runs.size === 0 && this.#countLeft() <= this.#scheduled) {
        const [member] = this.#awake;
        const records = member === undefined ? new Map() : await this.#list(member);
        if (this.#ledger.areAllEnded(records)) return;
      }
      if (this.#ledger.progress === progress) continue;
      progress = this.#ledger.progress;
      quietMs = 0;
    }
    this.#ledger.breach(`Jobs do not end: ${this.#describe()}`);
  }

  /** Jobs of a schedule that may be there at any time: it goes on. */
  get #scheduled(): number {
    return (this.#life.pool.schedules as readonly unknown[]).length * 2;
  }

  #countLeft(): number {
    const lanes = this.#awake[0]?.pool.snapshot().lanes ?? [];
    return lanes.reduce(
      (sum, { ready, blocked, delayed, running }) => sum + ready + blocked + delayed + running,
      0,
    );
  }

  #describe(): string {
    const snapshot = this.#awake[0]?.pool.snapshot();
    if (snapshot === undefined) return "no process is left";
    const { lanes, workers, idle, target, paused, decision } = snapshot;
    const counts = lanes.map(({ name, ready, blocked, delayed, running }) =>
      `${name}: ${ready} ready, ${blocked} blocked, ${delayed} delayed, ${running} running`
    );
    const state = `${workers.length} workers, ${idle} idle, target ${target}, paused ${paused}`;
    return `${counts.join("; ")}; ${state}; ${decision?.sentence}`;
  }

  /** At rest each count is exact. */
  #checkCounts({ pool }: Member): void {
    if (this.#scheduled > 0) return;
    for (const { name, ready, blocked, delayed, running } of pool.snapshot().lanes) {
      if (ready + blocked + delayed + running === 0) continue;
      this.#ledger.breach(`Lane ${name} counts jobs at rest`);
    }
  }
}

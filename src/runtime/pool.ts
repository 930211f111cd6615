/**
 * One running pool, as its users hold it.
 *
 * @module
 */

import { type Adoption, prepareAdoption } from "./adopt.ts";
import { asked, changed } from "./asked.ts";
import { assemble, type PoolContext, type PoolParts } from "./assemble.ts";
import { type Clock, pause } from "../clock.ts";
import type { Decision } from "../decision.ts";
import { diagnose, type Finding } from "../diagnose.ts";
import type { History } from "../history.ts";
import { messageOf, StoreError } from "../errors.ts";
import type { PoolEvent } from "../event.ts";
import type { EventHub } from "./event_hub.ts";
import type { JobRecord, NewJob } from "../job.ts";
import type { Lane } from "./lane.ts";
import { checkOverride } from "./override.ts";
import { jobsLeft, look, SLICE_LOOK_MS } from "./slice.ts";
import { freeze } from "./pool_state.ts";
import { Schedules } from "./schedules.ts";
import type { PoolSettings } from "../settings.ts";
import type { JobHandle, Override, PoolHandle, PoolSnapshot, StopReport } from "../sluice.ts";
import type { Added, Change, Changed, JobEntry, JobPage, JobQuery, Queue } from "../store.ts";
import type { MaybePromise } from "../store.ts";
import { isPromise } from "./store_guard.ts";
import type { LaneTally } from "../tally.ts";
import { knownJob, mayBeDuplicate, type Refused } from "./refused.ts";
import { TakenJob } from "./taken_job.ts";

/** A pool that rests for so long shows nothing to be amiss, ms. */
const OVER_AFTER_MS = 60_000;

/** An event of this pool without what every event says. */
type EventDetails = PoolEvent extends infer Event
  ? Event extends PoolEvent ? Omit<Event, "atMs" | "pool"> : never
  : never;

/** One running pool, as its users and its store see it. */
export class Pool implements PoolHandle {
  readonly name: string;
  readonly #queue: Queue;
  readonly #clock: Clock;
  readonly #hub: EventHub;
  readonly #context: PoolContext;
  readonly #parts: PoolParts;
  readonly #schedules: Schedules;

  /** Wires the parts; nothing runs before `begin`. */
  constructor(settings: PoolSettings, queue: Queue, context: PoolContext) {
    this.name = settings.name;
    this.#context = context;
    this.#queue = queue;
    this.#clock = context.clock;
    this.#hub = context.hub;
    this.#parts = assemble(settings, queue, context);
    this.#schedules = new Schedules({
      store: context.store,
      state: this.#parts.state,
      clock: context.clock,
      log: context.log,
      add: async (entry) => await this.#add(entry, this.#clock.nowMs()),
    });
  }

  get settings(): PoolSettings {
    return this.#parts.state.settings;
  }

  /** Reads what is shared. */
  async load(): Promise<void> {
    await this.#parts.pauses.load();
    await this.#parts.permits.join();
  }

  /** Makes the first plan, starts the minimum. */
  begin(): void {
    this.#parts.loop.open();
    this.#schedules.open();
  }

  /** Leaves the queue without having begun. */
  async abandon(): Promise<void> {
    await this.#parts.permits.leave();
    await this.#queue.leave(this.#clock.nowMs());
  }

  /** Makes all that other settings need. Nothing changes before the answer is put in force. */
  async prepare(settings: PoolSettings): Promise<Adoption> {
    const adoption = await prepareAdoption(this.#parts, settings, this.#context);
    return {
      commit: () => {
        adoption.commit();
        this.#schedules.adopt();
      },
    };
  }

  /** Why other settings cannot be put in force now. `undefined`: they can. */
  get reloadHindrance(): string | undefined {
    return this.#parts.drain.begun
      ? `Pool "${this.name}" is draining: stop, then start with the new config`
      : undefined;
  }

  /** True if lanes, `leaseMs` and `keep` may change while it runs. */
  get isReopenable(): boolean {
    return this.#queue.reopen !== undefined;
  }

  /** Jobs of a lane that have not ended, or may not have. */
  jobsIn(lane: string): number {
    return this.#parts.state.lanes.find(({ name }) => name === lane)?.unfinished ?? 0;
  }

  snapshot(): PoolSnapshot {
    const nowMs = this.#parts.state.nowMs = this.#clock.nowMs();
    if (this.#parts.loop.rests) this.#parts.state.rested(nowMs); // else its last rates would stand
    return Object.freeze({
      ...freeze(this.#parts.state),
      schedules: this.#schedules.views,
      degraded: this.#parts.slots.degraded,
      draining: this.#parts.drain.begun,
      stopped: this.#parts.drain.ended,
      paused: this.#parts.pauses.pool,
      override: this.#parts.steering.override,
      decision: this.#parts.steering.log.last,
      shadow: this.#parts.steering.shadow?.report,
      storeWaitMs: this.#parts.guard.waitMs(this.#parts.state.nowMs),
      storeRefusedAtMs: this.#parts.guard.refusedAtMs,
      scaleEvents: this.#parts.steering.history.scale.count,
      reversals: this.#parts.steering.history.scale.reversals,
      reaped: this.#parts.loop.reaped,
    });
  }

  explain(limit = 20): readonly Decision[] {
    return this.#parts.steering.log.newest(limit);
  }

  tally(): readonly LaneTally[] {
    return this.#parts.state.lanes.map((lane) => lane.tally());
  }

  history(): History {
    return this.#parts.steering.history.shown(this.settings, this.#clock.nowMs());
  }

  diagnosis(): readonly Finding[] {
    const { steering, state } = this.#parts;
    state.nowMs = this.#clock.nowMs();
    // A pool at rest takes no samples: what its past shows would stand for ever.
    const restsForMs = steering.quiet ? state.nowMs - steering.history.sampledAtMs : 0;
    if (restsForMs >= OVER_AFTER_MS) return [];
    return diagnose(steering.history.read(this.settings));
  }

  enqueue(job: NewJob): Promise<JobHandle> {
    try {
      const answer = this.#take(job);
      if (!isPromise(answer)) return Promise.resolve(new TakenJob(this.#queue, answer));
      return answer.then((added) => new TakenJob(this.#queue, added));
    } catch (thrown) {
      return Promise.reject(thrown);
    }
  }

  async enqueueAll(jobs: readonly NewJob[]): Promise<readonly (JobHandle | Error)[]> {
    const nowMs = this.#clock.nowMs();
    const { lanes } = this.#parts.state; // a reload may change them before the jobs are stored
    const entries: JobEntry[] = [];
    const { intake } = this.#parts;
    const refused: [place: number, job: Refused][] = [];
    const faults = jobs.map((job, place): Error | undefined => {
      try {
        const entry = intake.check(job, nowMs);
        const one = intake.refusal(job, entry);
        if (one !== undefined && !mayBeDuplicate(entry)) return intake.turnAway(one, nowMs);
        if (one !== undefined) {
          refused.push([place, one]);
          return one.refusal;
        }
        entries.push(entry);
        lanes[entry.lane]!.adding++; // counts against the depth of those that follow
        return undefined;
      } catch (thrown) {
        return thrown instanceof Error ? thrown : new Error(messageOf(thrown));
      }
    });
    let added: readonly Added[] = [];
    let late = false;
    try {
      const answer = entries.length === 0 ? [] : this.#queue.add(entries, nowMs);
      late = isPromise(answer);
      if (late) this.#parts.loop.adding();
      added = await answer;
    } catch (thrown) {
      throw this.#storeFailed(thrown);
    } finally {
      for (const { lane } of entries) {
        if (late) lanes[lane]!.addedLate();
        else lanes[lane]!.adding--;
      }
    }
    entries.forEach((entry, index) => this.#added(lanes[entry.lane]!, entry, added[index]!));
    if (added.some(({ error }) => error instanceof StoreError)) this.#parts.guard.refused();
    let next = 0;
    const taken = (one: Added): JobHandle | Error => one.error ?? new TakenJob(this.#queue, one);
    const results = faults.map((fault) => fault ?? taken(added[next++]!));
    await Promise.all(refused.map(async ([place, job]) => {
      try {
        results[place] = taken(await this.#turnAway(job));
      } catch (thrown) {
        results[place] = thrown instanceof Error ? thrown : new Error(messageOf(thrown));
      }
    }));
    return results;
  }

  post(job: NewJob): void {
    const answer = this.#take(job);
    if (isPromise(answer)) answer.catch((thrown) => this.#parts.intake.lost(job, thrown));
  }

  async pause(lane?: string): Promise<void> {
    if (lane !== undefined) this.#parts.intake.lane(lane);
    await changed(this.#clock, async () => {
      await this.#parts.pauses.set(lane, true);
      this.#emit({ kind: "paused", lane });
    });
  }

  async resume(lane?: string): Promise<void> {
    if (lane !== undefined) this.#parts.intake.lane(lane);
    await changed(this.#clock, async () => {
      await this.#parts.pauses.set(lane, false);
      this.#emit({ kind: "resumed", lane });
      this.#parts.loop.arrived();
    });
  }

  override(bounds: Override, expiresInMs: number): void {
    checkOverride(bounds, expiresInMs, this.settings.size);
    const nowMs = this.#clock.nowMs();
    this.#parts.steering.setOverride(bounds, nowMs + expiresInMs, nowMs);
    this.#parts.loop.steer();
  }

  clearOverride(): void {
    if (this.#parts.steering.override === undefined) return;
    this.#parts.steering.setOverride(undefined, Infinity, this.#clock.nowMs());
    this.#parts.loop.steer();
  }

  async find(id: string): Promise<JobRecord | undefined> {
    const record = await asked(this.#clock, () => this.#queue.find(id));
    if (record?.state !== "running") return record;
    const worker = this.#parts.runner.workerOf(id);
    const progress = worker?.run?.reported;
    return {
      ...record,
      ...(progress === undefined ? {} : { progress }),
      ...(worker?.aborted === "cancelled" ? { cancelling: true } : {}),
    };
  }

  async list(query: JobQuery): Promise<JobPage> {
    return await asked(this.#clock, () => this.#queue.list(query));
  }

  async change(id: string, change: Change): Promise<Changed> {
    return await changed(this.#clock, () => this.#change(id, change));
  }

  /** Waits until nothing is left to do, at most `forMs`. How many jobs are left. */
  async slice(forMs: number): Promise<number> {
    const untilMs = this.#clock.nowMs() + forMs;
    await this.#schedules.looked();
    await look(this.#queue, this.#clock.nowMs());
    this.#parts.loop.schedule();
    for (;;) {
      const left = jobsLeft(this.#parts, untilMs);
      const restMs = untilMs - this.#clock.nowMs();
      if (left === 0 || restMs <= 0 || this.#parts.drain.begun) return left;
      await pause(this.#clock, Math.min(restMs, SLICE_LOOK_MS));
    }
  }

  async drain(deadlineMs: number = this.settings.drainMs): Promise<StopReport> {
    this.#schedules.close();
    return await this.#parts.drain.run(deadlineMs);
  }

  /** Another holder changed something. */
  wake(): void {
    this.#parts.loop.wake();
  }

  /** A job that runs here was cancelled. */
  cancelled(id: string): void {
    const nowMs = this.#clock.nowMs();
    const { dispatch, runner, loop } = this.#parts;
    if (!dispatch.drop(id, nowMs)) runner.abort(id, "cancelled", nowMs);
    loop.schedule();
  }

  /** A job ended while it waited. */
  expired(record: JobRecord): void {
    const { lane, id, error, reason = "expired" } = record;
    const own = this.#parts.state.lanes.find(({ name }) => name === lane);
    if (own !== undefined) own.dead[reason]++;
    this.#emit({ kind: "job-dead", lane, id, reason, error, serviceMs: undefined });
  }

  async #change(id: string, change: Change): Promise<Changed> {
    const nowMs = this.#clock.nowMs();
    const changed = await this.#queue.change(id, change, nowMs);
    if (changed.ok && changed.state === "cancelled" && this.#hub.active) {
      const lane = this.#queue.laneOf?.(id) ?? (await this.#queue.find(id))?.lane ?? "";
      this.#emit({ kind: "job-cancelled", lane, id });
    }
    if (changed.ok) this.#parts.loop.arrived();
    return changed;
  }

  /** The job that a refused one is a duplicate of. @throws {RejectedError} If it is none. */
  #turnAway(refused: Refused): MaybePromise<Added> {
    const known = knownJob(this.#queue, refused, this.#clock);
    return isPromise(known)
      ? known.then((job) => this.#knownOr(refused, job))
      : this.#knownOr(refused, known);
  }

  #knownOr(refused: Refused, known: Added | undefined): Added {
    if (known?.error !== undefined) throw known.error;
    if (known !== undefined) return known;
    throw this.#parts.intake.turnAway(refused, this.#clock.nowMs());
  }

  #take(job: NewJob): MaybePromise<Added> {
    const nowMs = this.#clock.nowMs();
    const { intake } = this.#parts;
    const entry = intake.check(job, nowMs);
    const refused = intake.refusal(job, entry);
    return refused === undefined ? this.#add(entry, nowMs) : this.#turnAway(refused);
  }

  #add(entry: JobEntry, nowMs: number): Added | Promise<Added> {
    const lane = this.#parts.state.lanes[entry.lane]!;
    let answer: MaybePromise<readonly Added[]>;
    try {
      answer = this.#queue.add([entry], nowMs);
    } catch (thrown) {
      return Promise.reject(this.#storeFailed(thrown));
    }
    if (!isPromise(answer)) return this.#taken(lane, entry, answer[0]!);
    lane.adding++;
    this.#parts.loop.adding();
    return answer.then((all) => this.#taken(lane, entry, all[0]!), (thrown) => {
      throw this.#storeFailed(thrown);
    }).finally(() => lane.addedLate());
  }

  /** @throws {Error} If the store cannot take the entry. */
  #taken(lane: Lane, entry: JobEntry, added: Added): Added {
    if (added.error !== undefined) throw added.error;
    this.#added(lane, entry, added);
    return added;
  }

  /** A fault of the store is not one of the job, whatever the store throws. */
  #storeFailed(thrown: unknown): StoreError {
    this.#parts.guard.refused();
    return new StoreError(thrown);
  }

  #added(lane: Lane, { dueAtMs, key }: JobEntry, added: Added): void {
    if (added.error !== undefined) return;
    this.#parts.guard.took();
    if (added.duplicate) return;
    lane.traffic.arrivals++;
    this.#parts.state.traffic.arrivals++;
    if (this.#hub.active) {
      this.#emit({ kind: "job-added", lane: lane.name, id: added.id, dueAtMs, key });
    }
    this.#parts.loop.arrived();
  }

  #emit(event: EventDetails): void {
    if (!this.#hub.active) return;
    this.#hub.emit({ ...event, atMs: this.#clock.nowMs(), pool: this.name });
  }
}

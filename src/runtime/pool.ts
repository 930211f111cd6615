/**
 * One running pool, as its users hold it.
 *
 * @module
 */

import { type Adoption, prepareAdoption } from "./adopt.ts";
import { storeCall, storeChange } from "./store_call.ts";
import { assemble, type PoolContext, type PoolParts } from "./assemble.ts";
import { checkedCount, checkedList, checkMs, checkScheduleChange } from "./called.ts";
import { type Clock, wallMs } from "../time/clock.ts";
import type { Decision } from "../contract/decision.ts";
import { diagnose, type Finding } from "../explain/diagnose.ts";
import { storeFailing } from "../explain/diagnose/process.ts";
import type { Traits, UseTraits } from "../explain/diagnose/finding.ts";
import { Calls } from "./calls.ts";
import { Enqueuing } from "./enqueuing.ts";
import { JobAccess } from "./job_access.ts";
import type { History } from "../planning/history.ts";
import type { LoadRecord } from "../planning/load_record.ts";
import { StoreError } from "../contract/errors.ts";
import type { JobRecord, NewJob } from "../contract/job.ts";
import { checkOverride, OverrideError } from "./override.ts";
import { randomStream } from "../base/random.ts";
import { waitOut } from "./slice.ts";
import { decisionByWall, historyByWall, snapshotOf } from "./by_wall.ts";
import { handedEntry, type HandedJob, type Taker } from "./takers.ts";
import { type ScheduleChange, Schedules } from "./schedules.ts";
import type { PoolSettings } from "../config/settings.ts";
import type {
  JobHandle,
  Override,
  PoolHandle,
  PoolSnapshot,
  RunOptions,
  ScheduleView,
  StopReport,
} from "./handles.ts";
import type {
  Added,
  Change,
  Changed,
  JobEntry,
  JobPage,
  JobQuery,
  Queue,
} from "../contract/store.ts";
import type { LaneCounters } from "../planning/lane_counters.ts";

/** A pool that has rested for this long has nothing wrong to show, ms. */
const OVER_AFTER_MS = 60_000;

/** One running pool, as its users and its store see it. */
export class Pool implements PoolHandle, Taker {
  readonly name: string;
  readonly #queue: Queue;
  readonly #clock: Clock;
  readonly #context: PoolContext;
  readonly #parts: PoolParts;
  readonly #schedules: Schedules;
  readonly #enqueuing: Enqueuing;
  readonly #jobs: JobAccess;
  readonly #calls: Calls;

  /** Wires the parts; nothing runs before `begin`. */
  constructor(settings: PoolSettings, queue: Queue, context: PoolContext) {
    this.name = settings.name;
    this.#context = context;
    this.#queue = queue;
    this.#clock = context.clock;
    this.#parts = assemble(settings, queue, context);
    const { core } = this.#parts;
    this.#jobs = new JobAccess({ ...core, ...this.#parts });
    this.#enqueuing = new Enqueuing({ ...core, ...this.#parts });
    this.#calls = new Calls({
      ...core,
      ...this.#parts,
      enqueuing: this.#enqueuing,
      jobs: this.#jobs,
    });
    const add = async (entry: JobEntry): Promise<Added> =>
      (await this.#enqueuing.addAll([entry], core.now()))[0]!; // one for each
    const random = randomStream(context.seed, `${this.name}/schedules`);
    this.#schedules = new Schedules({ ...core, store: context.store, add, random });
  }

  get settings(): PoolSettings {
    return this.#parts.state.settings;
  }

  /** Reads what is shared. */
  async load(): Promise<void> {
    await this.#parts.pauses.load();
    await this.#parts.permits.join();
    await this.#parts.cooldown.join();
  }

  /** Makes the first plan, starts the minimum. */
  begin(): void {
    this.#parts.loop.open();
    if (this.#parts.state.worked) this.#parts.sizes.open();
    this.#schedules.open();
    this.#parts.handingOn.open();
    this.#context.takers.enter(this);
  }

  /** Leaves the queue without having begun. */
  async abandon(): Promise<void> {
    this.#parts.cooldown.leave();
    await this.#parts.permits.leave();
    await this.#queue.leave(wallMs(this.#clock));
  }

  /** Makes all that other settings need. Nothing changes before the answer is applied. */
  async prepare(settings: PoolSettings): Promise<Adoption> {
    const adoption = await prepareAdoption(this.#parts, settings, this.#context);
    return {
      commit: () => {
        adoption.commit();
        this.#schedules.adopt();
        this.#parts.handingOn.look();
      },
    };
  }

  /** Why other settings cannot be applied now. `undefined`: they can. */
  get reloadHindrance(): string | undefined {
    return this.#parts.drain.begun
      ? `Pool "${this.name}" is draining: stop, then start with the new config`
      : undefined;
  }

  /** True if lanes, `leaseMs` and `keep` may change while it runs. */
  get isReopenable(): boolean {
    return this.#queue.reopen !== undefined;
  }

  /**
   * Counts the jobs of all lanes again.
   *
   * @throws {StoreError} If the store fails at it, or does not answer in time.
   */
  async count(): Promise<void> {
    const isKnown = await storeCall(this.#clock, () => this.#parts.counting.fresh());
    if (!isKnown) {
      const what = `The jobs of pool "${this.name}" cannot be counted`;
      throw new StoreError(undefined, `${what}: reload once the store answers`);
    }
  }

  /** Jobs of a lane that have not ended, or may not have. */
  jobsIn(lane: string): number {
    return this.#parts.state.lanes.find(({ name }) => name === lane)?.unfinished ?? 0;
  }

  snapshot(): PoolSnapshot {
    const { state, loop, cooldown } = this.#parts;
    const nowMs = state.at(this.#clock.nowMs());
    cooldown.look(nowMs);
    if (loop.rests) state.rested(nowMs); // else its last rates would stand
    return snapshotOf(this.#parts, this.#schedules.views);
  }

  counts(lane?: string): ReturnType<PoolHandle["counts"]> {
    const lanes = this.#parts.state.lanes.filter(({ name }) => lane === undefined || name === lane);
    const sum = (state: "ready" | "blocked" | "delayed" | "running"): number =>
      lanes.reduce((total, { counts }) => total + counts[state], 0);
    const { done, dead } = (lane === undefined ? this.#queue.kept : undefined) ?? {};
    return {
      ready: sum("ready"),
      blocked: sum("blocked"),
      delayed: sum("delayed"),
      running: sum("running"),
      done,
      dead,
    };
  }

  explain(limit = 20): readonly Decision[] {
    const decisions = this.#parts.steering.log.newest(checkedCount("limit", limit));
    return decisions.map((decision) => decisionByWall(decision, this.#aheadMs));
  }

  tally(): readonly LaneCounters[] {
    return this.#parts.state.lanes.map((lane) => lane.tally());
  }

  history(): History {
    return historyByWall(this.#parts.steering.history.shown(this.settings), this.#aheadMs);
  }

  recentLoad(forMs?: number): LoadRecord | undefined {
    const { steering, state } = this.#parts;
    const load = steering.load.read(state.at(this.#clock.nowMs()), state.lanes, forMs);
    return load && { ...load, fromMs: load.fromMs + this.#aheadMs };
  }

  diagnosis(): readonly Finding[] {
    const { steering, state, guard, drain } = this.#parts;
    const nowMs = state.at(this.#clock.nowMs());
    const trouble = guard.trouble(nowMs);
    // Jobs wait since it drains, or for other processes: no bound is to be raised.
    if (drain.begun || !state.worked) return storeFailing(trouble);
    // A pool at rest takes no samples: what its past shows would never end.
    const restsForMs = steering.quiet ? nowMs - steering.history.sampledAtMs : 0;
    if (restsForMs >= OVER_AFTER_MS) return storeFailing(trouble);
    const { controller, admission, caps, lanePolicy } = this.settings;
    const { constant = false } = controller.plugin ?? {};
    const { sheds = false } = admission.plugin ?? {};
    const tries = caps.filter(({ bound }) => bound.plugin?.tries).map(({ bound }) => bound.name);
    const uses = usesIn(this.settings);
    const traits = { constant, tries, sheds, uses, lanePolicy: lanePolicy.name };
    const found = diagnose(steering.history.read(this.settings), traits, trouble);
    // No job waits for a worker then: only how attempts have ended says anything still.
    return restsForMs < OVER_AFTER_MS / 2 ? found : found.filter(({ code }) => code === "failing");
  }

  enqueue(job: NewJob): Promise<JobHandle> {
    return this.#enqueuing.enqueue(job);
  }

  run(job: NewJob, options?: RunOptions): Promise<unknown> {
    return this.#calls.run(job, options);
  }

  async enqueueAll(jobs: readonly NewJob[]): Promise<readonly (JobHandle | Error)[]> {
    return await this.#enqueuing.enqueueAll(checkedList(jobs));
  }

  /** Stores jobs that other lanes hand on, past admission. */
  async take(jobs: readonly HandedJob[]): Promise<readonly Added[]> {
    const { core, state } = this.#parts;
    const entries = jobs.map((job) => handedEntry(job, state, core.now()));
    return await this.#enqueuing.addAll(entries, core.now());
  }

  /** A pool has begun to take jobs: some may wait for it. */
  takerCame(): void {
    this.#parts.handingOn.look();
  }

  post(job: NewJob): void {
    this.#enqueuing.post(job);
  }

  async pause(lane?: string): Promise<void> {
    if (lane !== undefined) this.#parts.intake.lane(lane);
    await storeChange(this.#clock, async () => {
      await this.#parts.pauses.set(lane, true);
      this.#emit("paused", lane);
    });
  }

  async resume(lane?: string): Promise<void> {
    if (lane !== undefined) this.#parts.intake.lane(lane);
    await storeChange(this.#clock, async () => {
      await this.#parts.pauses.set(lane, false);
      this.#emit("resumed", lane);
      this.#parts.loop.arrived();
    });
  }

  closeBreaker(key?: string): Promise<boolean> {
    return storeChange(this.#clock, () => {
      const closing = this.#parts.cooldown.close(key, this.#clock.nowMs());
      this.#parts.loop.arrived();
      return closing;
    });
  }

  override(bounds: Override, expiresInMs: number): void {
    if (!this.#parts.state.worked) {
      throw new OverrideError(
        `Pool "${this.name}" is not worked here: override it in a process that works it`,
      );
    }
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

  async schedules(): Promise<readonly ScheduleView[]> {
    return await this.#schedules.read();
  }

  async changeSchedule(id: string, change: ScheduleChange): Promise<ScheduleView | undefined> {
    checkScheduleChange(id, change);
    return await storeChange(this.#clock, () => this.#schedules.change(id, change));
  }

  find(id: string): Promise<JobRecord | undefined> {
    return this.#jobs.find(id);
  }

  list(query: JobQuery): Promise<JobPage> {
    return this.#jobs.list(query);
  }

  change(id: string, change: Change): Promise<Changed> {
    return this.#jobs.change(id, change);
  }

  /** Waits until nothing is left to do, at most `forMs`. How many jobs are left. */
  async slice(forMs: number): Promise<number> {
    const untilMs = this.#clock.nowMs() + forMs;
    await this.#schedules.looked();
    await this.#parts.handingOn.looked();
    return await waitOut(this.#parts, this.#clock, untilMs);
  }

  async drain(deadlineMs: number = this.settings.drainMs): Promise<StopReport> {
    checkMs("deadlineMs", deadlineMs);
    this.#schedules.close();
    this.#parts.sizes.close();
    this.#context.takers.leave(this);
    try {
      return await this.#parts.drain.run(deadlineMs);
    } finally {
      await this.#parts.handingOn.close();
      this.#enqueuing.close();
    }
  }

  /** The wall clock was set, by this many ms. */
  stepped(byMs: number): void {
    if (this.#parts.drain.ended) return;
    this.#parts.sizes.adopt();
    this.#parts.steering.resized();
    this.#parts.loop.adopt();
    this.#schedules.stepped(byMs);
  }

  /** Another member changed something. */
  wake(): void {
    this.#parts.loop.wake();
  }

  /** Jobs are about to be stored, and may be leased with that. */
  adding(): void {
    this.#parts.loop.schedule();
  }

  /** A job that runs here was cancelled. */
  cancelled(id: string): void {
    this.#jobs.cancelled(id);
  }

  /** A job ended while it waited. */
  expired(record: JobRecord): void {
    this.#jobs.expired(record);
    if (record.state === "dead") this.#parts.handingOn.look();
  }

  get #aheadMs(): number {
    return this.#parts.state.wall.aheadMs;
  }

  #emit(kind: "paused" | "resumed", lane: string | undefined): void {
    const { hub } = this.#context;
    if (hub.watched) hub.emit({ kind, lane, atMs: this.#clock.nowMs(), pool: this.name });
  }
}

/** What a pool says that it uses of downstreams. */
function usesIn({ caps, cooldowns }: PoolSettings): Traits["uses"] {
  const uses = new Map<string, UseTraits>();
  for (const name of cooldowns.keys()) {
    uses.set(name, { each: 1, connections: false, rates: false });
  }
  for (const { shared } of caps) {
    if (shared === undefined) continue;
    const { downstream, what, each } = shared;
    const known = uses.get(downstream) ?? { connections: false, rates: false };
    uses.set(downstream, { ...known, each, [what]: true });
  }
  return uses;
}

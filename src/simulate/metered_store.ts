/**
 * One process's door to the store: it counts what goes through, and it can fail.
 *
 * @module
 */

import type { JobRecord, Outcome } from "../contract/job.ts";
import { isPromise } from "../runtime/store_guard.ts";
import type {
  Added,
  Change,
  Changed,
  JobEntry,
  JobPage,
  JobQuery,
  LaneCounts,
  Leased,
  MaybePromise,
  Queue,
  QueueListener,
  QueueOptions,
  Renewal,
  Settlement,
  StateEntry,
  Store,
} from "../contract/store.ts";
import type { PoolMeter } from "./meter.ts";

/** What a door is opened with. */
export interface DoorOptions {
  /** Counts by pool. */
  readonly meters: ReadonlyMap<string, PoolMeter>;
  /** Reads the clock. */
  readonly nowMs: () => number;
  /** True while the store answers with errors. */
  readonly fails: () => boolean;
  /** True once the process has died. */
  readonly dead: () => boolean;
  /** What a request answers, as late as the store is. Omitted: at once. */
  readonly later?: (<T>(answer: MaybePromise<T>) => MaybePromise<T>) | undefined;
  /** Name of the process. */
  readonly process: string;
  /** True for a process that is certain to have died. */
  readonly isGone: (process: string) => boolean;
}

/** The store as one process has it. */
export class MeteredStore implements Store {
  readonly #store: Store;
  readonly #options: DoorOptions;
  readonly #later: NonNullable<DoorOptions["later"]>;

  /** Wraps `store`, which others share and nobody closes. */
  constructor(store: Store, options: DoorOptions) {
    this.#store = store;
    this.#options = options;
    this.#later = options.later ?? ((answer) => answer);
  }

  get process(): string {
    return this.#options.process;
  }

  isGone(process: string): boolean {
    return this.#options.isGone(process);
  }

  async open(options: QueueOptions): Promise<MeteredQueue> {
    const meter = this.#options.meters.get(options.pool)!; // only pools with a load are started
    const listener = listen(options.listener, meter, this.#options);
    return new MeteredQueue(await this.#store.open({ ...options, listener }), meter, this.#options);
  }

  get(key: string): MaybePromise<StateEntry | undefined> {
    return this.#later(this.#store.get(key));
  }

  commit(
    checks: Readonly<Record<string, string | undefined>>,
    sets: Readonly<Record<string, unknown>>,
  ): MaybePromise<boolean> {
    return this.#later(this.#store.commit(checks, sets));
  }

  close(): void {}
}

/** A dead process hears nothing. */
function listen(
  to: QueueListener,
  meter: PoolMeter,
  { dead, process, isGone }: DoorOptions,
): QueueListener {
  return {
    gone: () => isGone(process),
    wake: () => dead() || to.wake(),
    cancelled: (id) => dead() || to.cancelled(id),
    ended: (record: JobRecord) => {
      meter.lane(record.lane).dead++;
      if (!dead()) to.ended(record);
    },
  };
}

/** The queue of one pool as one process has it. */
export class MeteredQueue implements Queue {
  /** Of the store in memory, that all simulations use: it knows more than the head, if it answers at once. */
  readonly readyAtMs?: NonNullable<Queue["readyAtMs"]>;
  readonly holdsKeyRates: boolean;
  readonly holdsDedupe: boolean;
  readonly #queue: Queue;
  readonly #meter: PoolMeter;
  readonly #options: DoorOptions;
  readonly #later: NonNullable<DoorOptions["later"]>;

  /** Wraps `queue`. */
  constructor(queue: Queue, meter: PoolMeter, options: DoorOptions) {
    this.#queue = queue;
    this.#meter = meter;
    this.#options = options;
    this.#later = options.later ?? ((answer) => answer);
    this.holdsKeyRates = queue.holdsKeyRates === true;
    this.holdsDedupe = queue.holdsDedupe === true;
    if (options.later === undefined) {
      this.readyAtMs = (lane, earlier) => this.#queue.readyAtMs?.(lane, earlier);
    }
  }

  add(entries: readonly JobEntry[], nowMs: number): MaybePromise<readonly Added[]> {
    this.#check();
    return this.#later(this.#queue.add(entries, nowMs));
  }

  lease(
    wants: readonly number[],
    nowMs: number,
    ahead?: readonly number[],
  ): MaybePromise<readonly Leased[]> {
    this.#check();
    return this.#later(this.#queue.lease(wants, nowMs, ahead));
  }

  settle(settlements: readonly Settlement[], nowMs: number): MaybePromise<readonly boolean[]> {
    this.#check();
    const answer = this.#queue.settle(settlements, nowMs);
    return this.#later(
      isPromise(answer)
        ? answer.then((accepted) => this.#settled(settlements, accepted))
        : this.#settled(settlements, answer),
    );
  }

  renew(nowMs: number, steadyMs?: number): MaybePromise<Renewal> {
    this.#check();
    return this.#later(this.#queue.renew(nowMs, steadyMs));
  }

  count(nowMs: number, anew?: boolean): MaybePromise<readonly LaneCounts[]> {
    this.#check();
    return this.#later(this.#queue.count(nowMs, anew));
  }

  readySince(lane: number, atMs: number): number {
    return this.#queue.readySince(lane, atMs);
  }

  find(id: string): MaybePromise<JobRecord | undefined> {
    this.#check();
    return this.#later(this.#queue.find(id));
  }

  list(query: JobQuery): MaybePromise<JobPage> {
    this.#check();
    return this.#later(this.#queue.list(query));
  }

  change(id: string, change: Change, nowMs: number): MaybePromise<Changed> {
    this.#check();
    return this.#later(this.#queue.change(id, change, nowMs));
  }

  outcome(job: { readonly id: string }): Promise<Outcome> {
    return this.#queue.outcome(job);
  }

  leave(nowMs: number): MaybePromise<void> {
    return this.#queue.leave(nowMs);
  }

  #check(): void {
    if (this.#options.dead()) throw new Error("The process has died");
    if (this.#options.fails()) throw new Error("The scenario makes the store fail");
  }

  #settled(
    settlements: readonly Settlement[],
    accepted: readonly boolean[],
  ): readonly boolean[] {
    for (let index = 0; index < settlements.length; index++) {
      if (accepted[index]) this.#count(settlements[index]!);
    }
    return accepted;
  }

  #count({ job, to, reason }: Settlement): void {
    const lane = this.#meter.lanes[job.laneIndex]!;
    if (to === "done") {
      lane.done++;
      lane.sojourns.add(this.#options.nowMs() - job.createdAtMs);
    } else if (to === "dead" && reason === "late") lane.shed++;
    else if (to === "dead") lane.dead++;
  }
}

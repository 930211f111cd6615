/**
 * The state of one running pool, and the view that strategies have of it.
 *
 * @module
 */

import type { DeadReason, DownstreamCall } from "../contract/job.ts";
import { Lane } from "./lane.ts";
import { LiveMeter } from "../planning/extremes.ts";
import { PoolFace } from "./pool_face.ts";
import { Traffic } from "./traffic.ts";
import type { PoolSettings } from "../config/settings.ts";
import type { Leased, Queue } from "../contract/store.ts";
import type {
  DownstreamUse,
  PoolView,
  Signal,
  Totals,
  WindowStats,
  WorkerView,
} from "../contract/view.ts";
import type { Wall } from "../time/wall.ts";
import type { Worker } from "./worker.ts";

/** Counts since the pool began; `busyMs` moves on with the state's time. */
class LiveTotals implements Totals {
  starts = 0;
  serviceMs = 0;
  serviceMsSq = 0;
  deferrals = 0;
  overloads = 0;
  readonly #state: PoolState;
  #running = 0;
  #busyMs = 0;
  #sinceMs: number;

  constructor(state: PoolState) {
    this.#state = state;
    this.#sinceMs = state.nowMs;
  }

  get arrivals(): number {
    return this.#state.traffic.arrivals;
  }
  get completions(): number {
    return this.#state.traffic.completions;
  }
  get failures(): number {
    return this.#state.traffic.failures;
  }
  get shed(): number {
    return this.#state.traffic.shed;
  }
  get busyMs(): number {
    return this.#busyMs + this.#running * (this.#state.nowMs - this.#sinceMs);
  }

  /** Records that `change` more workers run a job. */
  busy(nowMs: number, change: number): void {
    this.#busyMs += this.#running * (nowMs - this.#sinceMs);
    this.#sinceMs = nowMs;
    this.#running += change;
  }
}

/** One pool's state. Each part of the runtime changes only what it owns; strategies only read. */
export class PoolState implements PoolView {
  readonly pool: string;
  /** What the pool runs with: other settings after a reload. */
  settings: PoolSettings;
  /** Not frozen: V8 runs loops over a frozen list ten times slower, and each start has some. */
  lanes: readonly Lane[];
  /** The lanes as strategies get them: a list that cannot be changed. */
  shownLanes: readonly Lane[];
  readonly workers: readonly Worker[];
  readonly totals: LiveTotals;
  readonly traffic: Traffic;
  /** How many workers there were between two samples. */
  readonly workerTime: LiveMeter;
  /** Live workers. Owned by the crew. */
  live = 0;
  /** Workers with other states. Owned by the crew. */
  starting = 0;
  retiring = 0;
  stuck = 0;
  /** Workers of pools that have ended, whose handlers run on. Owned by the runner. */
  orphans = 0;
  /** Live workers that run a job, as the crew counts them. */
  busyLive = 0;
  /** Slots given to lanes by a dispatch under way. Owned by dispatch. */
  planned = 0;
  /** Jobs that are being leased ahead of their start. Owned by dispatch. */
  ahead = 0;
  /** Jobs that are leased and have not started. Owned by dispatch. */
  held = 0;
  /** Leases that the store gave nothing for. Owned by dispatch. */
  emptyLeases = 0;
  /** How long leases take, nearly the least of late, ms. 0: they come at once. Owned by dispatch. */
  leaseMs = 0;
  /** Ticks that came so late that the event loop was blocked, and how late they came, ms. Owned by the loop. */
  loopBlocks = 0;
  loopBlockedMs = 0;
  /** Owned by steering. */
  target: number;
  limit: number;
  startsPerSec = Infinity;
  size: { readonly min: number; readonly max: number };
  peers = 1;
  signals: Readonly<Record<string, Signal>> = {};
  /** Owned by dispatch. */
  rateBound = false;
  /** Owned by the cool-down. */
  holdUntilMs = 0;
  heldBy = "";
  openKeys = 0;
  /** What jobs say that they have used. */
  readonly used: UseCount[] = [];
  /** True once the age of a lane was read that the store does not know before what is planned is leased. */
  guessed = false;
  /** Owned by the store guard. */
  stale = false;
  /** What strategies get. */
  readonly face: PoolView;
  /** What the store's times go by. */
  readonly wall: Wall;
  /** False: this process runs none of its jobs. */
  readonly worked: boolean;
  readonly #queue: Queue;
  readonly #workers: Worker[] = [];
  #shownWorkers: readonly Worker[] | undefined;
  #nowMs: number;

  /** Begins with no workers. */
  constructor(
    settings: PoolSettings,
    queue: Queue,
    { nowMs, wall, worked = true }: PoolStateOptions,
  ) {
    this.wall = wall;
    this.worked = worked;
    this.pool = settings.name;
    this.settings = settings;
    this.#nowMs = nowMs;
    this.size = worked ? Object.freeze({ ...settings.size }) : NO_WORKERS;
    this.target = this.size.min;
    this.limit = worked ? settings.size.max : Infinity; // nothing binds it: it grows nowhere
    this.lanes = settings.lanes.map((lane, index) => new Lane(lane, index, this, queue));
    this.shownLanes = Object.freeze([...this.lanes]);
    this.totals = new LiveTotals(this);
    this.traffic = new Traffic(nowMs);
    this.workerTime = new LiveMeter(nowMs);
    this.workers = this.#workers;
    this.#queue = queue;
    this.face = new PoolFace(this);
  }

  /** A job has used a downstream. */
  use(downstream: string, { ms = 0, ok = true }: DownstreamCall): void {
    let use = this.used.find((one) => one.downstream === downstream);
    if (use === undefined) {
      if (this.used.length === MOST_USED) return;
      this.used.push(use = { downstream, calls: 0, failed: 0, ms: 0 });
    }
    use.calls++;
    if (!ok) use.failed++;
    if (ms > 0 && ms < Infinity) use.ms += ms;
  }

  /** The workers as strategies get them: a list that cannot be changed. */
  get shownWorkers(): readonly Worker[] {
    return this.#shownWorkers ??= Object.freeze([...this.#workers]);
  }

  /** Adds a worker that starts. */
  addWorker(worker: Worker): void {
    this.#workers.push(worker);
    this.#shownWorkers = undefined;
  }

  /** Removes a worker that has left. */
  removeWorker(worker: Worker): void {
    this.#workers.splice(this.#workers.indexOf(worker), 1);
    this.#shownWorkers = undefined;
  }

  get window(): WindowStats {
    return this.traffic.window;
  }

  get busy(): number {
    return this.busyLive + this.planned;
  }

  get idle(): number {
    return this.live - this.busy;
  }

  /** Workers of every state: what counts against caps. */
  get total(): number {
    return this.live + this.starting + this.retiring + this.stuck + this.orphans;
  }

  /** Claimable jobs over all lanes. */
  get ready(): number {
    let ready = 0;
    for (const lane of this.lanes) ready += lane.ready;
    return ready;
  }

  /** Goes on with other settings: lanes of a known name go on, others begin. */
  adopt(settings: PoolSettings): void {
    const known = new Map(this.lanes.map((lane) => [lane.name, lane]));
    this.settings = settings;
    this.lanes = settings.lanes.map((own, index) => {
      const lane = known.get(own.name);
      if (lane === undefined) return new Lane(own, index, this, this.#queue);
      lane.adopt(own, index);
      return lane;
    });
    this.shownLanes = Object.freeze([...this.lanes]);
  }

  /** Counts a job that ended without a worker of this pool. */
  ended(named: string, how: DeadReason | "cancelled"): void {
    const lane = this.lanes.find(({ name }) => name === named);
    if (lane === undefined) return;
    if (how === "cancelled") lane.cancelled++;
    else lane.dead[how]++;
  }

  /** The lane of a leased job: lanes may have moved while it was on its way. `undefined`: it has none here. */
  laneOf(job: Leased): Lane | undefined {
    const lane = this.lanes[job.laneIndex];
    if (lane !== undefined && lane.name === job.lane) return lane;
    return this.lanes.find(({ name }) => name === job.lane);
  }

  readyOlderThan(ageMs: number): number {
    const atMs = this.nowMs - ageMs;
    const wallMs = this.wall.at(atMs);
    let count = 0;
    for (const lane of this.lanes) {
      if (lane.ready === 0) continue;
      if (lane.resumedAtMs > atMs) continue;
      count += Math.min(lane.ready, this.#queue.readySince(lane.index, wallMs));
    }
    return count;
  }

  get nowMs(): number {
    return this.#nowMs;
  }

  /** It is `nowMs` now: all ages that strategies see are by that. */
  at(nowMs: number): number {
    this.#nowMs = nowMs;
    return nowMs;
  }

  /** Notes what is there, at the beginning of each turn. */
  look(): void {
    this.workerTime.look(this.#nowMs, this.live);
    for (const lane of this.lanes) lane.look();
  }

  /** Ends a slot of all rates and windows. */
  update(nowMs: number): void {
    this.traffic.update(nowMs);
    for (const lane of this.lanes) lane.update(nowMs);
  }

  /** Decays rates and windows over an idle gap without ticks. */
  rested(nowMs: number): void {
    this.traffic.rested(nowMs);
    for (const lane of this.lanes) lane.rested(nowMs);
  }
}

/** What a state begins with. */
interface PoolStateOptions {
  readonly nowMs: number;
  readonly wall: Wall;
  readonly worked?: boolean;
}

/** Bounds of a pool that is not worked here. */
export const NO_WORKERS: { readonly min: number; readonly max: number } = Object.freeze({
  min: 0,
  max: 0,
});

/** What is counted of one downstream. */
type UseCount = { -readonly [Key in keyof DownstreamUse]: DownstreamUse[Key] };

/** Most downstreams that are counted. */
const MOST_USED = 100;

/** A frozen copy of its view. `readyOlderThan` then knows only the head of each lane. */
export function freeze(view: PoolState): PoolView {
  const lanes = view.lanes.map((lane) => lane.freeze());
  return Object.freeze({
    pool: view.pool,
    nowMs: view.nowMs,
    lanes: Object.freeze(lanes),
    workers: Object.freeze(view.workers.map(freezeWorker)),
    live: view.live,
    busy: view.busy,
    idle: view.idle,
    target: view.target,
    size: Object.freeze({ ...view.size }),
    limit: view.limit,
    rateBound: view.rateBound,
    holdUntilMs: view.holdUntilMs,
    heldBy: view.heldBy,
    openKeys: view.openKeys,
    used: Object.freeze(view.used.map((use) => Object.freeze({ ...use }))),
    startsPerSec: view.startsPerSec,
    totals: Object.freeze({
      arrivals: view.totals.arrivals,
      starts: view.totals.starts,
      completions: view.totals.completions,
      failures: view.totals.failures,
      shed: view.totals.shed,
      serviceMs: view.totals.serviceMs,
      serviceMsSq: view.totals.serviceMsSq,
      busyMs: view.totals.busyMs,
      deferrals: view.totals.deferrals,
      overloads: view.totals.overloads,
    }),
    window: view.traffic.freezeWindow(),
    peers: view.peers,
    stale: view.stale,
    signals: Object.freeze({ ...view.signals }),
    readyOlderThan: (ageMs: number) =>
      lanes.filter(({ ready, paused, oldestWaitMs }) =>
        ready > 0 && !paused && oldestWaitMs >= ageMs
      ).length,
  });
}

function freezeWorker(worker: WorkerView): WorkerView {
  const { id, state, startedAtMs, sinceMs, jobsDone } = worker;
  return Object.freeze({ id, state, startedAtMs, sinceMs, jobsDone });
}

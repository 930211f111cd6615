/**
 * Counts what happens in one pool, over all its processes.
 *
 * @module
 */

import type { PoolView } from "../contract/view.ts";
import { Durations } from "./quantiles.ts";
import type { ScenarioPool } from "./read_scenario.ts";
import { type LanePoint, Series, type SeriesPoint } from "./series.ts";
import { WorkerSeries } from "./worker_series.ts";

/** Counts of one lane. A job that arrived is done, dead, shed or left. */
export class LaneMeter {
  /** Jobs that arrived, whatever came of them. */
  arrived = 0;
  /** Attempts that started. */
  started = 0;
  /** Jobs done. */
  done = 0;
  /** Jobs dead, those dropped as late excepted. */
  dead = 0;
  /** Jobs rejected, or dropped as late. */
  shed = 0;
  /** Attempts that run now. */
  running = 0;
  /** From due to started. */
  readonly waits: Durations = new Durations();
  /** From arrived to done. */
  readonly sojourns: Durations = new Durations();
  #seen = { arrived: 0, done: 0, dead: 0, shed: 0 };
  #longestMs = 0;

  /** Takes the wait of an attempt that starts in. */
  waited(ms: number): void {
    this.waits.add(ms);
    if (ms > this.#longestMs) this.#longestMs = ms;
  }

  /** What came since the last sample. @param ageMs Wait of the oldest due job now. `null`: not known. */
  sample(ageMs: number | null): LanePoint {
    const { arrived, done, dead, shed } = this;
    const seen = this.#seen;
    const longestMs = this.#longestMs;
    this.#seen = { arrived, done, dead, shed };
    this.#longestMs = 0;
    return {
      arrived: arrived - seen.arrived,
      done: done - seen.done,
      dead: dead - seen.dead,
      shed: shed - seen.shed,
      ageMs: ageMs === null && longestMs === 0 ? null : Math.max(longestMs, ageMs ?? 0),
    };
  }
}

/** What one process's pool looks like from outside: a view that is read at any time. */
export interface Watched {
  /** The pool's live view. `undefined`: its controller has not been asked yet, or it is dead. */
  view: PoolView | undefined;
}

/** What time it is. */
export interface MeterTimes {
  /** ms since the beginning. */
  readonly now: () => number;
  /** The beginning, ms since epoch. */
  readonly startMs: number;
  /** How long the run is planned to take, ms. */
  readonly spanMs: number;
}

/** Counts of one pool. */
export class PoolMeter {
  /** By lane of the config, in its order. */
  readonly lanes: readonly LaneMeter[];
  /** Worker count over time. */
  readonly workers: WorkerSeries;
  /** What else is seen over time. */
  readonly series: Series;
  readonly #byName: ReadonlyMap<string, LaneMeter>;
  readonly #watched: Watched[] = [];
  readonly #now: () => number;
  readonly #startMs: number;
  #looking = false;

  /** Begins with no counts. */
  constructor({ settings }: ScenarioPool, { now, startMs, spanMs }: MeterTimes) {
    this.lanes = settings.lanes.map(() => new LaneMeter());
    this.#byName = new Map(settings.lanes.map(({ name }, index) => [name, this.lanes[index]!]));
    this.#now = now;
    this.#startMs = startMs;
    this.workers = new WorkerSeries();
    this.series = new Series(spanMs);
  }

  /** Counts of the lane of that name. */
  lane(name: string): LaneMeter {
    return this.#byName.get(name)!; // the pool has checked the name
  }

  /** Begins to watch one more process. */
  watch(): Watched {
    const watched = { view: undefined };
    this.#watched.push(watched);
    return watched;
  }

  /** Looks at the worker counts once what runs now has ended. */
  lookSoon(): void {
    if (this.#looking) return;
    this.#looking = true;
    queueMicrotask(() => {
      this.#looking = false;
      this.look();
    });
  }

  /** Looks at the worker counts. */
  look(): void {
    let workers = 0;
    for (const { view } of this.#watched) workers += view?.workers.length ?? 0;
    this.workers.look(this.#now(), workers);
  }
  /** Looks at all that is seen over time. */
  sample(): SeriesPoint {
    const views = this.#watched.flatMap(({ view }) => view === undefined ? [] : [view]);
    return {
      min: sumOf(views, ({ size }) => size.min),
      limit: sumOf(views, ({ limit }) => limit),
      lanes: this.lanes.map((lane, index) => lane.sample(this.#ageMs(views, index))),
    };
  }

  /** Processes share the store: what one of them has not counted yet, another may have. */
  #ageMs(views: readonly PoolView[], index: number): number | null {
    const ages = views.map(({ nowMs, lanes }) => {
      const { ready, oldestWaitMs, blocked, oldestBlockedMs } = lanes[index]!; // those of the config
      if (ready + blocked === 0) return 0;
      const sinceMs = this.#startMs + this.#now() - nowMs;
      return Math.max(ready === 0 ? 0 : oldestWaitMs, oldestBlockedMs) + sinceMs;
    });
    return ages.length === 0 ? null : Math.max(...ages);
  }
}

function sumOf(views: readonly PoolView[], read: (view: PoolView) => number): number | null {
  return views.length === 0 ? null : views.reduce((sum, view) => sum + read(view), 0);
}

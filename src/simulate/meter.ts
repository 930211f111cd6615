/**
 * Counts what happens in one pool, over all its processes.
 *
 * @module
 */

import type { PoolView } from "../view.ts";
import { Durations } from "./quantiles.ts";
import type { Pool } from "./read_scenario.ts";
import { WorkerSeries } from "./worker_series.ts";

/** Counts of one lane. A job that arrived is done, failed, shed or left. */
export class LaneMeter {
  /** Jobs that arrived, whatever came of them. */
  arrived = 0;
  /** Attempts that started. */
  started = 0;
  /** Jobs done. */
  done = 0;
  /** Jobs dead, those dropped as late excepted. */
  failed = 0;
  /** Jobs turned away or dropped as late. */
  shed = 0;
  /** Attempts that run now. */
  running = 0;
  /** From claimable to started. */
  readonly waits: Durations = new Durations();
  /** From arrived to done. */
  readonly sojourns: Durations = new Durations();
}

/** What one process's pool looks like from outside: a view that is read at any time. */
export interface Watched {
  /** The pool's live view. `undefined`: its controller has not been asked yet, or it is dead. */
  view: PoolView | undefined;
}

/** Counts of one pool. */
export class PoolMeter {
  /** By lane of the config, in its order. */
  readonly lanes: readonly LaneMeter[];
  /** Worker count over time. */
  readonly workers: WorkerSeries;
  readonly #byName: ReadonlyMap<string, LaneMeter>;
  readonly #watched: Watched[] = [];
  readonly #now: () => number;
  #looking = false;

  /** `now`: ms since the beginning. */
  constructor({ settings }: Pool, now: () => number) {
    this.lanes = settings.lanes.map(() => new LaneMeter());
    this.#byName = new Map(settings.lanes.map(({ name }, index) => [name, this.lanes[index]!]));
    this.#now = now;
    this.workers = new WorkerSeries();
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
}

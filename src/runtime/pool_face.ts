/**
 * The face of a running pool that strategies get: what they write to it changes nothing.
 *
 * @module
 */

import type {
  DownstreamUse,
  LaneView,
  PoolView,
  Signal,
  Totals,
  WindowStats,
  WorkerView,
} from "../contract/view.ts";

/** What a face shows. */
interface FacedState extends PoolView {
  /** The lanes and workers, in lists that cannot be changed. */
  readonly shownLanes: readonly LaneView[];
  readonly shownWorkers: readonly WorkerView[];
}

/** Reads through to a pool's state. It has no setters, so a strategy that assigns to it throws, and fails. */
export class PoolFace implements PoolView {
  readonly #state: FacedState;

  /** The face of one state, for as long as that lives. */
  constructor(state: FacedState) {
    this.#state = state;
    Object.freeze(this);
  }

  get pool(): string {
    return this.#state.pool;
  }
  get nowMs(): number {
    return this.#state.nowMs;
  }
  get lanes(): readonly LaneView[] {
    return this.#state.shownLanes;
  }
  get workers(): readonly WorkerView[] {
    return this.#state.shownWorkers;
  }
  get live(): number {
    return this.#state.live;
  }
  get busy(): number {
    return this.#state.busy;
  }
  get idle(): number {
    return this.#state.idle;
  }
  get target(): number {
    return this.#state.target;
  }
  get size(): PoolView["size"] {
    return this.#state.size;
  }
  get limit(): number {
    return this.#state.limit;
  }
  get rateBound(): boolean {
    return this.#state.rateBound;
  }
  get heldBy(): string {
    return this.#state.heldBy;
  }

  get used(): readonly DownstreamUse[] {
    return this.#state.used;
  }

  get holdUntilMs(): number {
    return this.#state.holdUntilMs;
  }
  get openKeys(): number {
    return this.#state.openKeys;
  }
  get startsPerSec(): number {
    return this.#state.startsPerSec;
  }
  get totals(): Totals {
    return this.#state.totals;
  }
  get window(): WindowStats {
    return this.#state.window;
  }
  get peers(): number {
    return this.#state.peers;
  }
  get stale(): boolean {
    return this.#state.stale;
  }
  get signals(): Readonly<Record<string, Signal>> {
    return this.#state.signals;
  }

  readyOlderThan(ageMs: number): number {
    return this.#state.readyOlderThan(ageMs);
  }
}

/**
 * What people and the system did since the process began: kept for those who look later.
 *
 * @module
 */

import type { Observer, PoolEvent } from "../../contract/event.ts";

/** Events that are kept of each kind: one that comes often pushes out no other. */
const KEPT_OF_KIND = 200;

/** Which events are wanted. */
export interface TrailFilter {
  /** Names of pools; events about no single pool pass too. Empty: all. */
  readonly pools: readonly string[];
  /** Kinds of events. Empty: all. */
  readonly kinds: readonly string[];
  /** Only those since then, ms since epoch. */
  readonly sinceMs: number;
  /** Most of them, the latest. */
  readonly limit: number;
}

/** What an action through the admin API brings about: one line says both. */
const CAUSED: Readonly<Record<string, PoolEvent["kind"]>> = {
  "pause": "paused",
  "resume": "resumed",
  "override": "override-set",
  "override-end": "override-ended",
};

interface Kept {
  /** Tells the order in which events came: times are equal, or set back. */
  readonly number: number;
  readonly event: PoolEvent;
}

/** Keeps what comes with no job and no decision. */
export class EventTrail {
  /** Since when it is kept, ms since epoch. */
  readonly sinceMs: number;
  readonly #byKind = new Map<string, Kept[]>();
  #count = 0;

  /** Keeps from now on, until `signal` aborts. */
  constructor(
    observe: (observer: Observer) => () => void,
    nowMs: number,
    signal: AbortSignal,
  ) {
    this.sinceMs = nowMs;
    const unobserve = observe((event) => this.#take(event));
    signal.addEventListener("abort", unobserve, { once: true });
  }

  /** What is kept, newest first. */
  list({ pools, kinds, sinceMs, limit }: TrailFilter): readonly PoolEvent[] {
    const found = [...this.#byKind.values()].flat().filter(({ event: { atMs, kind, pool } }) =>
      atMs >= sinceMs && (kinds.length === 0 || kinds.includes(kind)) &&
      (pools.length === 0 || pool === "" || pools.includes(pool))
    );
    return found.sort((a, b) => b.number - a.number).slice(0, limit).map(({ event }) => event);
  }

  #take(event: PoolEvent): void {
    if (event.kind === "audit") this.#dropCausedBy(event);
    let kept = this.#byKind.get(event.kind);
    if (kept === undefined) this.#byKind.set(event.kind, kept = []);
    kept.push({ number: ++this.#count, event });
    if (kept.length > KEPT_OF_KIND) kept.shift();
  }

  #dropCausedBy({ action, pool }: PoolEvent & { readonly kind: "audit" }): void {
    const caused = this.#byKind.get(CAUSED[action] ?? "");
    const last = caused?.at(-1);
    if (last?.number === this.#count && last.event.pool === pool) caused?.pop();
  }
}

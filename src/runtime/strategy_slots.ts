/**
 * The strategies a pool runs with, and whether they work.
 *
 * @module
 */

import type { EventHub } from "./event_hub.ts";
import type { PoolCore } from "./pool_core.ts";
import type { PoolInstances } from "./instances.ts";
import { createPlanner, type Named, type NamedCap, type Planner } from "../planning/planner.ts";
import type { Admission, LanePolicy, Limit, Retirement } from "../contract/strategy.ts";

/** What a strategy is asked for. One plugin may stand in several slots, and an admission is asked two things. */
export type StrategyCall = "plan" | "lane" | "retire" | "submit" | "take";

/** The strategies of one pool. A failing one stays in its slot until it works again. */
export class StrategySlots {
  planner: Planner;
  lanePolicy: Named<LanePolicy>;
  retirement: Named<Retirement>;
  admission: Named<Admission>;
  /** What the slots were filled from. */
  instances: PoolInstances;
  readonly #lastLimits = new WeakMap<NamedCap, Limit>();
  readonly #failing = new Map<string, string>(); // name of the plugin by what it fails at
  readonly #pool: string;
  readonly #hub: EventHub;
  readonly #now: () => number;

  /** Fills the slots. */
  constructor({ state, hub, now }: PoolCore, instances: PoolInstances) {
    this.#pool = state.pool;
    this.#hub = hub;
    this.#now = now;
    this.instances = instances;
    this.planner = this.#plannerOf(instances);
    this.lanePolicy = instances.lanePolicy;
    this.retirement = instances.retirement;
    this.admission = instances.admission;
  }

  /** Fills the slots again. One that fails and is gone fails no more. */
  adopt(instances: PoolInstances): void {
    this.instances = instances;
    this.planner = this.#plannerOf(instances);
    this.lanePolicy = instances.lanePolicy;
    this.retirement = instances.retirement;
    this.admission = instances.admission;
    const { controller, lanePolicy, retirement, admission, caps } = instances;
    const names = new Set(
      [controller, lanePolicy, retirement, admission, ...caps].map(({ name }) => name),
    );
    for (const [part, name] of this.#failing) if (!names.has(name)) this.#failing.delete(part);
  }

  /** True while any strategy fails. */
  get degraded(): boolean {
    return this.#failing.size > 0;
  }

  /** A strategy threw or answered nonsense. Told once until it works again. */
  fails(question: StrategyCall, plugin: string, error: string): void {
    const part = `${question} ${plugin}`;
    if (this.#failing.has(part)) return;
    this.#failing.set(part, plugin);
    if (this.#hub.watched) {
      this.#hub.emit({ kind: "plugin-failed", atMs: this.#now(), pool: this.#pool, plugin, error });
    }
  }

  /** A strategy answered well. */
  works(question: StrategyCall, plugin: string): void {
    if (this.#failing.size === 0 || !this.#failing.delete(`${question} ${plugin}`)) return;
    if (this.#hub.watched) {
      this.#hub.emit({ kind: "plugin-recovered", atMs: this.#now(), pool: this.#pool, plugin });
    }
  }

  #plannerOf({ controller, caps }: PoolInstances): Planner {
    return createPlanner(controller, caps, this.#lastLimits);
  }
}

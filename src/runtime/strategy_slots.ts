/**
 * The strategies a pool runs with, and whether they work.
 *
 * @module
 */

import type { EventHub } from "./event_hub.ts";
import { createPlanner, type Named, type NamedCap, type Planner } from "../planner.ts";
import type { Bound, Instances, Kind, PluginContext } from "../plugin.ts";
import type { PoolSettings } from "../settings.ts";
import type { Admission, LanePolicy, Retirement } from "../strategy.ts";

/** Makes the context of one slot's plugin. */
export type ContextMaker = (slot: string) => PluginContext;

/** Instances of the strategies of one pool. A failing one stays in its slot until it works again. */
export class StrategySlots {
  readonly planner: Planner;
  readonly lanePolicy: Named<LanePolicy>;
  readonly retirement: Named<Retirement>;
  readonly admission: Named<Admission>;
  readonly #failing = new Set<string>();
  readonly #pool: string;
  readonly #hub: EventHub;
  readonly #now: () => number;

  /** Makes one instance a slot. */
  constructor(settings: PoolSettings, context: ContextMaker, hub: EventHub, now: () => number) {
    this.#pool = settings.name;
    this.#hub = hub;
    this.#now = now;
    const caps = settings.caps.map((cap, index): NamedCap => ({
      name: cap.bound.name,
      scope: cap.scope,
      run: cap.bound.create(context(`caps/${index}`)),
    }));
    this.planner = createPlanner(named(settings.controller, context("controller")), caps);
    this.lanePolicy = named(settings.lanePolicy, context("lanePolicy"));
    this.retirement = named(settings.retirement, context("retirement"));
    this.admission = named(settings.admission, context("admission"));
  }

  /** True while any strategy fails. */
  get degraded(): boolean {
    return this.#failing.size > 0;
  }

  /** A strategy threw or answered nonsense. Told once until it works again. */
  fails(plugin: string, error: string): void {
    if (this.#failing.has(plugin)) return;
    this.#failing.add(plugin);
    if (this.#hub.active) {
      this.#hub.emit({ kind: "plugin-failed", atMs: this.#now(), pool: this.#pool, plugin, error });
    }
  }

  /** A strategy answered well. */
  works(plugin: string): void {
    if (this.#failing.size === 0 || !this.#failing.delete(plugin)) return;
    if (this.#hub.active) {
      this.#hub.emit({ kind: "plugin-recovered", atMs: this.#now(), pool: this.#pool, plugin });
    }
  }
}

function named<K extends Kind>(bound: Bound<K>, context: PluginContext): Named<Instances[K]> {
  return { name: bound.name, run: bound.create(context) };
}

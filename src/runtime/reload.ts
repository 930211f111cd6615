/**
 * Reloads a config into pools that run: all of it, or nothing.
 *
 * @module
 */

import { agreeing, counted } from "../base/format.ts";
import type { Adoption } from "./adopt.ts";
import { storeCall } from "./store_call.ts";
import type { PoolContext } from "./assemble.ts";
import { diff, poolOf } from "../config/diff.ts";
import type { Resolution } from "../config/resolver.ts";
import { messageOf, StoreError } from "../contract/errors.ts";
import type { ConfigChange } from "../contract/event.ts";
import { makePool } from "./open_pool.ts";
import type { Pool } from "./pool.ts";
import type { PoolSettings, Settings } from "../config/settings.ts";

/** What runs. */
export interface Running {
  /** What it runs with. */
  readonly settings: Settings;
  /** Pools in config order. */
  readonly pools: readonly Pool[];
  /** What pools are made with. */
  readonly context: PoolContext;
}

/** What runs after a reload. */
export interface Reloaded extends Running {
  /** Pools that are configured no more and begin to drain. */
  readonly gone: readonly Pool[];
}

/** What a reload would change, as things stand: with what refuses it now. */
export function changesTo({ settings, pools }: Running, next: Settings): readonly ConfigChange[] {
  return diff(settings, next).map((change) => {
    const pool = pools.find((pool) => pool.name === poolOf(change));
    const hindrance = pool === undefined || change.refused
      ? undefined
      : hindranceOf(change, pool, settings);
    return hindrance === undefined ? change : { ...change, refused: true, effect: hindrance };
  });
}

/**
 * Counts the jobs of pools that are to lose a lane: whether it is empty is judged by that.
 *
 * @throws {StoreError} If the store fails at it, or does not answer in time.
 */
export async function countRemoved({ settings, pools }: Running, next: Settings): Promise<void> {
  const losing = new Set(
    diff(settings, next).filter(({ change, lane }) => change === "removed" && lane !== undefined)
      .map(poolOf),
  );
  await Promise.all(pools.filter(({ name }) => losing.has(name)).map((pool) => pool.count()));
}

/** A reload whose parts are made. Nothing has changed yet. */
export interface PreparedReload {
  /**
   * Puts all of it in effect, between two turns of the event loop.
   *
   * @throws {ConfigError} If a change is refused by what has happened meanwhile: nothing has changed.
   */
  commit(): Reloaded;
  /** Gives up what was made. */
  abandon(): Promise<void>;
}

/**
 * Makes all that is new.
 *
 * @throws {ConfigError} If a change is refused, or something cannot be made.
 * @throws {StoreError} If the store fails at it, or does not answer in time.
 */
export async function prepareReload(running: Running, next: Resolution): Promise<PreparedReload> {
  refuse(changesTo(running, next.settings), next);
  const { context } = running;
  const { kept, adoptions, opened, faults } = await madeInTime(running, next);
  if (faults.length > 0) {
    await abandon(opened, context);
    throw next.refusal(faults);
  }
  try {
    await countRemoved(running, next.settings); // others may have added jobs meanwhile
  } catch (thrown) {
    await abandon(opened, context);
    throw thrown;
  }
  return { commit, abandon: () => abandon(opened, context) };

  function commit(): Reloaded {
    refuse(changesTo(running, next.settings), next); // jobs may have come to a lane that goes
    for (const adoption of adoptions) adoption.commit();
    for (const pool of opened) pool.begin();
    const gone = running.pools.filter((pool) => !kept.has(pool.name));
    const byName = new Map([...running.pools, ...opened].map((pool) => [pool.name, pool]));
    const pools = next.settings.pools.map(({ name }) => byName.get(name)!); // kept or opened
    return { settings: next.settings, pools, context, gone };
  }
}

interface Made {
  /** Names of pools that go on. */
  readonly kept: ReadonlySet<string>;
  /** What is to change in them. */
  readonly adoptions: readonly Adoption[];
  /** Pools that are new. */
  readonly opened: readonly Pool[];
  /** What cannot be made. */
  readonly faults: readonly ConfigChange[];
}

/** Waits no longer than for anything else that is asked of the store. */
async function madeInTime(running: Running, next: Resolution): Promise<Made> {
  const { context } = running;
  const making = make(running, next);
  try {
    return await storeCall(context.clock, () => making);
  } catch (thrown) {
    // What is made too late is given up; a fault has been told.
    making.then(({ opened }) => abandon(opened, context), () => {});
    throw new StoreError(thrown, `${messageOf(thrown)}; the config was not loaded`);
  }
}

/** @throws {StoreError} If the store fails at it. */
async function make(running: Running, next: Resolution): Promise<Made> {
  const touched = new Set(diff(running.settings, next.settings).map(poolOf));
  const byName = new Map(running.pools.map((pool) => [pool.name, pool]));
  const kept = new Set<string>();
  const adoptions: Adoption[] = [];
  const opened: Pool[] = [];
  const faults: ConfigChange[] = [];
  for (const settings of next.settings.pools) {
    const pool = byName.get(settings.name);
    try {
      if (pool === undefined) opened.push(await makePool(settings, running.context));
      else {
        kept.add(pool.name);
        if (touched.has(pool.name)) adoptions.push(await pool.prepare(settings));
      }
    } catch (thrown) {
      if (thrown instanceof StoreError) {
        void abandon(opened, running.context); // it may take as long as the store likes
        throw thrown;
      }
      faults.push(faultOf(settings, thrown));
    }
  }
  return { kept, adoptions, opened, faults };
}

/** Gives up pools that have not begun. A store that fails at it lets their members lapse. */
async function abandon(pools: readonly Pool[], { clock, log }: PoolContext): Promise<void> {
  await Promise.all(pools.map(async (pool) => {
    try {
      await storeCall(clock, () => pool.abandon());
    } catch (thrown) {
      log.warn("A pool that a reload gave up has not left the store", {
        pool: pool.name,
        error: messageOf(thrown),
      });
    }
  }));
}

/** What a plugin threw: it begins with its pointer, if it has one. */
function faultOf({ name }: PoolSettings, thrown: unknown): ConfigChange {
  const [, pointer = `/pools/${name}`, effect = ""] =
    /^(?:(\/pools\/.*?): )?(.*)$/s.exec(messageOf(thrown)) ?? [];
  return { pointer, change: "changed", refused: true, effect };
}

function refuse(changes: readonly ConfigChange[], next: Resolution): void {
  const refused = changes.filter((change) => change.refused);
  if (refused.length > 0) throw next.refusal(refused);
}

function hindranceOf(
  { change, lane, pointer }: ConfigChange,
  pool: Pool,
  { store }: Settings,
): string | undefined {
  const [part, , laneKey] = pointer.split("/").slice(3);
  if (part === undefined) return undefined; // the pool itself: it drains
  if (pool.reloadHindrance !== undefined) return pool.reloadHindrance;
  const what = part === "lanes" ? laneKey ?? "lanes" : part;
  if (OPENED_WITH.has(what) && !pool.isReopenable) {
    return `The store "${store.name}" cannot change ${what} of a pool that runs: stop, then start with the new config`;
  }
  if (lane === undefined || change !== "removed") return undefined;
  const left = pool.jobsIn(lane);
  if (left === 0) return undefined;
  const jobs = `${counted(left, "job")}: stop sending there and let ${
    agreeing(left, "it", "them")
  } end`;
  return `Lane "${lane}" still holds ${jobs}, or cancel ${
    agreeing(left, "it", "them")
  }, then reload`;
}

/** What a queue is opened with. */
const OPENED_WITH: ReadonlySet<string> = new Set([
  "lanes",
  "maxRunningPerKey",
  "ratesPerKey",
  "attempts",
  "onDead",
  "then",
  "leaseMs",
  "keep",
]);

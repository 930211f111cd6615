/**
 * Where ends of jobs are handed on to: lanes that there are, from which none leads back.
 *
 * @module
 */

import { suggestion } from "../base/suggest.ts";
import { display, type FaultList, isRecord, type Path } from "./faults.ts";
import type { HandOnInput } from "./input.ts";
import { checkPlace } from "./schedules.ts";

const KEYS = ["onDead", "then"] as const;

/** What a pool says of all its lanes. */
export interface HandOns {
  /** Its name. */
  readonly pool: string;
  /** Where dead jobs lead to. */
  readonly onDead?: HandOnInput | undefined;
  /** Where done jobs lead to. */
  readonly then?: HandOnInput | undefined;
}

/** What a lane has that names nothing itself: what its pool names, unless that is this lane. */
export function handOnOf(
  handOns: HandOns,
  key: typeof KEYS[number],
  lane: string,
): HandOnInput | undefined {
  const target = handOns[key];
  return target?.pool === handOns.pool && target.lane === lane ? undefined : target;
}

/** One lane that leads to another. */
interface Edge {
  readonly from: string;
  readonly to: string;
  /** Where that is said. */
  readonly path: Path;
}

/** Checks `onDead` and `then` of all pools and lanes, as they stand there: others may have faults. */
export function checkHandOns(raw: unknown, faults: FaultList): void {
  const pools = new Map(Object.entries(isRecord(raw) ? raw : {}));
  const edges: Edge[] = [];
  for (const [name, pool] of pools) {
    if (!isRecord(pool)) continue;
    for (const key of KEYS) {
      const own = targetAt(pool[key], ["pools", name, key], pools, faults);
      for (const [index, lane] of listOf(pool.lanes).entries()) {
        if (!isRecord(lane) || typeof lane.name !== "string") continue;
        const path = ["pools", name, "lanes", index, key];
        const isOwn = lane[key] !== undefined;
        const target = isOwn
          ? targetAt(lane[key], path, pools, faults)
          : handOnOf({ pool: name, [key]: own }, key, lane.name);
        if (target === undefined) continue;
        const from = placeOf({ pool: name, lane: lane.name });
        edges.push({ from, to: placeOf(target), path: isOwn ? path : ["pools", name, key] });
      }
    }
  }
  refuseLoops(edges, faults);
}

/** What is said there, if it can be. Faults are added to the list, but those of its shape. */
function targetAt(
  raw: unknown,
  path: Path,
  pools: ReadonlyMap<string, unknown>,
  faults: FaultList,
): HandOnInput | undefined {
  if (!isRecord(raw)) return undefined;
  const { pool, lane } = raw;
  if (typeof pool !== "string" || pool === "" || typeof lane !== "string") return undefined;
  const target = pools.get(pool);
  if (!isRecord(target)) {
    const near = suggestion(pool, pools.keys());
    faults.add([...path, "pool"], () => `No pool is named ${display(pool)}${near}`);
    return undefined;
  }
  const names = listOf(target.lanes).flatMap((one) => isRecord(one) ? [String(one.name)] : []);
  const types = new Set(isRecord(target.handlers) ? Object.keys(target.handlers) : []);
  checkPlace(raw, { path, faults, lanes: new Set(names), types });
  return { pool, lane };
}

/** Ends that lead back to their own lane would lead on without end. */
function refuseLoops(edges: readonly Edge[], faults: FaultList): void {
  const next = Map.groupBy(edges, ({ from }) => from);
  const told = new Set<string>();
  for (const { from, to, path } of edges) {
    const way = wayTo(from, to, next);
    if (way === undefined || told.has(from)) continue;
    for (const lane of way) told.add(lane);
    const shown = [from, ...way].join(" → ");
    faults.add(path, `Expected a lane that does not lead back but received ${shown}`);
  }
}

/** The lanes from one to another. `undefined`: none leads there. */
function wayTo(
  goal: string,
  start: string,
  next: ReadonlyMap<string, readonly Edge[]>,
): readonly string[] | undefined {
  const ways = new Map<string, readonly string[]>([[start, [start]]]);
  for (const [at, way] of ways) { // those that are found meanwhile come too
    if (at === goal) return way;
    for (const { to } of next.get(at) ?? []) if (!ways.has(to)) ways.set(to, [...way, to]);
  }
  return undefined;
}

function placeOf({ pool, lane }: HandOnInput): string {
  return `"${pool}/${lane}"`;
}

function listOf(raw: unknown): readonly unknown[] {
  return Array.isArray(raw) ? raw : [];
}

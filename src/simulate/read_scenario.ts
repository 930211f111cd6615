/**
 * Reads a scenario for a config and finds all its faults at once.
 *
 * @module
 */

import type { InferOutput } from "valibot";
import { checkShape } from "../config/check.ts";
import { type FaultList, faultList, isRecord, type Path } from "../config/faults.ts";
import { readSource } from "../config/source.ts";
import type { LaneSettings, PoolSettings, Settings } from "../config/settings.ts";
import { suggestion } from "../base/suggest.ts";
import type { ScenarioInput } from "./scenario.ts";
import { percentilesIn } from "./chance.ts";
import { laneLoadShape, poolLoadShape, scenarioShape } from "./shape.ts";

/** The load of one lane, with every default filled in. */
export type ScenarioLane = InferOutput<typeof laneLoadShape> & {
  /** The lane that it is for. */
  readonly settings: LaneSettings;
};

/** The load of one pool. */
export interface ScenarioPool {
  /** The pool that it is for. */
  readonly settings: PoolSettings;
  /** Lanes that have a load, in config order. */
  readonly lanes: readonly ScenarioLane[];
}

/** A scenario with every default filled in. */
export type Scenario = Omit<InferOutput<typeof scenarioShape>, "pools"> & {
  /** Pools that have a load, in config order. */
  readonly pools: readonly ScenarioPool[];
};

/**
 * Reads a scenario.
 *
 * @param source Path or `file:` URL of a JSON file with comments, or the scenario itself.
 * @param settings What it is to be played on.
 * @throws {ConfigError} If there is any fault: all of them, in file order.
 */
export async function readScenario(
  source: string | URL | ScenarioInput,
  settings: Settings,
): Promise<Scenario> {
  const read = await readSource(source, "scenario");
  const faults = faultList(read);
  const scenario = read.broken ? undefined : readTop(read.value, settings, faults);
  if (scenario === undefined || faults.size > 0) throw faults.toError();
  return scenario;
}

function readTop(raw: unknown, settings: Settings, faults: FaultList): Scenario | undefined {
  const shape = checkShape(scenarioShape, raw, { path: [], faults });
  if (!isRecord(raw)) return undefined;
  const loads = isRecord(raw.pools) ? raw.pools : {};
  const names = settings.pools.map(({ name }) => name);
  for (const name of unknownOf(loads, names)) {
    const message = () => `No pool of the config is named "${name}"${suggestion(name, names)}`;
    faults.add(["pools", name], message, { at: "key" });
  }
  const pools = settings.pools.flatMap((pool) =>
    Object.hasOwn(loads, pool.name) ? [readPool(pool, loads[pool.name], faults)] : []
  );
  if (shape?.timerLateMs !== undefined) checkDuration(shape.timerLateMs, ["timerLateMs"], faults);
  return shape && { ...shape, pools };
}

function readPool(settings: PoolSettings, raw: unknown, faults: FaultList): ScenarioPool {
  const path = ["pools", settings.name];
  checkShape(poolLoadShape, raw, { path, faults });
  const loads = isRecord(raw) && isRecord(raw.lanes) ? raw.lanes : {};
  const names = settings.lanes.map(({ name }) => name);
  for (const name of unknownOf(loads, names)) {
    const message = () =>
      `No lane of pool "${settings.name}" is named "${name}"${suggestion(name, names)}`;
    faults.add([...path, "lanes", name], message, { at: "key" });
  }
  const lanes = settings.lanes.flatMap((lane) => {
    if (!Object.hasOwn(loads, lane.name)) return [];
    const here = [...path, "lanes", lane.name];
    const shape = checkShape(laneLoadShape, loads[lane.name], { path: here, faults });
    if (shape === undefined) return [];
    checkDuration(shape.serviceMs, [...here, "serviceMs"], faults);
    if (shape.arrivals) checkArrivals(shape.arrivals, [...here, "arrivals"], faults);
    return [{ ...shape, settings: lane }];
  });
  return { settings, lanes };
}

function unknownOf(loads: object, known: readonly string[]): readonly string[] {
  const names = new Set(known);
  return Object.keys(loads).filter((name) => !names.has(name));
}

function checkDuration(shape: ScenarioLane["serviceMs"], path: Path, faults: FaultList): void {
  if (shape.kind === "trace" && shape.runs.every((run) => run === null)) {
    const message = `Expected at least one run that is known but received ${
      shape.runs.length === 0 ? "none" : "null only"
    }`;
    faults.add([...path, "runs"], message);
  }
  if (shape.kind === "percentiles") checkPercentiles(shape, path, faults);
  if (shape.kind !== "uniform" || shape.min <= shape.max) return;
  faults.add([...path, "max"], `Expected at least min (${shape.min}) but received ${shape.max}`);
}

/** Two at least, and none is below a lower one. */
function checkPercentiles(
  shape: Extract<ScenarioLane["serviceMs"], { readonly kind: "percentiles" }>,
  path: Path,
  faults: FaultList,
): void {
  const given = percentilesIn(shape);
  if (given.length < 2) faults.add(path, "Expected p50 and a higher percentile, such as p99");
  const max = shape.max === undefined ? [] : [{ name: "max", ms: shape.max }];
  const all = [...given, ...max];
  const low = all.findIndex(({ ms }, index) => ms < (all[index - 1]?.ms ?? 0));
  if (low < 0) return;
  const [before, own] = [all[low - 1]!, all[low]!]; // the first is below none
  const message = `Expected at least ${before.name} (${before.ms}) but received ${own.ms}`;
  faults.add([...path, own.name], message);
}

function checkArrivals(
  shape: NonNullable<ScenarioLane["arrivals"]>,
  path: Path,
  faults: FaultList,
): void {
  if (shape.kind === "trace") {
    const late = shape.atMs.findIndex((atMs, index) => atMs < (shape.atMs[index - 1] ?? 0));
    if (late >= 0) faults.add([...path, "atMs", late], notRising(shape.atMs, late));
  }
  if (shape.kind !== "even" && shape.kind !== "poisson") return;
  const { perSec, phases } = shape;
  if (perSec === undefined && phases === undefined) {
    faults.add(path, 'Expected the key "perSec" or "phases" but both are missing');
  } else if (perSec !== undefined && phases !== undefined) {
    const message = 'Expected either "perSec" or "phases" but received both: remove one';
    faults.add([...path, "phases"], message, { at: "key" });
  }
  const untils = (phases ?? []).map(({ untilMs }) => untilMs);
  const late = untils.findIndex((untilMs, index) => untilMs <= (untils[index - 1] ?? 0));
  if (late >= 0) faults.add([...path, "phases", late, "untilMs"], notRising(untils, late));
}

function notRising(times: readonly number[], index: number): string {
  return `Expected a time after the one before (${times[index - 1]}) but received ${times[index]}`;
}

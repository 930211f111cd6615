/**
 * Caps that stop a pool, that a rate cannot be held by, or that never bind.
 *
 * @module
 */

import { agreeing, counted } from "../base/format.ts";
import { LONG_MS } from "../planning/start_window.ts";
import type { Bounds, CapBound } from "./bounds.ts";
import { type Concern, concern, figure, span } from "./concern.ts";
import type { LaneFacts, PoolFacts } from "./facts.ts";

/** Names of options that give a rate. */
const RATE_NAME = /per_?(second|sec|minute|min|hour)$|^rate|rate$|^(rps|qps)$/i;

/** Caps at odds with the floor, with each other, or with what they stand for. */
export function lintCaps(pool: PoolFacts, durable: boolean): readonly Concern[] {
  const each = pool.bounds.caps.flatMap((cap) => [
    ...rateByWorkers(pool, cap),
    ...rateBelowOneWorker(pool, cap),
    ...(rateUnused(pool, cap) ?? pool.lanes.flatMap((lane) => rateKept(pool, cap, lane))),
    ...connectionsShort(cap),
    ...rateForgotten(cap, durable),
  ]);
  return [...belowFloor(pool), ...each];
}

function belowFloor({ bounds: { workers, binder }, settings, path }: PoolFacts): Concern[] {
  const { min } = settings.size;
  if (workers === 0) {
    return [concern({
      code: "pool-stopped",
      severity: "warning",
      path: binder.path,
      message: `No job ever starts: ${binder.name} allows 0 workers`,
      formula: "workers = 0",
      numbers: { workers },
      change: `Let ${binder.name} allow 1 worker or more`,
    })];
  }
  if (workers >= min) return [];
  return [concern({
    code: "cap-below-min",
    severity: "warning",
    path: [...path, "size", "min"],
    message: `Of the ${
      counted(min, "worker")
    } of size.min ${binder.name} allows ${workers}: a cap wins`,
    formula: "workers < size.min",
    numbers: { workers, min },
    change: `Lower size.min to ${workers}, or raise ${binder.name}`,
  })];
}

/** A cap that is given a rate, but bounds workers only. */
function rateByWorkers(pool: PoolFacts, cap: CapBound): Concern[] {
  const name = Object.keys(cap.options).find((key) =>
    RATE_NAME.test(key) && typeof cap.options[key] === "number"
  );
  if (name === undefined || cap.startsPerSec < Infinity || cap.workers === Infinity) return [];
  const rate = Number(cap.options[name]);
  const serviceMs = runTimeFor(pool, cap);
  const perSec = serviceMs > 0 ? cap.workers * 1000 / serviceMs : Infinity;
  const makes = serviceMs > 0
    ? `make ${figure(perSec)}/s of ${figure(serviceMs)} ms jobs`
    : "make as many as jobs are short";
  return [concern({
    code: "rate-by-workers",
    severity: "warning",
    path: cap.path,
    message: `${upperFirst(cap.title)} is given ${name} ${figure(rate)} but bounds workers only: ` +
      `${cap.workers} ${cap.workers === 1 ? "worker" : "workers"} ${makes}`,
    formula: `workers x 1000 / serviceMs against ${name}`,
    numbers: { workers: cap.workers, serviceMs, perSec, [name]: rate },
    change: "Bound the starts too: let the cap answer startsPerSec",
  })];
}

function rateBelowOneWorker(pool: PoolFacts, cap: CapBound): Concern[] {
  const serviceMs = runTimeFor(pool, cap);
  const { startsPerSec } = cap;
  if (serviceMs === 0 || startsPerSec === 0 || startsPerSec >= 1000 / serviceMs) return [];
  const alone = 1000 / serviceMs;
  return [concern({
    code: "rate-below-one-worker",
    severity: "note",
    path: cap.path,
    message:
      `One worker alone starts ${counted(figure(alone), "job")}/s of ${figure(serviceMs)} ms: no ` +
      `worker count holds ${figure(startsPerSec)}/s, only the start rate of cap ` +
      `"${cap.name}" does`,
    formula: "startsPerSec < 1000 / serviceMs",
    numbers: { startsPerSec, serviceMs, alone },
    change: "None: keep the start rate, a worker bound in its place would exceed the API",
  })];
}

/** `undefined`: the pool as a whole has workers enough. */
function rateUnused(pool: PoolFacts, cap: CapBound): Concern[] | undefined {
  const serviceMs = runTimeFor(pool, cap);
  const { bounds } = pool;
  if (serviceMs === 0 || cap.startsPerSec === Infinity || bounds.workers === 0) return [];
  const perSec = bounds.workers * 1000 / serviceMs;
  if (tighterRate(bounds, cap) < cap.startsPerSec) return [];
  const rate = cap.startsPerSec;
  if (perSec >= rate) return undefined;
  const needed = Math.ceil(rate * serviceMs / 1000 - 1e-9);
  return [concern({
    code: "rate-unused",
    severity: "note",
    path: bounds.binder.path,
    message:
      `${upperFirst(cap.title)} lets ${counted(figure(rate), "job")}/s start but ${
        counted(bounds.workers, "worker")
      }, ` +
      `all that ${bounds.binder.name} allows, ${agreeing(bounds.workers, "makes", "make")} ${
        figure(perSec)
      }/s of ` +
      `${figure(serviceMs)} ms`,
    formula: "workers x 1000 / serviceMs < startsPerSec",
    numbers: { workers: bounds.workers, serviceMs, perSec, startsPerSec: rate },
    change: `Raise ${bounds.binder.name} to ${needed} to use the rate, or leave it unused`,
  })];
}

/** A lane whose backlog cannot use the rate, since the policy keeps workers for others. */
function rateKept(pool: PoolFacts, cap: CapBound, lane: LaneFacts): Concern[] {
  const { bounds, settings, path } = pool;
  const { name, maxRunning } = lane.settings;
  const serviceMs = lane.serviceMs > 0 ? lane.serviceMs : runTimeFor(pool, cap);
  const rate = cap.startsPerSec;
  const { alone } = lane.share;
  const perSec = alone * 1000 / serviceMs;
  const needed = Math.ceil(rate * serviceMs / 1000 - 1e-9);
  if (perSec >= rate || maxRunning <= alone || needed > bounds.workers) return [];
  return [concern({
    code: "rate-unused",
    severity: "note",
    path: [...path, "lanePolicy"],
    message:
      `${upperFirst(cap.title)} lets ${counted(figure(rate), "job")}/s start but lane policy ` +
      `"${settings.lanePolicy.name}" leaves lane "${name}" ${alone} of ${bounds.workers}: alone it ` +
      `makes ${figure(perSec)}/s of ${figure(serviceMs)} ms`,
    formula: "workers of the lane x 1000 / serviceMs < startsPerSec",
    numbers: { workers: alone, serviceMs, perSec, startsPerSec: rate },
    change: `Reserve ${needed - alone} fewer for other lanes, or raise ${bounds.binder.name} to ${
      bounds.workers + needed - alone
    }`,
  })];
}

/** What a store in memory, or a process by itself, knows of a long window is gone with the process. */
function rateForgotten({ title, path, windowMs, scope }: CapBound, durable: boolean): Concern[] {
  const isShared = scope === "cluster";
  if (windowMs <= LONG_MS || (durable && isShared)) return [];
  return [concern({
    code: "rate-forgotten",
    severity: "warning",
    path,
    message: `${upperFirst(title)} holds starts in any ${span(windowMs)}, but ` +
      `${isShared ? "the store is in memory" : 'its scope is "process"'}: a restart forgets them`,
    formula: "window > 10 s, and no store keeps it",
    numbers: { windowMs },
    change: isShared ? "Use a store that is kept, such as deno-kv" : 'Leave scope at "cluster"',
  })];
}

/** A derived cap is at least 1: one worker may hold more than there is. */
function connectionsShort({ name, path, options, workers }: CapBound): Concern[] {
  const { connections, perWorker, spare = 0 } = options; // what a worker holds, where the options of a cap say so
  if (workers === 0 || typeof connections !== "number" || typeof perWorker !== "number") return [];
  const left = connections - Number(spare);
  if (perWorker <= left) return [];
  const needed = perWorker + Number(spare);
  return [concern({
    code: "connections-short",
    severity: "warning",
    path: [...path, "with", "connections"],
    message: `A worker holds ${perWorker} connections but cap "${name}" leaves ${
      Math.max(0, left)
    } of ${connections}: the one worker that still runs takes more than its share`,
    formula: "perWorker > connections - spare",
    numbers: { connections, perWorker, spare: Number(spare), needed },
    change: `Raise connections to ${needed}, or lower ${Number(spare) > 0 ? "spare" : "perWorker"}`,
  })];
}

function tighterRate({ caps }: Bounds, than: CapBound): number {
  return Math.min(...caps.filter((cap) => cap !== than).map((cap) => cap.startsPerSec));
}

/** Expected run time, ms; what the cap itself was told where no lane says so. 0: not known. */
function runTimeFor({ serviceMs }: PoolFacts, { options }: CapBound): number {
  if (serviceMs > 0) return serviceMs;
  return typeof options.serviceMs === "number" ? options.serviceMs : 0;
}

function upperFirst(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}

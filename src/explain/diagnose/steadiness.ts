/**
 * A worker count that swings although the load does not, or that never moves.
 *
 * @module
 */

import { counted, duration } from "../../base/format.ts";
import type { History } from "../../planning/history.ts";
import { figure, type Finding, named, type Traits } from "./finding.ts";
import { latest, perSec, shareOf, type Window } from "./window.ts";

/** Over how long reversals are counted, and the load is compared. */
const SWING_MS = 110_000;
const PART_MS = 10_000;

/** More reversals a minute than this at a steady load are too many. */
const FEW = 3;

/** A swing of two workers, or of this share of them, costs nothing. */
const SMALL = 0.25;

/** A cap that binds for so large a part of the time is what moves the target. */
const MOSTLY = 0.5;

/** Jobs that run longer outlast what controllers look back on by default, ms. */
const LONG_JOBS_MS = 10_000;

/** One count for so long, under load, is a fixed pool. */
const SETTLED_MS = 600_000;

/** The target turns back again and again while as many jobs come as before. Trials of a cap are meant to. */
export function oscillation(history: History, { tries }: Traits): readonly Finding[] {
  const window = latest(history, SWING_MS);
  if (window === undefined || !isSteady(window)) return [];
  const trying = tries.map((cap) => `cap:${cap}`);
  if (shareOf(window, ({ boundBy }) => trying.includes(boundBy)) >= MOSTLY) return [];
  const { first, last, spanMs } = window;
  const minutes = spanMs / 60_000;
  const reversals = (last.reversals - first.reversals) / minutes;
  const targets = window.samples.map(({ target }) => target);
  const [low, high] = [Math.min(...targets), Math.max(...targets)];
  if (reversals <= FEW || high - low <= Math.max(2, SMALL * high)) return [];
  const changes = (last.changes - first.changes) / minutes;
  const arrivalsPerSec = perSec(window, ({ arrivals }) => arrivals);
  const { why, change, setting } = causeOf(window, history);
  return [{
    code: "oscillation",
    lane: undefined,
    saw:
      `${counted(figure(reversals), "reversal")} and ${
        counted(figure(changes), "change")
      } a minute between ` +
      `${low} and ${counted(high, "worker")} at a steady ${
        counted(figure(arrivalsPerSec), "job")
      }/s: ${why}`,
    change,
    setting,
    numbers: { reversals, changes, low, high, arrivalsPerSec },
  }];
}

interface Turning {
  readonly why: string;
  readonly change: string;
  readonly setting: string;
}

/** What makes the target turn back: a cap whose limit does, jobs that outlast the look-back, or the controller. */
function causeOf(
  window: Window,
  { controller }: History,
): Turning {
  const { samples, last } = window;
  const bound = samples.filter(({ target, limit }) => target === limit);
  const limits = bound.map(({ limit }) => limit);
  const flaps = bound.length >= samples.length / 4 && new Set(limits).size > 1;
  const binder = bound.find(({ boundBy }) => boundBy !== "size.max")?.boundBy;
  if (flaps && binder !== undefined) {
    const range = `${Math.min(...limits)} and ${Math.max(...limits)}`;
    return {
      why: `the limit of ${named(binder)} moves between ${range}`,
      change: `Steady ${named(binder)}: what it reads swings, or it answers too fast`,
      setting: binder,
    };
  }
  const longest = last.lanes.toSorted((a, b) => b.serviceMs - a.serviceMs)[0];
  if (longest !== undefined && longest.serviceMs > LONG_JOBS_MS) {
    return {
      why: `jobs of lane "${longest.name}" run ${duration(longest.serviceMs)}, longer than ` +
        `controller "${controller}" looks back`,
      change: `Raise size.min, or the look-back or idle time of controller "${controller}" above ` +
        "the run time",
      setting: "controller",
    };
  }
  return {
    why: `controller "${controller}" turns back by itself`,
    change: `Let controller "${controller}" shrink later or grow by less at a time: raise its ` +
      "look-back or idle time, or lower its step",
    setting: "controller",
  };
}

/** One worker count, above the minimum, for long, although jobs keep coming. */
export function fixedWouldDo(history: History, { constant }: Traits): readonly Finding[] {
  const window = latest(history, SETTLED_MS);
  if (window === undefined || constant) return [];
  const { first, last, spanMs } = window;
  const { target, size } = last;
  const same = last.changes === first.changes && target > size.min && target < last.limit;
  const loaded = shareOf(window, (sample, before) => sample.arrivals > before.arrivals) > 0.9;
  if (!same || !loaded) return [];
  const busy = (last.busyMs - first.busyMs) / spanMs;
  return [{
    code: "fixed-would-do",
    lane: undefined,
    saw: `For ${duration(spanMs)} always ${counted(target, "worker")}, ${
      figure(busy)
    } busy on average`,
    change:
      `Set size.min and size.max to ${target}: a fixed pool is simpler, unless you wait for ` +
      "a spike",
    numbers: { target, busy, min: size.min, max: size.max, spanMs },
  }];
}

/** True if no part of the window has many more arrivals than another, chance allowed for. */
function isSteady({ samples, first, spanMs }: Window): boolean {
  const parts = new Array<number>(Math.floor(spanMs / PART_MS)).fill(0);
  for (let index = 1; index < samples.length; index++) {
    const { atMs, arrivals } = samples[index]!;
    const part = Math.floor((atMs - first.atMs - 1) / PART_MS);
    if (part < parts.length) parts[part]! += arrivals - samples[index - 1]!.arrivals;
  }
  const mean = parts.reduce((sum, count) => sum + count, 0) / parts.length;
  const most = 0.3 * mean + 4 * Math.sqrt(mean); // counts of Poisson arrivals spread by the root of their mean
  return mean > 0 && Math.max(...parts) - Math.min(...parts) <= most;
}

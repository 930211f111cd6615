/**
 * What differs between two configs of one pool.
 *
 * @module
 */

import type { ConfigChange } from "../contract/event.ts";
import type { Bound } from "../contract/plugin.ts";
import type { CapSettings, PoolSettings, ScheduleSettings } from "./settings.ts";
import { diffLanes, sameLanes } from "./diff_lanes.ts";
import {
  changesByName,
  changesOf,
  differs,
  NEXT_TICK,
  sameBound,
  shownSlot,
} from "./diff_parts.ts";
import { toPointer } from "./faults.ts";

const SWAPPED = "Replaced between two ticks; no worker is touched";
const SHADOWED = "Replaced between two ticks; counts of the old one are reset";
const RENEWED = "Recreated for the new lanes: its memory is lost";
const HANDLED =
  "New workers run it; a busy worker ends its job with the old one and is then replaced";

/** Slots that are made for certain lanes: other lanes, another instance. */
const LANED = ["controller", "lanePolicy", "admission"] as const;

/** How a change of each part of a pool takes hold. Its keys are all that a pool has. */
const PARTS: Readonly<
  Record<
    keyof Omit<PoolSettings, "name">,
    (from: PoolSettings, to: PoolSettings) => readonly ConfigChange[]
  >
> = {
  handlers: (from, to) =>
    changesByName(from.handlers, to.handlers, {
      path: (type) =>
        type === "" ? ["pools", to.name, "handler"] : ["pools", to.name, "handlers", type],
      same: sameBound,
      show: shownSlot,
      effect: HANDLED,
    }),
  size: (from, to) =>
    changesOf(from.size, to.size, {
      path: ["pools", to.name, "size"],
      effects: () => NEXT_TICK,
    }),
  sizes: (from, to) =>
    changesOf({ sizes: from.sizes }, { sizes: to.sizes }, {
      path: ["pools", to.name],
      effects: () => NEXT_TICK,
    }),
  lanes: diffLanes,
  routes: (from, to) =>
    changesOf({ routes: from.routes }, { routes: to.routes }, {
      path: ["pools", to.name],
      effects: () => "Holds for new jobs that name no lane; jobs that wait stay in their lane",
    }),
  controller: slot("controller"),
  shadow: diffShadow,
  lanePolicy: slot("lanePolicy"),
  caps: (from, to) => [...diffCaps(from, to), ...diffUses(from, to)],
  cooldown: (from, to) =>
    from.cooldown === undefined || to.cooldown === undefined
      ? changesOf({ cooldown: from.cooldown ?? false }, { cooldown: to.cooldown ?? false }, {
        path: ["pools", to.name],
        effects: () => "Applies at once: jobs that a circuit breaker holds may start",
      })
      : changesOf(from.cooldown, to.cooldown, {
        path: ["pools", to.name, "cooldown"],
        effects: (key) =>
          key === "by"
            ? "Applies at once: circuit breakers that are open close"
            : "Holds from the next refusal on",
      }),
  cooldowns: (from, to) =>
    changesByName(from.cooldowns, to.cooldowns, {
      path: (name) => ["pools", to.name, "uses", name],
      same: (old, own) => !differs(old, own),
      show: (rules) => ({ cooldown: rules }),
      effect: "Holds from the next refusal on; without it jobs that the breaker holds may start",
    }),
  retirement: slot("retirement"),
  admission: slot("admission"),
  signals: (from, to) =>
    changesByName(from.signals, to.signals, {
      path: (name) => ["pools", to.name, "signals", name],
      same: (old, reader) => old === reader,
      show: (reader) => reader.name || "[function]",
      effect: "Read before the next tick, which comes at once",
    }),
  schedules: diffSchedules,
  tickMs: numbers("tickMs", NEXT_TICK),
  leaseMs: numbers("leaseMs", "Holds from the next renewal on"),
  timeoutMs: numbers("timeoutMs", "Holds for jobs that start from now on"),
  timeoutMsByType: (from, to) =>
    changesOf(from.timeoutMsByType, to.timeoutMsByType, {
      path: ["pools", to.name, "timeoutMsByType"],
      effects: () => "Holds for jobs that start from now on",
    }),
  drainMs: numbers("drainMs", "Holds for the next stop"),
  keep: (from, to) =>
    changesOf(from.keep, to.keep, {
      path: ["pools", to.name, "keep"],
      effects: () => "Applies at once: jobs beyond it are deleted",
    }),
};

/** Compares two configs of one pool. */
export function diffPool(from: PoolSettings, to: PoolSettings): readonly ConfigChange[] {
  return Object.values(PARTS).flatMap((part) => part(from, to));
}

/**
 * For each new cap, the old one that serves on: the same plugin with the same options and scope.
 * `undefined`: it is recreated.
 */
export function matchCaps(
  from: readonly CapSettings[],
  to: readonly CapSettings[],
): readonly (number | undefined)[] {
  const free = new Set(from.keys());
  return to.map((cap) => {
    const found = [...free].find((index) => {
      const old = from[index];
      return old !== undefined && old.scope === cap.scope &&
        old.shared?.downstream === cap.shared?.downstream && sameBound(old.bound, cap.bound);
    });
    if (found !== undefined) free.delete(found);
    return found;
  });
}

function diffSchedules(from: PoolSettings, to: PoolSettings): readonly ConfigChange[] {
  const named = ({ schedules }: PoolSettings): ReadonlyMap<string, ScheduleSettings> =>
    new Map(schedules.map((schedule, index) => [String(index), schedule]));
  return changesByName(named(from), named(to), {
    path: (index) => ["pools", to.name, "schedules", Number(index)],
    same: (old, own) => !differs(old, own),
    show: (schedule) => schedule,
    effect: "Runs at its next time; unchanged schedules continue",
  });
}

/** What a pool uses of named downstreams, and what those bear. */
function diffUses(from: PoolSettings, to: PoolSettings): readonly ConfigChange[] {
  const named = ({ caps }: PoolSettings): ReadonlyMap<string, readonly CapSettings[]> =>
    Map.groupBy(caps.filter(({ shared }) => shared !== undefined), (cap) => cap.shared!.downstream); // see above
  return changesByName(named(from), named(to), {
    path: (name) => ["pools", to.name, "uses", name],
    same: (old, own) =>
      old.length === own.length && old.every(({ bound }, at) => sameBound(bound, own[at]!.bound)), // as long
    show: (caps) => Object.assign({}, ...caps.map(({ bound }) => bound.given)),
    effect: "Planned with at once; while processes know of different numbers, the least holds",
  });
}

function diffCaps(from: PoolSettings, to: PoolSettings): readonly ConfigChange[] {
  return diffListed(listed(from), listed(to), to.name);
}

/** The caps that stand in the list of that name. */
function listed({ caps }: PoolSettings): readonly CapSettings[] {
  return caps.filter(({ shared }) => shared === undefined);
}

function diffListed(
  from: readonly CapSettings[],
  to: readonly CapSettings[],
  pool: string,
): readonly ConfigChange[] {
  const matches = matchCaps(from, to);
  const pointer = (index: number): string => toPointer(["pools", pool, "caps", index]);
  const rest = { refused: false, effect: SWAPPED };
  const order = matches.filter((match) => match !== undefined);
  const before = order.toSorted((a, b) => a - b); // a cap that is only elsewhere because others go has not moved
  const free = new Set(from.keys().filter((index) => !matches.includes(index)));
  const changes = to.flatMap((cap, index): readonly ConfigChange[] => {
    const match = matches[index];
    if (match !== undefined && order.indexOf(match) === before.indexOf(match)) {
      const [old, own] = [from[match]!, cap]; // `match` is one of its indices
      return changesOf({ reportMs: old.reportMs }, { reportMs: own.reportMs }, {
        path: ["pools", pool, "caps", index],
        effects: () => "Holds from the next report on",
      });
    }
    const shown = { to: shownCap(cap), ...rest };
    if (match !== undefined) {
      return [{ pointer: pointer(index), change: "moved", from: match, to: index, ...rest }];
    }
    const old = from[index];
    return old !== undefined && free.delete(index)
      ? [{ pointer: pointer(index), change: "changed", from: shownCap(old), ...shown }]
      : [{ pointer: pointer(index), change: "added", ...shown }];
  });
  const removed = [...free].map((index): ConfigChange => ({
    pointer: pointer(index),
    change: "removed",
    from: shownCap(from[index]!), // `free` holds its indices
    ...rest,
  }));
  return [...changes, ...removed];
}

function shownCap({ bound, scope }: CapSettings): unknown {
  const slot = shownSlot(bound);
  return typeof slot === "string" ? { use: slot, scope } : { ...slot, scope };
}

/** What it remembers, and what was counted, is lost with it. */
function diffShadow(from: PoolSettings, to: PoolSettings): readonly ConfigChange[] {
  const [old, own] = [from.shadow, to.shadow];
  const shown = {
    pointer: toPointer(["pools", to.name, "shadow", "controller"]),
    ...(old === undefined ? {} : { from: shownSlot(old) }),
    ...(own === undefined ? {} : { to: shownSlot(own) }),
    refused: false,
  };
  if (old === undefined || own === undefined) {
    if (old === own) return [];
    const effect = "Compared with the controller from the next tick, or no longer";
    return [{ ...shown, change: own === undefined ? "removed" : "added", effect }];
  }
  if (!sameBound(old, own)) return [{ ...shown, change: "changed", effect: SHADOWED }];
  return sameLanes(from, to) ? [] : [{ ...shown, change: "renewed", effect: RENEWED }];
}

function slot(
  key: "controller" | "lanePolicy" | "retirement" | "admission",
): (from: PoolSettings, to: PoolSettings) => readonly ConfigChange[] {
  const isLaned = LANED.some((name) => name === key);
  return (from, to) => {
    const pointer = toPointer(["pools", to.name, key]);
    const [old, own]: [Bound, Bound] = [from[key], to[key]];
    const shown = { pointer, from: shownSlot(old), to: shownSlot(own), refused: false };
    if (!sameBound(old, own)) return [{ ...shown, change: "changed", effect: SWAPPED }];
    if (!isLaned || sameLanes(from, to)) return [];
    return [{ ...shown, change: "renewed", effect: RENEWED }];
  };
}

function numbers(
  key: "tickMs" | "leaseMs" | "timeoutMs" | "drainMs",
  effect: string,
): (from: PoolSettings, to: PoolSettings) => readonly ConfigChange[] {
  return (from, to) =>
    changesOf({ [key]: from[key] }, { [key]: to[key] }, {
      path: ["pools", to.name],
      effects: () => effect,
    });
}

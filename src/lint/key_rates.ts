/**
 * Rates by key that run times leave unused, or that a restart forgets.
 *
 * @module
 */

import { slotsOf } from "../base/key_starts.ts";
import { counted } from "../base/format.ts";
import { keyRateOf } from "../planning/key_rate.ts";
import { LONG_MS } from "../planning/start_window.ts";
import { type Concern, concern, figure, span } from "./concern.ts";
import type { LaneFacts, PoolFacts } from "./facts.ts";

/** Rates of keys against how many jobs of one may run, and against what the store keeps. */
export function lintKeyRates({ lanes }: PoolFacts, durable: boolean): readonly Concern[] {
  return lanes.flatMap((lane) => [...unused(lane), ...forgotten(lane, durable)]);
}

/** A start counts until its job has ended, too: long jobs hold the rate up. */
function unused({ settings, serviceMs, path }: LaneFacts): Concern[] {
  const { name, maxRunningPerKey, ratesPerKey } = settings;
  const slots = slotsOf(maxRunningPerKey, ratesPerKey.map(keyRateOf));
  const rate = Math.min(...ratesPerKey.map(({ calls, perMs }) => calls * 1000 / perMs));
  const perSec = serviceMs > 0 ? slots * 1000 / serviceMs : Infinity;
  if (ratesPerKey.length === 0 || perSec >= rate) return [];
  const needed = Math.ceil(rate * serviceMs / 1000 - 1e-9);
  const isByRate = slots < maxRunningPerKey;
  return [concern({
    code: "key-rate-unused",
    severity: "note",
    path: [...path, isByRate ? "ratesPerKey" : "maxRunningPerKey"],
    message: `Lane "${name}" lets a key start ${counted(figure(rate), "job")}/s but run ` +
      `${slots} at once: of ${figure(serviceMs)} ms that is ${figure(perSec)}/s`,
    formula: "slots x 1000 / serviceMs < starts per second",
    numbers: { slots, serviceMs, perSec, rate, needed },
    change: isByRate
      ? `Give the rate as more calls in a longer window, and let ${needed} start at once by burst`
      : `Raise maxRunningPerKey to ${needed}, or leave the rate unused`,
  })];
}

function forgotten({ settings, path }: LaneFacts, durable: boolean): Concern[] {
  const windowMs = Math.max(0, ...settings.ratesPerKey.map(({ perMs }) => perMs));
  if (durable || windowMs <= LONG_MS) return [];
  return [concern({
    code: "rate-forgotten",
    severity: "warning",
    path: [...path, "ratesPerKey"],
    message:
      `Lane "${settings.name}" holds starts of a key in any ${span(windowMs)}, but the store ` +
      "is in memory: a restart forgets them",
    formula: "window > 10 s, and no store keeps it",
    numbers: { windowMs },
    change: "Use a store that is kept, such as deno-kv",
  })];
}

/**
 * Findings: what is wrong with a pool, in numbers, and what to change.
 *
 * @module
 */

import { grouped } from "../../base/format.ts";

/** What the plugins of a pool say of themselves, as far as findings depend on it. */
export interface Traits {
  /** Name of its lane policy. */
  readonly lanePolicy: string;
  /** True: its controller asks for one worker count, whatever comes. */
  readonly constant: boolean;
  /** Names of its caps that try other sizes to see what comes of them. */
  readonly tries: readonly string[];
  /** True: its admission rejects jobs that would wait for too long. */
  readonly sheds: boolean;
  /** What its config says that a job uses of downstreams, by name. */
  readonly uses: ReadonlyMap<string, UseTraits>;
}

/** What a pool says that it uses of a downstream. */
export interface UseTraits {
  /** How much of it. */
  readonly each: number;
  /** Connections are bounded. */
  readonly connections: boolean;
  /** Calls are. */
  readonly rates: boolean;
}

/** What is wrong between a pool and its store just now. */
export interface StoreTrouble {
  /** For how long some kind of call has failed, ms. 0: none does. */
  readonly failingMs: number;
  /** For how long the store has taken no new jobs, ms. 0: it does. */
  readonly refusingMs: number;
  /** Message of its latest failure. */
  readonly error: string;
}

/** What kind of finding it is. */
export type FindingCode =
  | "store-failing"
  | "loop-blocked"
  | "store-slow"
  | "claims-stalled"
  | "key-bound"
  | "reserve-idle"
  | "at-capacity"
  | "oscillation"
  | "reserve-small"
  | "no-preemption"
  | "lane-starved"
  | "never-grows"
  | "downstream-slower"
  | "uses-drift"
  | "fixed-would-do"
  | "failing"
  | "receiver-refuses"
  | "stalled";

/** All kinds of findings, in the order in which they are reported: causes before what comes of them. */
export const FINDING_CODES: readonly FindingCode[] = [
  "store-failing",
  "loop-blocked",
  "claims-stalled",
  "store-slow",
  "stalled",
  "failing",
  "receiver-refuses",
  "downstream-slower",
  "key-bound",
  "reserve-idle",
  "at-capacity",
  "lane-starved",
  "never-grows",
  "reserve-small",
  "no-preemption",
  "uses-drift",
  "oscillation",
  "fixed-would-do",
];

/** Findings that say jobs suffer now; the others advise. */
export const PRESSING_CODES: readonly FindingCode[] = [
  "store-failing",
  "loop-blocked",
  "claims-stalled",
  "store-slow",
  "stalled",
  "failing",
  "receiver-refuses",
  "key-bound",
  "reserve-idle",
  "at-capacity",
  "lane-starved",
];

/** One thing that the recent past of a pool shows. */
export interface Finding {
  /** What kind it is. */
  readonly code: FindingCode;
  /** Name of the lane that it is about. `undefined`: the pool. */
  readonly lane: string | undefined;
  /** What was seen, with the numbers. */
  readonly saw: string;
  /** What to change. */
  readonly change: string;
  /** The setting of the config, or the part, that it is about: `size.max`, `cap:NAME`. Left out: none alone. */
  readonly setting?: string;
  /** The numbers, by name. */
  readonly numbers: Readonly<Record<string, number>>;
}

/** A rate or mean for texts: one digit after the point below 10. */
export function figure(value: number): string {
  return value < 10 ? String(Math.round(value * 10) / 10) : grouped(Math.round(value));
}

/** What binds a pool, as a text: `size.max`, or the cap or downstream by name. */
export function named(boundBy: string): string {
  return boundBy.replace(/^(cap|downstream):(.*)$/s, '$1 "$2"');
}

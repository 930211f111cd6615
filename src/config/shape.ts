/**
 * The shape of a config: keys, ranges, defaults. Slots are left to the resolver.
 *
 * @module
 */

import * as v from "valibot";
import words from "./words.json" with { type: "json" };
import { LONGEST_DELAY_MS } from "../contract/job.ts";
import { FINDING_CODES } from "../explain/diagnose.ts";
import { isRecord } from "./faults.ts";
import { AT_ONCE, NEXT_TICK } from "./diff_parts.ts";
import { USUAL_REDACT } from "./redaction.ts";
import { isEnvRef } from "./secrets.ts";
import {
  above,
  atLeast,
  between,
  described,
  endless,
  expiry,
  filled,
  flag,
  object,
  port,
  putOff,
  text,
  texts,
  urlPath,
  wants,
  whole,
} from "./shape_parts.ts";

/** An object whose keys have the words that `input.ts` has for them: `deno task schema` reads these. */
function documented<const Entries extends v.ObjectEntries>(
  at: string,
  entries: Entries,
  later: readonly string[] = [],
): ReturnType<typeof object<Entries>> {
  const all: Readonly<Record<string, string>> = words;
  const withWords = Object.entries(entries).map(([key, schema]) => {
    const shape = schema as v.GenericSchema; // entries of these objects have no other
    return [key, described(shape, all[`${at}.${key}`] ?? "")];
  });
  return object(Object.fromEntries(withWords) as Entries, later); // a description changes no type
}

/** Keys of a pool that hold one slot, each with its kind. */
export const slotKinds = {
  controller: "controller",
  lanePolicy: "lane-policy",
  retirement: "retirement",
  admission: "admission",
} as const;

/** A reference to the environment: for tokens. Its message never shows a literal. */
export const envRefShape = v.custom(
  isEnvRef,
  `Expected { "env": "NAME" } but received a literal: secrets do not belong in a config`,
);

/** More workers in one process are a slip of the pen: each is a handler that may run at once. */
const MOST_WORKERS = 100_000;

/** Modes of a lane's `dedupe`. */
const DEDUPE_MODES = ["until-end", "until-start", "window", "replace", "debounce"] as const;

const size = documented("pool.size", {
  min: whole(0, MOST_WORKERS),
  max: whole(1, MOST_WORKERS),
});

const backoff = documented("lane.backoff", {
  delaysMs: v.optional(
    v.pipe(
      v.array(putOff(), wants("a list of waits")),
      v.minLength(1, "Expected at least one wait"),
      v.maxLength(100, "Expected at most 100 waits"),
    ),
  ),
  baseMs: v.optional(putOff(), 1000),
  factor: v.optional(atLeast(1), 2),
  maxMs: v.optional(putOff(), 60_000),
  jitter: v.optional(between(0, 1), 0.5),
  forMs: v.optional(above(0)),
});

const dedupe = documented("lane.dedupe", {
  mode: v.picklist(
    DEDUPE_MODES,
    wants(`one of ${DEDUPE_MODES.map((mode) => `"${mode}"`).join(", ")}`),
  ),
  windowMs: v.optional(between(1, LONGEST_DELAY_MS)),
  waitMs: v.optional(between(1, LONGEST_DELAY_MS)),
  maxMs: v.optional(between(1, LONGEST_DELAY_MS)),
});

const expect = documented("lane.expect", {
  perSec: atLeast(0),
  serviceMs: above(0),
});

const keyRate = documented("keyRate", {
  calls: whole(1),
  perMs: between(1000, 86_400_000),
  burst: v.optional(whole(1, 100)),
});

const handOn = documented("lane.onDead", {
  pool: text(),
  lane: text(),
  type: v.optional(text()),
});

/** One lane. */
export const laneShape = documented("lane", {
  name: text(),
  targetWaitMs: v.optional(v.nullable(above(0, "a number > 0, or null"))),
  startWithinMs: v.optional(atLeast(0)),
  deadlineMs: v.optional(endless()),
  maxDepth: v.optional(whole(1)),
  maxRunning: v.optional(whole(1)),
  maxRunningPerKey: v.optional(whole(1)),
  ratesPerKey: v.optional(v.array(keyRate, wants("a list of rates")), []),
  ttlMs: v.optional(expiry()),
  attempts: v.optional(whole(1)),
  timeoutMs: v.optional(endless()),
  backoff: v.optional(backoff, {}),
  onDead: v.optional(handOn),
  then: v.optional(handOn),
  dedupe: v.optional(dedupe),
  weight: v.optional(above(0), 1),
  paused: v.optional(flag(), false),
  expect: v.optional(expect),
}, ["minShare", "fairness", "preemptible", "order"]);

/** Keys of a lane that are `Infinity` unless they are given. */
export const LANE_BOUNDS = ["maxDepth", "maxRunning", "maxRunningPerKey", "ttlMs"] as const;

/** How a change of each key of a lane takes hold at a reload. */
export const LANE_EFFECTS: Readonly<
  Record<Exclude<keyof typeof laneShape.entries, "name">, string>
> = {
  targetWaitMs: NEXT_TICK,
  startWithinMs: NEXT_TICK,
  deadlineMs: AT_ONCE,
  maxDepth: "Applies to new jobs; jobs that wait stay",
  maxRunning: "Holds for jobs that start from now on",
  maxRunningPerKey: "Holds for jobs that start from now on",
  ratesPerKey:
    "Holds for jobs that start from now on; starts of keys that had no rate before do not count",
  ttlMs: "Applies to new jobs",
  attempts: "Holds for every attempt that ends from now on",
  timeoutMs: "Holds for jobs that start from now on",
  backoff: "Holds for every attempt that fails from now on",
  onDead: "Holds for jobs that end from now on, and for ends that are not handed on yet",
  then: "Holds for jobs that end from now on, and for ends that are not handed on yet",
  dedupe: "Applies to new jobs; a job that has a dedupeKey has it as before",
  weight: AT_ONCE,
  paused:
    "Paused or resumed at once, in all processes; if another process has loaded it already, later pauses and resumes by users stay",
  expect: "Holds for the next check; nothing that runs reads it",
};

const keep = documented("pool.keep", {
  done: v.optional(whole(0), 1000),
  dead: v.optional(whole(0), 10_000),
  forMs: v.optional(endless(), 86_400_000),
});

/** Longest text of a schedule's times, characters. */
export const LONGEST_CRON = 1_000;

/** One schedule. Its times, lane and type are checked apart. */
export const scheduleShape = documented("schedule", {
  lane: text(),
  type: v.optional(text()),
  cron: v.optional(text(LONGEST_CRON)),
  everyMs: v.optional(between(1000, 366 * 86_400_000)),
  timezone: v.optional(text(), "UTC"),
  jitterMs: v.optional(between(0, 86_400_000), 0),
  overlap: v.optional(flag(), true),
  payload: v.optional(v.unknown(), null),
  catchUp: v.optional(
    v.picklist(["none", "last", "all"], wants('"none", "last" or "all"')),
    "none",
  ),
});

/** Bounds from some times on. The times are checked apart. */
export const sizeShape = documented("sizes", {
  cron: text(LONGEST_CRON),
  timezone: v.optional(text(), "UTC"),
  min: whole(0, MOST_WORKERS),
  max: whole(0, MOST_WORKERS),
});

/** One route. Its lane and type are checked apart. */
export const routeShape = documented("route", {
  if: v.optional(
    documented("route.if", { type: v.optional(text()), key: v.optional(text()) }),
    {},
  ),
  lane: text(),
});

const breaker = {
  after: v.optional(whole(1), 3),
  minMs: v.optional(above(0), 1000),
  maxMs: v.optional(above(0), 60_000),
  failures: v.optional(whole(1)),
  gone: v.optional(flag(), false),
};

const cooldown = documented("pool.cooldown", {
  by: v.optional(v.picklist(["pool", "key"], wants('"pool" or "key"')), "pool"),
  ...breaker,
});

const shadow = documented("pool.shadow", {
  controller: v.unknown(),
});

const rate = documented("rate", {
  calls: above(0),
  perMs: between(1000, 10_000),
  burst: v.optional(atLeast(1)),
});

/** One downstream. */
export const downstreamShape = documented("downstream", {
  connections: v.optional(whole(0)),
  rates: v.optional(v.pipe(
    v.array(rate, wants("a list of rates, at least one")),
    v.minLength(1, wants("a list of rates, at least one")),
  )),
  cooldown: v.optional(documented("downstream.cooldown", breaker)),
});

/** One pool. Its slots and lanes are checked one by one. */
export const poolShape = documented("pool", {
  handler: v.optional(v.unknown()),
  handlers: v.optional(filled("handlers by job type, at least one")),
  size: size,
  sizes: v.optional(v.array(v.unknown(), wants("a list of bounds by time")), []),
  lanes: v.pipe(
    v.array(v.unknown(), wants("a list of lanes, at least one")),
    v.minLength(1, wants("a list of lanes, at least one")),
  ),
  routes: v.optional(v.array(v.unknown(), wants("a list of routes")), []),
  controller: v.optional(v.unknown()),
  shadow: v.optional(shadow),
  lanePolicy: v.optional(v.unknown()),
  caps: v.optional(v.array(v.unknown(), wants("a list of caps")), []),
  uses: v.optional(
    v.custom<Readonly<Record<string, unknown>>>(isRecord, wants("numbers by downstream")),
    {},
  ),
  adaptive: v.optional(flag(), true),
  cooldown: v.optional(
    v.union(
      [v.literal(false), cooldown],
      wants('false, or an object such as { "after": 3 }'),
    ),
    {},
  ),
  retirement: v.optional(v.unknown()),
  admission: v.optional(v.unknown()),
  signals: v.optional(
    v.custom<Readonly<Record<string, unknown>>>(isRecord, wants("signals by name")),
    {},
  ),
  schedules: v.optional(v.array(v.unknown(), wants("a list of schedules")), []),
  onDead: v.optional(handOn),
  then: v.optional(handOn),
  tickMs: v.optional(atLeast(1), 50),
  leaseMs: v.optional(atLeast(1), 30_000),
  timeoutMs: v.optional(endless(), 60_000),
  timeoutMsByType: v.optional(v.record(v.string(), endless(), wants("times by job type")), {}),
  drainMs: v.optional(atLeast(0), 30_000),
  keep: v.optional(keep, {}),
}, ["isolation", "maxPauseMs"]);

const tokens = documented("config.admin.tokens", {
  admin: envRefShape,
  viewer: v.optional(envRefShape),
});

const alerts = documented("config.admin.alerts", {
  url: v.union([text(), envRefShape], wants('an address, or { "env": "NAME" }')),
  token: v.optional(envRefShape),
  ignore: v.optional(
    v.array(
      v.picklist(FINDING_CODES, wants(`one of ${FINDING_CODES.join(", ")}`)),
      wants("a list of findings"),
    ),
    ["fixed-would-do"],
  ),
});

const admin = documented("config.admin", {
  hostname: v.optional(text(), "127.0.0.1"),
  port: v.optional(port(), 8787),
  tokens: v.optional(tokens),
  allowedHosts: v.optional(texts(), []),
  basePath: v.optional(urlPath(), ""),
  trustedProxies: v.optional(texts(), []),
  alerts: v.optional(alerts),
});

/** The whole config. Its slots and pools are checked one by one. */
export const configShape = documented("config", {
  $schema: v.optional(text()),
  store: v.optional(v.unknown()),
  admin: v.optional(admin),
  downstreams: v.optional(
    v.custom<Readonly<Record<string, unknown>>>(isRecord, wants("downstreams by name")),
    {},
  ),
  pools: filled("pools by name, at least one"),
  allowModules: v.optional(texts(), []),
  redact: v.optional(texts(), [...USUAL_REDACT]),
});

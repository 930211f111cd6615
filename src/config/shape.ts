/**
 * The shape of a config: keys, ranges, defaults. Slots are left to the resolver.
 *
 * @module
 */

import * as v from "valibot";
import { FINDING_CODES } from "../explain/diagnose.ts";
import { isRecord } from "./faults.ts";
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
  wants,
  whole,
} from "./shape_parts.ts";

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

const size = object({
  min: described(whole(0, MOST_WORKERS), "Fewest workers in each process."),
  max: described(whole(1, MOST_WORKERS), "Most workers in each process."),
});

const backoff = object({
  baseMs: described(
    v.optional(putOff(), 1000),
    "Wait after the first failure, ms; doubles with each further one.",
  ),
  maxMs: described(
    v.optional(putOff(), 60_000),
    "Longest wait before jitter, ms.",
  ),
  jitter: described(v.optional(between(0, 1), 0.5), "Share of the wait that chance adds, 0 to 1."),
});

const expect = object({
  perSec: described(atLeast(0), "Jobs per second."),
  serviceMs: described(above(0), "Mean run time of a job, ms."),
});

/** One lane. */
export const laneShape = object({
  name: described(text(), "Name, unique within the pool."),
  targetWaitMs: described(
    v.optional(v.nullable(above(0, "a number > 0, or null"))),
    "Wait that growth aims to stay below, ms. null: this lane causes no growth beyond one worker. Default: the controller's.",
  ),
  deadlineMs: described(
    v.optional(endless()),
    "Sojourn within which a job is still of use, ms, from when it was first due: retries do not move it. Default: always.",
  ),
  maxDepth: described(v.optional(whole(1)), "Most jobs that wait. Default: no bound."),
  maxRunning: described(
    v.optional(whole(1)),
    "Most jobs that run in each process. Default: no bound.",
  ),
  maxRunningPerKey: described(
    v.optional(whole(1)),
    "Most running jobs of one key, over all processes. Default: no bound.",
  ),
  ttlMs: described(
    v.optional(expiry()),
    "ms from the enqueue within which a job must start; else it is dead. Default: none.",
  ),
  attempts: described(v.optional(whole(1), 5), "How often a job may be started before it is dead."),
  backoff: described(
    v.optional(backoff, {}),
    "How long a failed job waits before its next attempt.",
  ),
  weight: described(v.optional(above(0), 1), "Share under contention, > 0."),
  paused: described(
    v.optional(flag(), false),
    "Starts paused, until resumed. A pause or resume by a user outlives a restart with the same value.",
  ),
  expect: described(
    v.optional(expect),
    "Expected load of the lane, for the computations of `check`.",
  ),
}, ["minShare", "fairness", "preemptible", "order"]);

const keep = object({
  done: described(v.optional(whole(0), 1000), "Done and cancelled jobs to keep."),
  dead: described(v.optional(whole(0), 10_000), "Dead jobs to keep."),
  forMs: described(v.optional(endless(), 86_400_000), "How long ended jobs are kept, ms."),
});

/** Longest text of a schedule's times, characters. */
export const LONGEST_CRON = 1_000;

/** One schedule. Its times, lane and type are checked apart. */
export const scheduleShape = object({
  lane: described(text(), "Lane that the job goes to."),
  type: described(v.optional(text()), "Handler of the job, where the pool has `handlers`."),
  cron: described(
    text(LONGEST_CRON),
    "When: five parts (minute, hour, day, month, weekday), or six with seconds first.",
  ),
  timezone: described(v.optional(text(), "UTC"), "Time zone of `cron`, such as Europe/Berlin."),
  payload: described(v.optional(v.unknown(), null), "Payload of the job."),
  catchUp: described(
    v.optional(
      v.picklist(["none", "last", "all"], wants('"none", "last" or "all"')),
      "none",
    ),
    "Which times that were missed while no process ran are caught up.",
  ),
});

const cooldown = object({
  after: described(v.optional(whole(1), 3), "Refusals in a row that close the pool."),
  minMs: described(
    v.optional(above(0), 1000),
    "First wait if the receiver names no time, ms; doubles with each further refusal.",
  ),
  maxMs: described(v.optional(above(0), 60_000), "Longest such wait, ms."),
});

const shadow = object({
  controller: described(v.unknown(), "How many workers would it have?"),
});

/** One pool. Its slots and lanes are checked one by one. */
export const poolShape = object({
  handler: described(
    v.optional(v.unknown()),
    "What a worker does for each job. Either this or `handlers`.",
  ),
  handlers: described(
    v.optional(filled("handlers by job type, at least one")),
    "What a worker does, by the `type` of the job. Either this or `handler`.",
  ),
  size: described(size, "Bounds of the worker count in each process."),
  lanes: described(
    v.pipe(
      v.array(v.unknown(), wants("a list of lanes, at least one")),
      v.minLength(1, wants("a list of lanes, at least one")),
    ),
    "Lanes, highest priority first.",
  ),
  controller: described(v.optional(v.unknown()), "How many workers?"),
  shadow: described(
    v.optional(shadow),
    "A candidate controller: it is asked too, but its answer has no effect. Shows where the two differ.",
  ),
  lanePolicy: described(v.optional(v.unknown()), "Which lane does the next free worker serve?"),
  caps: described(
    v.optional(v.array(v.unknown(), wants("a list of caps")), []),
    "How far may it grow?",
  ),
  adaptive: described(
    v.optional(flag(), true),
    "Whether adaptive-cap is added to the caps: it refuses growth that brings no throughput.",
  ),
  cooldown: described(
    v.optional(
      v.union(
        [v.literal(false), cooldown],
        wants('false, or an object such as { "after": 3 }'),
      ),
      {},
    ),
    'Pauses starts for a while when the receiver says "not now". false: never.',
  ),
  retirement: described(v.optional(v.unknown()), "Which workers stop?"),
  admission: described(v.optional(v.unknown()), "Take this job, or reject it?"),
  signals: described(
    v.optional(v.custom<Readonly<Record<string, unknown>>>(isRecord, wants("signals by name")), {}),
    "Functions read before each tick, by name.",
  ),
  schedules: described(
    v.optional(v.array(v.unknown(), wants("a list of schedules")), []),
    "Jobs on a schedule: one at each time, however many processes run.",
  ),
  tickMs: described(v.optional(atLeast(1), 50), "Time between ticks, ms."),
  leaseMs: described(
    v.optional(atLeast(1), 30_000),
    "ms without a renewal after which a process counts as dead and its jobs go back to their lanes.",
  ),
  timeoutMs: described(v.optional(endless(), 60_000), "Longest run of one attempt, ms."),
  drainMs: described(v.optional(atLeast(0), 30_000), "How long a stop waits for running jobs, ms."),
  keep: described(v.optional(keep, {}), "How many ended jobs are kept."),
}, ["isolation", "uses", "maxPauseMs"]);

const tokens = object({
  admin: described(envRefShape, "May read and write; at least 16 characters."),
  viewer: described(v.optional(envRefShape), "May read; at least 16 characters."),
});

const alerts = object({
  url: described(
    v.union([text(), envRefShape], wants('an address, or { "env": "NAME" }')),
    "Address that gets a POST when a finding begins, and when it ends.",
  ),
  token: described(v.optional(envRefShape), "Sent as a bearer token."),
  ignore: described(
    v.optional(
      v.array(
        v.picklist(FINDING_CODES, wants(`one of ${FINDING_CODES.join(", ")}`)),
        wants("a list of findings"),
      ),
      ["fixed-would-do"],
    ),
    "Findings that send no alert.",
  ),
});

const admin = object({
  hostname: described(v.optional(text(), "127.0.0.1"), "Address to bind."),
  port: described(v.optional(port(), 8787), "Port to bind; 0 picks a free one."),
  tokens: described(v.optional(tokens), "Who may use it. Omitted: everyone on this machine."),
  allowedHosts: described(v.optional(texts(), []), "Allowed host names besides loopback's."),
  alerts: described(v.optional(alerts), "Where alerts are sent. Omitted: nowhere."),
});

/** The whole config. Its slots and pools are checked one by one. */
export const configShape = object({
  $schema: described(v.optional(text()), "Where editors find the JSON Schema."),
  store: described(v.optional(v.unknown()), "Where do jobs live?"),
  admin: described(v.optional(admin), "The admin API. Omitted: it is off."),
  pools: described(filled("pools by name, at least one"), "Pools by name."),
  allowModules: described(
    v.optional(texts(), []),
    "Modules from outside the config's folder that `use` may name, written exactly so.",
  ),
  redact: described(v.optional(texts(), []), "Names of payload fields that are never shown."),
}, ["downstreams"]);

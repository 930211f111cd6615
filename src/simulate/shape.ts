/**
 * The shape of a scenario: keys, ranges, defaults.
 *
 * @module
 */

import * as v from "valibot";
import { display, isRecord } from "../config/faults.ts";
import {
  above,
  atLeast,
  between,
  described,
  filled,
  flag,
  object,
  text,
  wants,
  whole,
} from "../config/shape_parts.ts";

// More than this is a slip of the pen: a second of it would take minutes, deaf to ctrl-C.
const MOST_PER_SEC = 1_000_000;
const MOST_BACKLOG = 10_000_000;

const MOST_PEERS = 1_000;

/** Longest scenario, ms: a year. Times beyond some 285,000 years have no milliseconds any more. */
const LONGEST_MS = 366 * 86_400_000;

const entries = {
  fixed: object({
    kind: v.literal("fixed"),
    ms: described(atLeast(0), "How long, ms."),
  }),
  uniform: object({
    kind: v.literal("uniform"),
    min: described(atLeast(0), "Shortest, ms."),
    max: described(atLeast(0), "Longest, ms."),
  }),
  exponential: object({
    kind: v.literal("exponential"),
    ms: described(atLeast(0), "Mean, ms."),
  }),
  lognormal: object({
    kind: v.literal("lognormal"),
    ms: described(above(0), "Mean, ms."),
    cv: described(atLeast(0), "Coefficient of variation: standard deviation over mean."),
  }),
  percentiles: object({
    kind: v.literal("percentiles"),
    p50: described(above(0), "Median, ms."),
    p75: described(v.optional(above(0)), "75th percentile, ms."),
    p90: described(v.optional(above(0)), "90th percentile, ms."),
    p95: described(v.optional(above(0)), "95th percentile, ms."),
    p99: described(v.optional(above(0)), "99th percentile, ms."),
    max: described(v.optional(above(0)), "The longest, ms. Default: no bound."),
  }),
  knee: object({
    kind: v.literal("knee"),
    ms: described(above(0), "Mean run time while the downstream is not overloaded, ms."),
    cv: described(v.optional(atLeast(0), 0), "Coefficient of variation of these run times."),
    slots: described(whole(1), "How many jobs the downstream bears at once."),
    collapse: described(v.optional(atLeast(0), 0), "What each job beyond costs all of them."),
    tells: described(
      v.optional(flag(), false),
      "Handlers of attempts that start beyond call `context.overloaded()`.",
    ),
  }),
};

const { fixed, uniform, exponential, lognormal, percentiles, knee } = entries;

const duration = v.variant(
  "kind",
  [fixed, uniform, exponential, lognormal, percentiles],
  kindOf("a duration", ["fixed", "uniform", "exponential", "lognormal", "percentiles"]),
);

const attemptMessage = wants(
  'how an attempt ended, such as 20, { "failedMs": 20 } or { "deferredMs": 5, "forMs": 1000 },',
);

const attempt = v.union([
  v.pipe(
    v.number(attemptMessage),
    v.finite(attemptMessage),
    v.minValue(0, attemptMessage),
  ),
  v.strictObject({
    failedMs: described(atLeast(0), "It failed after this time, ms."),
    fatal: described(v.optional(v.boolean()), "For good, whatever attempts were left."),
  }),
  v.strictObject({
    deferredMs: described(atLeast(0), "It was deferred after this time, ms."),
    forMs: described(atLeast(0), "How much later, ms."),
  }),
], attemptMessage);

/** What a recorder saw of each job. */
export const runsShape = object({
  kind: v.literal("trace"),
  runs: described(
    v.array(
      v.union(
        [v.null(), v.pipe(v.array(attempt), v.minLength(1, attemptMessage)), attempt],
        attemptMessage,
      ),
      wants("a list of how each job ended"),
    ),
    "How each job ended, in order of arrival: one attempt, or several; null: not observed.",
  ),
});

const service = v.variant(
  "kind",
  [fixed, uniform, exponential, lognormal, percentiles, knee, runsShape],
  kindOf("a duration", [
    ...["fixed", "uniform", "exponential", "lognormal", "percentiles"],
    ...["knee", "trace"],
  ]),
);

const keysMessage = wants("a whole number >= 1 or the key of each job");

const keys = v.union([
  v.pipe(v.number(keysMessage), v.integer(keysMessage), v.minValue(1, keysMessage)),
  v.pipe(v.array(v.nullable(v.string(keysMessage))), v.minLength(1, keysMessage)),
], keysMessage);

const phase = object({
  untilMs: described(above(0), "End of this rate, ms since the beginning."),
  perSec: described(rate(atLeast(0)), "Jobs per second."),
});

function rate(bounded: v.GenericSchema<number>): v.GenericSchema<number> {
  return v.pipe(bounded, v.maxValue(MOST_PER_SEC, wants(`a number <= ${MOST_PER_SEC}`)));
}

function played(bounded: v.GenericSchema<number>): v.GenericSchema<number> {
  return v.pipe(bounded, v.maxValue(LONGEST_MS, wants(`a number <= ${LONGEST_MS}, a year`)));
}

const rates = {
  perSec: described(v.optional(rate(atLeast(0))), "Jobs per second, all the time."),
  phases: described(
    v.optional(v.pipe(
      v.array(phase, wants("a list of phases, at least one")),
      v.minLength(1, wants("a list of phases, at least one")),
    )),
    "Rates, one after the other. Either this or `perSec`.",
  ),
};

const MOST_PER_MIN = 60 * MOST_PER_SEC;
const perMinute = v.pipe(
  whole(0),
  v.maxValue(MOST_PER_MIN, wants(`a whole number <= ${MOST_PER_MIN}`)),
);

const arrivals = v.variant("kind", [
  object({ kind: v.literal("even"), ...rates }),
  object({ kind: v.literal("poisson"), ...rates }),
  object({
    kind: v.literal("on-off"),
    perSec: described(rate(above(0)), "Jobs per second while on."),
    onMs: described(above(0), "How long it is on, ms."),
    offMs: described(above(0), "How long it is off, ms."),
    spacing: described(
      v.optional(v.picklist(["even", "poisson"], wants('"even" or "poisson"')), "poisson"),
      "How jobs arrive while on.",
    ),
  }),
  object({
    kind: v.literal("counts"),
    perMin: described(
      v.pipe(
        v.array(perMinute, wants("a list of jobs by minute, at least one")),
        v.minLength(1, wants("a list of jobs by minute, at least one")),
      ),
      "Jobs that arrive in each minute.",
    ),
    spacing: described(
      v.optional(v.picklist(["even", "poisson"], wants('"even" or "poisson"')), "poisson"),
      "How jobs arrive within a minute.",
    ),
  }),
  object({
    kind: v.literal("trace"),
    atMs: described(
      v.array(atLeast(0), wants("a list of times")),
      "Recorded times, rising, ms since the beginning.",
    ),
  }),
], kindOf("arrivals", ["even", "poisson", "on-off", "counts", "trace"]));

/** The load of one lane. */
export const laneLoadShape = object({
  arrivals: described(v.optional(arrivals), "When jobs arrive. Default: never."),
  backlog: described(
    v.optional(
      v.pipe(whole(0), v.maxValue(MOST_BACKLOG, wants(`a whole number <= ${MOST_BACKLOG}`))),
      0,
    ),
    "Jobs that wait at the beginning.",
  ),
  serviceMs: described(service, "How long an attempt runs."),
  failRate: described(v.optional(between(0, 1), 0), "Share of attempts that fail, 0 to 1."),
  deferRate: described(
    v.optional(between(0, 1), 0),
    "Share of attempts that ask to be run again later, 0 to 1.",
  ),
  deferMs: described(v.optional(atLeast(0), 1000), "How much later, ms."),
  keys: described(
    v.optional(keys),
    "How many keys jobs have, or the key of each in order of arrival. Default: they have none.",
  ),
}, ["checkpointMs"]);

/** The load of one pool; its lanes are checked one by one. */
export const poolLoadShape = object({
  lanes: described(filled("loads by lane, at least one"), "Load by lane."),
});

const span = {
  atMs: described(atLeast(0), "When it begins, ms since the beginning."),
  forMs: described(above(0), "How long it lasts, ms."),
};

const fault = v.variant("kind", [
  object({
    kind: v.literal("slow"),
    ...span,
    factor: described(v.optional(above(0), 3), "How many times as long attempts take."),
  }),
  object({
    kind: v.literal("slots"),
    ...span,
    factor: described(v.optional(above(0), 0.5), "How many times as many jobs knees bear."),
  }),
  object({ kind: v.literal("down"), ...span }),
  object({
    kind: v.literal("refuse"),
    ...span,
    retryAfterMs: described(
      v.optional(above(0)),
      "For how long the receiver asks to be left alone, ms.",
    ),
  }),
  object({ kind: v.literal("store-error"), ...span }),
  object({ kind: v.literal("block"), ...span }),
  object({ kind: v.literal("kill"), ...span }),
], kindOf("a fault", ["slow", "slots", "down", "refuse", "store-error", "block", "kill"]));

const recorded = object({
  from: described(text(), "Address of the system that it was recorded from."),
  at: described(text(), "When it began, as ISO 8601 in UTC."),
  missed: described(v.optional(whole(0), 0), "Events that the recorder did not see."),
  unknown: described(v.optional(whole(0), 0), "Jobs whose run time was not observed."),
});

/** The whole scenario; its pools are checked one by one. */
export const scenarioShape = object({
  $schema: described(v.optional(text()), "Where editors find the JSON Schema."),
  name: described(v.optional(text(), "scenario"), "What to call it."),
  seed: described(v.optional(whole(0), 1), "Seed of all chance."),
  durationMs: described(played(above(0)), "How long jobs arrive, ms."),
  drain: described(
    v.optional(flag(), false),
    "Ends with a drain, as a stop does: jobs that run then may end, and count.",
  ),
  graceMs: described(
    v.optional(played(atLeast(0)), 0),
    "What ends so long after the end still counts.",
  ),
  timerLateMs: described(v.optional(duration), "How late timers fire. Default: never late."),
  peers: described(v.optional(whole(1, MOST_PEERS), 1), "How many processes share the store."),
  storeMs: described(
    v.optional(played(atLeast(0)), 0),
    "How long the store takes to answer a request, ms.",
  ),
  recorded: described(v.optional(recorded), "Where a recorded load comes from. Not simulated."),
  faults: described(
    v.optional(v.array(fault, wants("a list of faults")), []),
    "What goes wrong, and when.",
  ),
  pools: described(filled("loads by pool, at least one"), "Load by pool."),
});

/** What is wrong with something that is reported apart by its `kind`. */
function kindOf(
  what: string,
  kinds: readonly string[],
): (issue: v.BaseIssue<unknown>) => string {
  const list = kinds.map((kind) => `"${kind}"`).join(", ");
  return ({ input }) =>
    isRecord(input) || typeof input !== "string" && input !== undefined
      ? `Expected ${what} such as { "kind": "${kinds[0]}", … } but received ${display(input)}`
      : `Expected one of ${list} but received ${display(input)}`;
}

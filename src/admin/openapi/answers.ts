/**
 * Shapes of answers, for the OpenAPI document; a test holds them to what routes really answer.
 *
 * @module
 */

import * as v from "valibot";

const states = v.picklist(["ready", "delayed", "running", "done", "dead", "cancelled"]);
const count = v.pipe(v.number(), v.integer(), v.minValue(0));
const ms = v.pipe(v.number(), v.description("ms."));
const atMs = v.pipe(v.number(), v.description("ms since epoch."));
const bound = v.pipe(v.nullable(v.number()), v.description("null: no bound."));
const name = v.string();
const anything = v.unknown();

const problem = said(
  v.strictObject({
    type: v.literal("about:blank"),
    title: said(v.string(), "Name of the status."),
    status: count,
    detail: said(v.string(), "What is wrong and what to do."),
    errors: v.optional(said(
      v.array(v.strictObject({
        pointer: said(v.string(), "JSON Pointer into the body, or ?name of a query parameter."),
        detail: v.string(),
        file: v.optional(v.string()),
        line: v.optional(count),
        column: v.optional(count),
      })),
      "Each fault with its place.",
    )),
    pools: v.optional(v.array(name)),
    retryAfterMs: v.optional(ms),
    reason: v.optional(v.string()),
    results: v.optional(v.array(anything)),
  }),
  "Why a request was refused (RFC 9457).",
);

const summary = said(
  v.strictObject({ count, mean: ms, p50: ms, p95: ms, p99: ms }),
  "Left out: nothing ended in the window.",
);

const window = said(
  v.strictObject({
    windowMs: ms,
    arrivalsPerSec: v.number(),
    completionsPerSec: v.number(),
    failuresPerSec: v.number(),
    shedPerSec: v.number(),
    serviceMs: v.optional(summary),
    waitMs: v.optional(summary),
  }),
  "Rates and times of the last tick's window.",
);

const lane = said(
  v.strictObject({
    name,
    index: said(count, "0 has the highest priority."),
    weight: v.number(),
    maxRunning: bound,
    minShare: v.number(),
    targetWaitMs: said(v.nullable(v.number()), "null: never causes growth."),
    deadlineMs: v.optional(ms),
    ready: said(count, "Claimable."),
    blocked: said(count, "Due, but held by a pause or a key limit."),
    delayed: said(count, "Due later."),
    running: said(count, "In this process."),
    oldestWaitMs: said(ms, "Of the oldest ready job, since it became claimable; 0 if none."),
    paused: v.boolean(),
    arrivalsPerSec: v.number(),
    meanServiceMs: ms,
    servedMs: said(ms, "Worker time so far."),
    timed: said(count, "Attempts ended so far whose run time counts."),
    timedMs: said(ms, "Sum of the run times of these."),
    lastServedAtMs: v.nullable(atMs),
    window,
  }),
  "One lane.",
);

const decision = said(
  v.strictObject({
    atMs,
    untilMs: atMs,
    from: count,
    to: count,
    inputs: v.record(v.string(), v.number()),
    proposals: v.array(v.strictObject({
      by: v.string(),
      kind: v.picklist(["controller", "cap"]),
      workers: bound,
      reason: v.string(),
    })),
    boundBy: said(
      v.string(),
      "What the count hangs on: controller, cap:NAME, size.min or size.max.",
    ),
    retire: v.array(v.string()),
    sentence: said(v.string(), "The decision in one sentence."),
    latest: v.optional(said(v.string(), "Why it still stood at untilMs, in one sentence.")),
  }),
  "What a pool decided, and why.",
);

const shadow = said(
  v.strictObject({
    controller: name,
    ticks: said(count, "On which both answered."),
    differed: said(count, "Ticks on which they differed."),
    share: said(v.number(), "differed over ticks, 0 to 1."),
    meanDifference: said(v.number(), "Workers it wanted more than the controller, on average."),
    leastDifference: v.number(),
    mostDifference: v.number(),
    skipped: said(count, "Ticks without it, because it had taken too long."),
    failed: said(count, "Ticks on which it threw or answered nonsense."),
    workers: v.optional(said(count, "It wants, within size and caps.")),
    liveWorkers: v.optional(said(count, "The controller wants, within size and caps.")),
    sentence: v.optional(v.string()),
    liveSentence: v.optional(v.string()),
    error: v.optional(said(v.string(), "What it threw. Left out: it works.")),
  }),
  "What the candidate controller would have done. Left out: none is configured.",
);

const override = v.strictObject({
  min: v.optional(count),
  max: v.optional(count),
  target: v.optional(count),
  untilMs: atMs,
});

const pool = said(
  v.strictObject({
    pool: name,
    nowMs: atMs,
    lanes: v.array(lane),
    workers: v.array(v.strictObject({
      id: v.string(),
      state: v.picklist(["starting", "idle", "busy", "retiring", "stuck"]),
      startedAtMs: atMs,
      sinceMs: atMs,
      jobsDone: count,
    })),
    live: count,
    busy: count,
    idle: count,
    target: count,
    size: v.strictObject({ min: count, max: count }),
    limit: bound,
    rateBound: said(v.boolean(), "A start rate holds ready jobs back."),
    startsPerSec: bound,
    totals: said(v.record(v.string(), v.number()), "Counts since the pool began."),
    window,
    peers: said(count, "Live processes that share the store."),
    stale: said(v.boolean(), "The store cannot be read: counts are the last known."),
    signals: v.record(name, v.strictObject({ value: v.nullable(v.number()), stale: v.boolean() })),
    degraded: said(v.boolean(), "A strategy fails: its last answer stands."),
    draining: v.boolean(),
    stopped: said(v.boolean(), "A drain has ended."),
    paused: v.boolean(),
    override: v.optional(override),
    decision: v.optional(decision),
    shadow: v.optional(shadow),
    schedules: v.array(v.strictObject({
      lane: name,
      cron: v.string(),
      timezone: v.string(),
      catchUp: v.picklist(["none", "last", "all"]),
      nextAtMs: v.optional(said(ms, "The next time, since epoch. Left out: it never comes again.")),
      lastAtMs: v.optional(said(ms, "The latest time that was dealt with, since epoch.")),
    })),
    storeWaitMs: said(ms, "How long the oldest call to the store goes without an answer."),
    storeRefusedAtMs: v.optional(said(ms, "When it last failed to take a job; none since.")),
    scaleEvents: count,
    reversals: count,
    reaped: said(count, "Jobs taken back from processes that had died."),
    diagnosis: v.array(v.strictObject({
      code: v.string(),
      lane: v.optional(name),
      saw: v.string(),
      change: v.string(),
      numbers: v.record(v.string(), v.number()),
    })),
  }),
  "One pool.",
);

const samples = v.array(said(
  v.strictObject({
    atMs,
    live: count,
    busy: count,
    stuck: count,
    target: count,
    limit: said(count, "The tightest bound: caps and size.max."),
    boundBy: said(v.string(), "What sets limit: size.max or cap:NAME."),
    size: v.strictObject({ min: count, max: count }),
    rateBound: v.boolean(),
    changes: said(count, "Changes of the target so far."),
    reversals: count,
    arrivals: said(count, "Jobs accepted since the pool began; so with the counts that follow."),
    ended: said(count, "Attempts that ended, in any way."),
    completions: count,
    failures: count,
    deferrals: count,
    shed: count,
    busyMs: said(ms, "Worker time spent on jobs."),
    lanes: v.array(v.strictObject({
      name,
      targetWaitMs: v.nullable(v.number()),
      ready: count,
      running: count,
      oldestWaitMs: ms,
      arrivalsPerSec: v.number(),
      completionsPerSec: v.number(),
      waitP95Ms: ms,
      waitP99Ms: ms,
      ended: count,
      serviceMs: said(ms, "Mean run time; 0: none ended."),
      serviceP99Ms: ms,
      servedMs: ms,
      kept: v.optional(said(count, "Fewest workers left to this lane while it had ready jobs.")),
    })),
  }),
  "A pool at one time.",
));

const outcome = v.strictObject({
  state: v.picklist(["done", "dead", "cancelled", "unfinished"]),
  result: v.optional(anything),
  reason: v.optional(v.string()),
  error: v.optional(v.string()),
});

const accepted = said(
  v.strictObject({
    id: said(v.string(), "Id of the job, or of the one it duplicates."),
    duplicateOf: v.optional(v.string()),
    outcome: v.optional(outcome),
  }),
  "A job that was taken in.",
);

const job = said(
  v.strictObject({
    id: v.string(),
    pool: name,
    lane: name,
    type: v.string(),
    state: states,
    payload: said(anything, "Redacted."),
    key: v.optional(v.string()),
    dedupeKey: v.optional(v.string()),
    createdAtMs: atMs,
    dueAtMs: atMs,
    startedAtMs: v.optional(atMs),
    endedAtMs: v.optional(atMs),
    attempt: count,
    cursor: v.optional(anything),
    traceparent: v.optional(v.string()),
    result: v.optional(anything),
    reason: v.optional(v.string()),
    error: v.optional(v.string()),
    progress: v.optional(anything),
    cancelling: v.optional(said(v.boolean(), "It runs, and its handler was asked to end.")),
  }),
  "Everything known about a job.",
);

const waiting = said(
  v.strictObject({
    position: v.optional(
      said(count, "Its place among the claimable jobs of its lane, from 1. Left out: in no line."),
    ),
    atLeast: said(v.boolean(), "There are too many before it to count: position is the least."),
    holds: said(
      v.array(v.strictObject({
        code: v.picklist([
          "stopped",
          "paused",
          "store",
          "handler",
          "delayed",
          "key-limit",
          "lane-limit",
          "start-rate",
          "no-worker",
          "busy",
          "reserved",
        ]),
        detail: said(v.string(), "What it is and what would end it."),
      })),
      "All that holds it. Empty: it starts at once.",
    ),
    startAtMs: v.optional(said(v.number(), "Estimate, ms since epoch. Left out: nobody can say.")),
    basis: said(v.string(), "What the estimate rests on, or why there is none."),
  }),
  "Why a job waits.",
);

const operation = said(
  v.strictObject({
    id: v.string(),
    pool: name,
    action: v.picklist(["retry", "discard", "purge"]),
    lane: v.optional(name),
    state: v.optional(states),
    match: v.optional(v.string()),
    status: v.picklist(["running", "done", "cancelled", "failed"]),
    startedAtMs: atMs,
    endedAtMs: v.optional(atMs),
    seen: said(count, "Jobs looked at so far."),
    matched: count,
    changed: count,
    total: v.optional(said(count, "Jobs to look at. Left out: not known.")),
  }),
  "Long work on many jobs.",
);

/** Answers by name. */
export const answerShapes = {
  Problem: problem,
  Pool: pool,
  Pools: v.array(pool),
  Decisions: v.array(decision),
  History: v.strictObject({ pool: name, controller: name, admission: name, samples }),
  Paused: v.strictObject({ pool: name, lane: v.nullable(name), paused: v.boolean() }),
  Override: v.strictObject({ pool: name, override: v.nullable(override) }),
  Stopped: v.strictObject({
    handedBack: v.array(v.string()),
    stuck: v.array(v.string()),
    waiting: count,
  }),
  Accepted: accepted,
  BulkAccepted: v.strictObject({
    results: v.array(v.union([
      v.strictObject({ id: v.string() }),
      v.strictObject({ duplicateOf: v.string() }),
      v.strictObject({ error: v.string(), retryAfterMs: v.optional(ms) }),
    ])),
  }),
  Job: job,
  JobPage: v.strictObject({
    jobs: v.array(job),
    cursor: v.optional(said(v.string(), "Give it as ?cursor= to go on. Left out: the last page.")),
  }),
  Changed: v.strictObject({
    id: v.string(),
    state: v.picklist([...states.options, "removed"]),
    cancelling: v.optional(said(v.literal(true), "It runs, and its handler was asked to end.")),
  }),
  WhyItWaits: v.strictObject({
    id: v.string(),
    state: states,
    waiting: said(v.nullable(waiting), "null: it does not wait."),
  }),
  Operation: operation,
  Operations: v.array(operation),
  Config: said(v.record(v.string(), anything), "The config as given, secrets as { env }."),
  Plugins: v.array(v.strictObject({
    pool: said(v.string(), "Empty for the store, which all pools share."),
    kind: v.string(),
    name,
    type: v.optional(v.string()),
    with: v.optional(anything),
    options: said(v.record(v.string(), anything), "JSON Schema of its options."),
  })),
  Reloaded: v.strictObject({
    changes: v.array(v.strictObject({
      pointer: v.string(),
      change: v.picklist(["added", "removed", "changed", "moved", "renewed"]),
      lane: v.optional(name),
      from: v.optional(anything),
      to: v.optional(anything),
      refused: v.boolean(),
      effect: v.string(),
    })),
    stale: v.array(v.string()),
    dryRun: v.boolean(),
  }),
  Health: v.strictObject({ ok: v.literal(true) }),
  Readiness: v.strictObject({ ready: v.boolean(), reasons: v.optional(v.array(v.string())) }),
  Login: v.strictObject({ role: v.picklist(["admin", "viewer"]), untilMs: atMs }),
  Logout: v.strictObject({ loggedOut: v.literal(true) }),
} as const satisfies Readonly<Record<string, v.GenericSchema>>;

/** Name of an answer. */
export type AnswerName = keyof typeof answerShapes;

function said<const Schema extends v.GenericSchema>(
  schema: Schema,
  text: string,
): v.SchemaWithPipe<readonly [Schema, v.DescriptionAction<v.InferOutput<Schema>, string>]> {
  return v.pipe(schema, v.description(text));
}

/**
 * Shapes of answers, for the OpenAPI document; a test holds them to what routes really answer.
 *
 * @module
 */

import * as v from "valibot";
import { accepted, job, operation, waiting } from "./job_answers.ts";
import { decision, override, pool, samples } from "./pool_answers.ts";
import { anything, atMs, count, ms, name, said, states } from "./words.ts";

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
    unstored: count,
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

/**
 * Shapes of answers about jobs and long work on them.
 *
 * @module
 */

import * as v from "valibot";
import { anything, atMs, count, name, said, states } from "./words.ts";

const outcome = v.strictObject({
  state: v.picklist(["done", "dead", "cancelled", "unfinished"]),
  result: v.optional(anything),
  resultError: v.optional(v.string()),
  reason: v.optional(v.string()),
  error: v.optional(v.string()),
});

/** A job that was taken in. */
export const accepted = said(
  v.strictObject({
    id: said(v.string(), "Id of the job, or of the one it duplicates."),
    duplicateOf: v.optional(v.string()),
    outcome: v.optional(outcome),
  }),
  "A job that was taken in.",
);

/** A job. */
export const job = said(
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
    resultError: v.optional(
      said(
        v.string(),
        "Why there is no result: what the handler returned is no JSON, or too large.",
      ),
    ),
    reason: v.optional(v.string()),
    error: v.optional(v.string()),
    progress: v.optional(anything),
    cancelling: v.optional(said(v.boolean(), "It runs, and its handler was asked to end.")),
  }),
  "Everything known about a job.",
);

/** Why a job waits. */
export const waiting = said(
  v.strictObject({
    position: v.optional(
      said(
        count,
        "Its place among the ready jobs of its lane, from 1. Left out: delayed or blocked.",
      ),
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
          "cooldown",
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

/** Long work on many jobs. */
export const operation = said(
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

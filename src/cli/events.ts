/**
 * Events as log lines.
 *
 * @module
 */

import { rounded } from "../admin/http/rounded.ts";
import type { Observer, PoolEvent } from "../contract/event.ts";
import type { Logger } from "../contract/job.ts";
import { EVENT_SENTENCES } from "../admin/http/event_text.ts";

/** Kinds that come with every job: at most one line a second each, so that a burst floods nothing. */
const FREQUENT: ReadonlySet<PoolEvent["kind"]> = new Set([
  "job-unstored",
  "job-shed",
  "job-failed",
  "job-deferred",
  "job-dead",
  "shadow-differs",
  "shadow-agrees",
]);

const QUIET_MS = 1_000;

const ONLY_DETAILS: ReadonlySet<PoolEvent["kind"]> = new Set([
  "job-added",
  "job-started",
  "job-done",
]);

const ALARMING: ReadonlySet<PoolEvent["kind"]> = new Set([
  "job-shed",
  "job-failed",
  "job-dead",
  "lease-lost",
  "jobs-reaped",
  "cooldown-began",
  "clock-stepped",
]);

const FAULTS: ReadonlySet<PoolEvent["kind"]> = new Set([
  "worker-stuck",
  "worker-failed",
  "plugin-failed",
  "store-failed",
  "store-failing",
]);

/** Makes the observer that writes events to a log. */
export function eventLogger(log: Logger): Observer {
  const last = new Map<string, { atMs: number; more: number }>();
  const stacks = new Map<string, string>();
  return (event) => {
    if (event.kind === "audit") return; // the admin API writes these itself, for those without an observer
    const { kind, atMs, ...rest } = rounded(event);
    let more: number | undefined;
    if (FREQUENT.has(kind)) {
      const key = `${kind} ${event.pool} ${"lane" in event ? event.lane : ""}`;
      const before = last.get(key);
      if (before !== undefined && atMs - before.atMs < QUIET_MS) {
        before.more++;
        return;
      }
      if (before !== undefined && before.more > 0) more = before.more;
      last.set(key, { atMs, more: 0 });
    }
    if ("stack" in rest && "lane" in rest && rest.stack !== undefined) {
      const lane = `${rest.pool} ${rest.lane}`;
      if (stacks.get(lane) === rest.stack) delete rest.stack;
      else stacks.set(lane, rest.stack);
    }
    const fields = "decision" in rest
      ? {
        pool: rest.pool,
        from: rest.decision.from,
        to: rest.decision.to,
        boundBy: rest.decision.boundBy,
      }
      : withoutKey(rest);
    log[levelOf(event)](
      sentenceOf(event),
      more === undefined ? fields : { ...fields, moreBefore: more },
    );
  };
}

/** Keys may name people, and logs travel: the API tells them of a job to anyone who may look it up. */
function withoutKey(fields: object): Readonly<Record<string, unknown>> {
  const { key: _, ...rest } = { key: undefined, ...fields };
  return rest;
}

function levelOf(event: PoolEvent): keyof Logger {
  const { kind } = event;
  // The pool had shrunk while the lease was on its way: the job waits on.
  if (kind === "job-handed-back") return event.error === undefined ? "debug" : "warn";
  if (ONLY_DETAILS.has(kind)) return "debug";
  if (FAULTS.has(kind)) return "error";
  return ALARMING.has(kind) ? "warn" : "info";
}

function sentenceOf(event: Exclude<PoolEvent, { readonly kind: "audit" }>): string {
  if (event.kind === "decided") return event.decision.sentence;
  return EVENT_SENTENCES[event.kind];
}

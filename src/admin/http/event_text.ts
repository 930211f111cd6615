/**
 * Events as people read them: in logs, on the page of what happened, on the command line.
 *
 * @module
 */

import { isoTime } from "../../time/iso_time.ts";
import { isRecord } from "../../config/faults.ts";
import type { PoolEvent } from "../../contract/event.ts";

/** What happened, as a sentence, for each kind that has the same one each time. */
export const EVENT_SENTENCES: Readonly<
  Record<Exclude<PoolEvent["kind"], "decided" | "audit">, string>
> = {
  "job-added": "A job was stored",
  "job-unstored": "A posted job could not be stored",
  "job-shed": "A job was rejected",
  "job-started": "A job started",
  "job-done": "A job is done",
  "job-failed": "A job failed and will be retried",
  "job-deferred": "A job was deferred",
  "job-dead": "A job is dead",
  "job-cancelled": "A job was cancelled",
  "job-handed-back": "A job was returned to its lane",
  "lease-lost": "The result of a job was discarded: another process runs it",
  "jobs-reaped": "Jobs of dead processes were returned to their lanes",
  "worker-stuck": "A handler ignores its abort: its worker is stuck",
  "cooldown-began": 'The receiver says "not now": its jobs wait until the circuit breaker closes',
  "cooldown-ended": "The circuit breaker is closed: jobs start again",
  "worker-failed": "A worker could not be started",
  "plugin-failed": "A strategy failed: the last plan stays in use",
  "plugin-recovered": "A strategy works again",
  "shadow-differs": "The shadow wants another number of workers than the controller",
  "shadow-agrees": "The shadow wants as many workers as the controller again",
  "store-failed": "The store could not be reached",
  "store-failing": "A call to the store fails again and again",
  "store-recovered": "The store answers again",
  "clock-stepped":
    "The wall clock was changed, or the machine slept: due times and schedules follow it",
  "paused": "Paused",
  "resumed": "Resumed",
  "override-set": "The bounds are overridden",
  "override-ended": "The override has ended: the bounds are the config's again",
  "reloaded": "The config was reloaded",
  "draining": "The pool is draining",
  "stopped": "The pool has stopped",
};

/** An event in two parts. */
export interface EventText {
  /** Who did it: a user of the admin API, or `system`. */
  readonly who: string;
  /** What happened, as a sentence or as the name of an action. */
  readonly what: string;
  /** More about it. May be empty. */
  readonly details: string;
}

/** Longest details, characters. */
const LONGEST = 300;

/** A number of ms that is smaller is a duration. */
const LEAST_TIME_MS = 1e12;

/** An event, with a decision as it is or as it is shown. */
type TextEvent =
  | Exclude<PoolEvent, { readonly kind: "decided" }>
  | { readonly kind: "decided"; readonly decision: { readonly sentence: string } };

/** What an event says. It was redacted before. */
export function eventText(event: TextEvent): EventText {
  if (event.kind === "audit") {
    const { who, action, target = "", before, after } = event;
    const what = `${action} ${target}`.trimEnd();
    return { who, what, details: cut(changeText(before, after)) };
  }
  if (event.kind === "decided") {
    return { who: "system", what: event.decision.sentence, details: "" };
  }
  const { kind, atMs: _, pool: __, ...rest } = event;
  return { who: "system", what: EVENT_SENTENCES[kind], details: cut(valueText(rest)) };
}

/** What was, where it differs, and what is. */
function changeText(before: unknown, after: unknown): string {
  if (!isRecord(before) || !isRecord(after)) {
    return [before, after].filter((value) => value !== undefined).map((value) => valueText(value))
      .join(" -> ");
  }
  return Object.entries(after).map(([name, value]) => {
    const [was, is] = [valueText(before[name], name), valueText(value, name)];
    return was === is ? `${name} ${is}` : `${name} ${was === "" ? "none" : was} -> ${is}`;
  }).join(", ");
}

/** A value in words: fields with their names, times as dates, changes of a config by their places. */
function valueText(value: unknown, name = ""): string {
  if (value === undefined) return "";
  if (typeof value === "string") return value;
  if (typeof value === "number" && name.endsWith("Ms") && value >= LEAST_TIME_MS) {
    return isoTime(value);
  }
  if (Array.isArray(value)) {
    return value.map((item) =>
      isRecord(item) && typeof item["pointer"] === "string" ? item["pointer"] : valueText(item)
    ).join(" ");
  }
  if (!isRecord(value)) return JSON.stringify(value) ?? "";
  return Object.entries(value).filter(([, item]) => item !== undefined)
    .map(([key, item]) => `${key} ${valueText(item, key)}`).join(", ");
}

function cut(text: string): string {
  return text.length <= LONGEST ? text : `${text.slice(0, LONGEST)}…`;
}

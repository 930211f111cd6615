/**
 * What people and the system did to a pool, in words: what a reader of its charts looks for beside them.
 *
 * @module
 */

import type { PoolEvent } from "../../contract/event.ts";
import { counted, duration } from "../../base/format.ts";
import { EVENT_SENTENCES } from "./event_text.ts";

/** One thing that was done, or happened. */
export interface Happening {
  /** When, ms since epoch. */
  readonly atMs: number;
  /** Who caused it: `person`, `system`, `trouble` (the system, and jobs suffer), or `size` (a change of size). */
  readonly tone: "person" | "system" | "trouble" | "size";
  /** What it was, without a period. */
  readonly text: string;
}

/** What is not about single jobs has a sentence of its own. */
type Shown = Exclude<PoolEvent, { readonly kind: "decided" }>;

/** Kinds of events that are such: rare, and not about single jobs. */
const KINDS: ReadonlySet<string> = new Set<PoolEvent["kind"]>([
  ...["paused", "resumed", "override-set", "override-ended", "reloaded", "draining"] as const,
  ...["stopped", "audit", "clock-stepped", "cooldown-began", "cooldown-ended"] as const,
  ...["plugin-failed", "plugin-recovered", "store-failed", "store-recovered"] as const,
]);

/** What people do to a pool as a whole, and the event that the pool itself tells of it. */
const ACTIONS: Readonly<Record<string, PoolEvent["kind"]>> = {
  "pause": "paused",
  "resume": "resumed",
  "override": "override-set",
  "override-end": "override-ended",
  "drain": "draining",
  "close-breaker": "cooldown-ended",
  "reload": "reloaded",
};

/** An event and the line of who did it in the log are of one moment, ms. */
const MOMENT_MS = 1_000;

/**
 * In words, oldest first. What someone did is there once, with who it was.
 *
 * @param events Oldest first; those that are no such thing are left out.
 */
export function happeningsOf(events: readonly PoolEvent[]): readonly Happening[] {
  const shown = events.filter((event) => isHappening(event));
  const acts = shown.filter((event) => event.kind === "audit");
  const isTold = ({ kind, atMs }: PoolEvent): boolean =>
    acts.some((act) => ACTIONS[act.action] === kind && Math.abs(act.atMs - atMs) <= MOMENT_MS);
  return shown.filter((event) => !isTold(event)).map((event) => ({
    atMs: event.atMs,
    tone: toneOf(event),
    text: textOf(event),
  }));
}

/** True for what is shown. Circuit breakers of single keys are too many. */
function isHappening(event: PoolEvent): event is Shown {
  if (!KINDS.has(event.kind)) return false;
  if (event.kind === "audit") return event.action in ACTIONS || event.action.includes(" jobs");
  return !("key" in event) || event.key === undefined;
}

function toneOf({ kind }: PoolEvent): Happening["tone"] {
  if (kind === "audit" || kind === "reloaded") return "person";
  if (kind === "plugin-failed" || kind === "store-failed" || kind === "cooldown-began") {
    return "trouble";
  }
  return "system";
}

function textOf(event: Shown): string {
  switch (event.kind) {
    case "audit":
      return actText(event);
    case "paused":
    case "resumed":
      return event.lane === undefined
        ? EVENT_SENTENCES[event.kind]
        : `Lane ${event.lane} ${event.kind}`;
    case "reloaded":
      return `${EVENT_SENTENCES.reloaded}: ${counted(event.changes.length, "change")}`;
    case "cooldown-began":
      return `${whoOf(event)} says "not now": no job starts`;
    case "cooldown-ended":
      return `${whoOf(event)} takes jobs again after ${duration(event.forMs)}`;
    case "plugin-failed":
      return `${event.plugin} failed: its last answer stays in use`;
    default:
      return EVENT_SENTENCES[event.kind];
  }
}

function whoOf({ downstream }: { readonly downstream?: string | undefined }): string {
  return downstream === undefined ? "The receiver" : `Downstream ${downstream}`;
}

function actText(
  { action, who, target, after }: Extract<PoolEvent, { readonly kind: "audit" }>,
): string {
  const lane = action === "pause" || action === "resume" ? target : undefined;
  const of = lane === undefined ? "" : ` of lane ${lane}`;
  const what = action.charAt(0).toUpperCase() + action.slice(1).replaceAll("-", " ");
  return `${what}${of}${boundsOf(action, after)}, by ${who}`;
}

/** Bounds of an override: `max 2`. */
function boundsOf(action: string, after: unknown): string {
  if (action !== "override" || typeof after !== "object" || after === null) return "";
  const bounds = Object.entries(after).filter(([name]) => name !== "untilMs");
  return bounds.map(([name, value]) => ` ${name} ${value}`).join(",");
}

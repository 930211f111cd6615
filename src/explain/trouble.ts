/**
 * What is wrong with pools, a line each: what, since when, where it is going, what to do. Pure.
 *
 * @module
 */

import { agreeing, counted, duration, grouped, rate } from "../base/format.ts";
import type { BreakerView, LaneView, PoolView } from "../contract/view.ts";
import type { Sample } from "../planning/sample.ts";
import { type Finding, FINDING_CODES, PRESSING_CODES } from "./diagnose.ts";
import { briefOf, forMsOf, WAITING_CODES } from "./finding_brief.ts";
import { breakerText, drainingText, STOPPED } from "./reason.ts";

/** What is wrong, worst first. */
export const TROUBLE_CODES = [
  "stopped",
  "stale",
  "stuck",
  ...FINDING_CODES,
  "degraded",
  "draining",
  "cooling-down",
  "paused",
  "overridden",
  "dead-letters",
] as const;

/** One thing that is wrong with a pool. */
export interface Trouble {
  /** What kind it is. */
  readonly code: typeof TROUBLE_CODES[number];
  /** `bad`: jobs suffer. `warn`: someone or something holds jobs. `quiet`: nothing gets worse. */
  readonly tone: "bad" | "warn" | "quiet";
  /** Name of the lane that it is about. `undefined`: the pool. */
  readonly lane: string | undefined;
  /** What is wrong, without a period. */
  readonly what: string;
  /** For how long it has been so, ms. `undefined`: not known. */
  readonly forMs: number | undefined;
  /** Where it is going, without a period. Empty: not known. */
  readonly trend: string;
  /** What to do, without a period. */
  readonly next: string;
}

/** Dead letters of a pool. */
export interface DeadLetters {
  /** How many there are. */
  readonly count: number;
  /** When the latest of them ended, ms since epoch. `undefined`: not known. */
  readonly lastAtMs?: number | undefined;
}

/** A pool, as far as trouble is looked for. */
export interface TroubledPool extends PoolView {
  /** What its recent past shows. */
  readonly diagnosis: readonly Finding[];
  /** True once a drain has ended. */
  readonly stopped: boolean;
  /** True while a strategy fails. */
  readonly degraded: boolean;
  /** True while the whole pool is paused. */
  readonly paused: boolean;
  /** The drain. `undefined`: there was none. */
  readonly drain:
    | { readonly sinceMs: number; readonly untilMs: number; readonly durable: boolean }
    | undefined;
  /** Circuit breakers that are not closed, the pool's first. */
  readonly breakers: readonly BreakerView[];
  /** Bounds in effect instead of the config's. `undefined`: none. */
  readonly override:
    | {
      readonly min?: number | undefined;
      readonly max?: number | undefined;
      readonly target?: number | undefined;
      readonly untilMs: number;
    }
    | undefined;
  /** When it catches up. `undefined`: it is not behind. */
  readonly catchUp?: { readonly text: string } | undefined;
}

/** What is known besides the pool itself. */
export interface TroubleFacts {
  /** Its dead letters. `undefined`: not known. */
  readonly dead?: DeadLetters | undefined;
  /** The error of a job that failed of late. `undefined`: not known. */
  readonly error?: string | undefined;
  /** The pool a minute ago. `undefined`: it is younger. */
  readonly before?: Sample | undefined;
  /** Who paused it, or a lane of it, as far as this process knows. `lane` left out: the pool. */
  readonly pauses?: readonly Pause[] | undefined;
}

/** A pause. */
export interface Pause {
  /** Name of the lane. `undefined`: the pool. */
  readonly lane: string | undefined;
  /** When, ms since epoch. */
  readonly atMs: number;
  /** Who did it. `undefined`: not known. */
  readonly by: string | undefined;
}

/** Dead letters are old news after so long without a new one, ms. */
const OLD_MS = 60_000;

/** A smaller share of the time that the event loop is blocked hides nothing worse: a busy machine does that. */
const LITTLE_BLOCKED = 0.05;

/** An adaptive pool is no trouble for never changing its size. */
const ADVICE: readonly Finding["code"][] = ["fixed-would-do"];

/** What is wrong with a pool, worst first. Empty: nothing. */
export function troublesOf(pool: TroubledPool, facts: TroubleFacts = {}): readonly Trouble[] {
  if (pool.stopped) {
    return [
      trouble("stopped", "bad", { what: STOPPED, next: "Restart the process to use it again" }),
    ];
  }
  const isBlocked = pool.diagnosis.some(isBlockedMostly);
  const findings = pool.diagnosis.filter((finding) =>
    !ADVICE.includes(finding.code) && !(isBlocked && isWaiting(finding))
  );
  const found = findings.map((finding, place) =>
    ofFinding(finding, pool, facts, findings.findIndex(isWaiting) === place)
  );
  const codes = new Set(findings.map(({ code }) => code));
  return [
    ...found,
    ...ofPool(pool, codes),
    ...holds(pool, facts, codes),
    ...dead(pool.nowMs, facts, codes.has("failing")),
  ].sort(worseFirst);
}

/** Orders troubles, of one pool or of many. */
export function worseFirst(a: Trouble, b: Trouble): number {
  return TONES.indexOf(a.tone) - TONES.indexOf(b.tone) ||
    TROUBLE_CODES.indexOf(a.code) - TROUBLE_CODES.indexOf(b.code) ||
    minutes(b) - minutes(a);
}

/** In whole minutes, or lines of one moment would change places with each look. */
function minutes({ forMs = 0 }: Trouble): number {
  return Math.floor(forMs / 60_000);
}

const TONES: readonly Trouble["tone"][] = ["bad", "warn", "quiet"];

function trouble(
  code: Trouble["code"],
  tone: Trouble["tone"],
  rest: Pick<Trouble, "what" | "next"> & Partial<Trouble>,
): Trouble {
  return { lane: undefined, forMs: undefined, trend: "", ...rest, code, tone };
}

/** The event loop is blocked for so much of the time that all jobs wait for it: no other bound matters. */
function isBlockedMostly(finding: Finding): boolean {
  return finding.code === "loop-blocked" && blockedShare(finding) >= 0.5;
}

function blockedShare({ numbers: { blockedMs = 0, spanMs = 0 } }: Finding): number {
  return spanMs === 0 ? 0 : blockedMs / spanMs;
}

function toneOf(finding: Finding): Trouble["tone"] {
  const { code } = finding;
  if (code === "loop-blocked") return blockedShare(finding) < LITTLE_BLOCKED ? "quiet" : "bad";
  return PRESSING_CODES.includes(code) || code === "downstream-slower" ? "bad" : "quiet";
}

function isWaiting({ code }: Finding): boolean {
  return WAITING_CODES.includes(code);
}

function ofFinding(
  finding: Finding,
  pool: TroubledPool,
  facts: TroubleFacts,
  saysWhen: boolean,
): Trouble {
  const { code, lane, change } = finding;
  const brief = briefOf(finding);
  const isFailing = code === "failing" && facts.error !== undefined;
  return trouble(code, toneOf(finding), {
    lane,
    what: isFailing ? `${brief}: ${facts.error}` : brief,
    forMs: forMsOf(finding),
    trend: code === "failing"
      ? failingTrend(pool, facts)
      : code === "key-bound"
      ? growth(pool, lane, facts)
      : saysWhen
      ? pool.catchUp?.text ?? ""
      : "",
    next: isFailing
      ? "Fix the handler or what it calls: more workers or attempts will not help"
      : change,
  });
}

function failingTrend({ window }: TroubledPool, { dead }: TroubleFacts): string {
  const failed = window.failuresPerSec;
  const now = failed > 0 ? `${rate(failed)}/s fail now` : "none failed in the last 10 s";
  return dead === undefined || dead.count === 0 ? now : `${now}, ${grouped(dead.count)} dead`;
}

function ofPool(pool: TroubledPool, codes: ReadonlySet<string>): readonly Trouble[] {
  const stuck = pool.workers.filter(({ state }) => state === "stuck").length;
  return [
    pool.stale && !codes.has("store-failing") && trouble("stale", "bad", {
      what: "The store cannot be read: counts are the last known ones",
      next: "Check the store: its disk, the network, its log",
    }),
    stuck > 0 && trouble("stuck", "bad", {
      what: `${counted(stuck, "worker")} ${agreeing(stuck, "is", "are")} stuck: ` +
        `${agreeing(stuck, "its handler ignores its", "their handlers ignore their")} abort`,
      next: "Let the handler end when context.signal aborts",
    }),
    pool.degraded && trouble("degraded", "bad", {
      what: "A strategy fails: its last valid answer stays in use",
      next: "Read its error in the log",
    }),
  ].filter((one) => one !== false);
}

function holds(
  pool: TroubledPool,
  facts: TroubleFacts,
  codes: ReadonlySet<string>,
): readonly Trouble[] {
  const { nowMs, drain, override, breakers, paused, lanes } = pool;
  const [breaker] = breakers;
  const draining = drainingText(pool);
  const waiting = lanes.reduce((sum, lane) => sum + lane.ready, 0);
  const isHeld = draining === undefined && !paused;
  return [
    draining !== undefined && trouble("draining", "warn", {
      what: draining,
      forMs: nowMs - (drain?.sinceMs ?? nowMs),
      next: "Restart the process to use it again",
    }),
    breaker !== undefined && !codes.has("receiver-refuses") && trouble("cooling-down", "warn", {
      what: breakerText(breaker, nowMs),
      forMs: nowMs - breaker.sinceMs,
      next: "Wait: it tries again by itself",
    }),
    paused && trouble("paused", "warn", {
      forMs: pausedForMs(pool, undefined, facts),
      trend: comeText(pool.window.arrivalsPerSec),
      what: `${pausedBy(undefined, facts)}: ${waitingText(waiting)}`,
      next: "Resume it",
    }),
    ...lanes.map((lane) =>
      isHeld && lane.paused && lane.ready > 0 && pausedLane(lane, pool, facts)
    ),
    override !== undefined && trouble("overridden", "warn", {
      what: `Bounds overridden for ${duration(Math.max(0, override.untilMs - nowMs))} more: ${
        boundsText(override)
      }`,
      next: "End the override, or let it end by itself",
    }),
  ].filter((one) => one !== false);
}

function pausedLane(lane: LaneView, pool: TroubledPool, facts: TroubleFacts): Trouble {
  return trouble("paused", "warn", {
    lane: lane.name,
    what: `${pausedBy(lane.name, facts)}: ${waitingText(lane.ready)}`,
    forMs: pausedForMs(pool, lane.name, facts),
    trend: comeText(lane.window.arrivalsPerSec),
    next: "Resume the lane",
  });
}

function pausedBy(lane: string | undefined, { pauses = [] }: TroubleFacts): string {
  const by = pauses.find((pause) => pause.lane === lane)?.by;
  return by === undefined ? "Paused" : `Paused by ${by}`;
}

function pausedForMs(
  { nowMs }: TroubledPool,
  lane: string | undefined,
  { pauses = [] }: TroubleFacts,
): number | undefined {
  const pause = pauses.find((one) => one.lane === lane);
  return pause === undefined ? undefined : Math.max(0, nowMs - pause.atMs);
}

/** Jobs of a paused lane: their waits do not count. */
function waitingText(waiting: number): string {
  if (waiting === 0) return "no job waits";
  return `${counted(waiting, "job")} ${agreeing(waiting, "waits", "wait")}`;
}

function comeText(perSec: number): string {
  return perSec > 0 ? `${rate(perSec)}/s more come` : "none came in the last 10 s";
}

function boundsText({ min, max, target }: NonNullable<TroubledPool["override"]>): string {
  const parts = [
    min !== undefined && `min ${min}`,
    max !== undefined && `max ${max}`,
    target !== undefined && `target ${target}`,
  ];
  return parts.filter((part) => part !== false).join(", ");
}

/** How many more or fewer jobs of a lane are blocked than a minute ago. */
function growth(
  { lanes }: TroubledPool,
  name: string | undefined,
  { before }: TroubleFacts,
): string {
  const then = before?.lanes.find((lane) => lane.name === name)?.blocked;
  const now = lanes.find((lane) => lane.name === name)?.blocked;
  if (then === undefined || now === undefined) return "";
  if (now === then) return "no more than a minute ago";
  return `${grouped(Math.abs(now - then))} ${now > then ? "more" : "fewer"} than a minute ago`;
}

function dead(
  nowMs: number,
  { dead: letters }: TroubleFacts,
  isFailing: boolean,
): readonly Trouble[] {
  if (letters === undefined || letters.count === 0 || isFailing) return [];
  const { count, lastAtMs } = letters;
  const agoMs = lastAtMs === undefined ? undefined : Math.max(0, nowMs - lastAtMs);
  const isOld = agoMs === undefined || agoMs >= OLD_MS;
  return [trouble("dead-letters", isOld ? "quiet" : "warn", {
    what: `${grouped(count)} dead`,
    trend: agoMs === undefined
      ? ""
      : isOld
      ? `none new for ${duration(agoMs)}`
      : `the latest ${duration(agoMs)} ago`,
    next: "Read why they died, then retry or discard them",
  })];
}

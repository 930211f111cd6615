/**
 * The state of a pool, in marks: each says in words what its color says.
 *
 * @module
 */

/** @jsxImportSource hono/jsx */

import type { FC } from "hono/jsx";
import { type Finding, lanesOverTarget, PRESSING_CODES } from "../../explain/diagnose.ts";
import { agreeing, counted, duration } from "../../base/format.ts";
import type { PoolSnapshot } from "../../runtime/handles.ts";
import { NOT_WORKED, STOPPED } from "../../explain/reason.ts";

/** A pool with what its recent past shows. */
export interface ShownPool extends PoolSnapshot {
  /** What is wrong, most pressing first. */
  readonly diagnosis: readonly Finding[];
}

/** One mark. */
export interface PoolMark {
  /** What it says. */
  readonly text: string;
  /** `bad`: jobs suffer. `warn`: jobs wait, or someone or something holds the pool. `good`: all is well. */
  readonly tone: "bad" | "warn" | "good";
  /** What it means, as a sentence. `undefined`: the text says it all. */
  readonly means?: string;
}

/** All marks of a pool's state, most pressing first. Never empty. */
export function marksOf(pool: ShownPool): readonly PoolMark[] {
  const marks = [...troubles(pool), ...late(pool), ...holds(pool)];
  if (marks.length > 0) return marks;
  if (pool.decision === undefined) {
    return [{ text: "starting", tone: "warn", means: "It has not made its first decision yet." }];
  }
  return [{ text: "ok", tone: "good" }];
}

/** True if nothing is to be said of the pool. */
export function isWell(pool: ShownPool): boolean {
  return marksOf(pool).every(({ tone }) => tone === "good");
}

/** The marks of a pool. */
export function Marks({ pool }: { pool: ShownPool }): ReturnType<FC> {
  return (
    <span class="marks">
      {marksOf(pool).map(({ text, tone, means }) => (
        <span data-key={text} class={`mark ${tone}`} title={means}>{text}</span>
      ))}
    </span>
  );
}

/** What marks mean, where they do not say it all. */
export function Meanings({ pool }: { pool: ShownPool }): ReturnType<FC> {
  const marks = marksOf(pool).filter(({ means }) => means !== undefined);
  return (
    <>
      {marks.map(({ text, tone, means }) => (
        <p data-key={text} class={tone === "bad" ? "meaning bad" : "meaning"}>
          <strong>{text}:</strong> {means}
        </p>
      ))}
    </>
  );
}

/** Class of what tells of a finding: as pressing as its mark is. */
export function findingClass({ code }: Finding): string {
  return PRESSING_CODES.includes(code) ? "finding bad" : "finding";
}

function troubles(pool: ShownPool): readonly PoolMark[] {
  const stuck = pool.workers.filter(({ state }) => state === "stuck").length;
  const found = pool.diagnosis.filter(({ code }) => PRESSING_CODES.includes(code));
  return [
    pool.stopped && bad("stopped", `${STOPPED}.`),
    pool.stale && bad("stale", "The store cannot be read: counts are the last known ones."),
    pool.degraded && bad("degraded", "A strategy fails: its last valid answer stays in use."),
    stuck > 0 && bad(
      `${stuck} stuck`,
      `The handlers of ${stuck} ${
        stuck === 1 ? "worker ignores its" : "workers ignore their"
      } abort.`,
    ),
    ...[...new Set(found.map(({ code }) => code))].map((code) => bad(code.replaceAll("-", " "))),
  ].filter((mark) => mark !== false);
}

function late(pool: ShownPool): readonly PoolMark[] {
  const names = lanesOverTarget(pool).map((name) => `"${name}"`);
  if (names.length === 0) return [];
  const lane = agreeing(names.length, "lane", "lanes");
  const their = agreeing(names.length, "its target", "their targets");
  return [
    warn("over target", `Jobs of ${lane} ${names.join(", ")} wait longer than ${their}.`),
  ];
}

function holds(pool: ShownPool): readonly PoolMark[] {
  return [
    pool.draining && !pool.stopped &&
    warn("draining", "It accepts no more jobs and starts none."),
    !pool.worked && warn("not worked here", `${NOT_WORKED}.`),
    pool.paused && warn("paused", "No job starts until it is resumed."),
    !pool.draining && !pool.paused && pausedLanes(pool),
    pool.override !== undefined && warn("overridden"),
    pool.holdUntilMs > 0 && warn("cooling down", coolingOf(pool)),
    pool.openKeys > 0 && warn(`${counted(pool.openKeys, "key")} held`),
    pool.holdUntilMs === 0 && pool.rateBound &&
    warn("rate-bound", "A start rate, not workers, holds jobs back: more workers would not help."),
  ].filter((mark) => mark !== false);
}

/** Lanes that are paused while jobs of them wait. */
function pausedLanes({ lanes }: ShownPool): PoolMark | false {
  const held = lanes.filter(({ paused, ready }) => paused && ready > 0);
  if (held.length === 0) return false;
  const names = held.map(({ name }) => `"${name}"`).join(", ");
  const ready = held.reduce((sum, lane) => sum + lane.ready, 0);
  return warn(
    agreeing(held.length, "lane paused", "lanes paused"),
    `${counted(ready, "job")} of ${names} ${agreeing(ready, "waits", "wait")} until ` +
      `${agreeing(held.length, "it is", "they are")} resumed.`,
  );
}

function coolingOf({ holdUntilMs, heldBy, nowMs }: ShownPool): string {
  const leftMs = holdUntilMs - nowMs;
  const when = leftMs > 0 ? `in ${duration(leftMs)}` : "now";
  const who = heldBy === "" ? "The receiver" : `Downstream "${heldBy}"`;
  return `${who} says "not now": nothing starts, and one job tries again ${when}.`;
}

function bad(text: string, means?: string): PoolMark {
  return { text, tone: "bad", ...(means === undefined ? {} : { means }) };
}

function warn(text: string, means?: string): PoolMark {
  return { text, tone: "warn", ...(means === undefined ? {} : { means }) };
}

/**
 * Checks what code calls a pool with: types hold nobody who writes JavaScript, or reads from JSON.
 *
 * @module
 */

import { display, isRecord } from "../config/faults.ts";
import type { AuditEntry } from "../contract/event.ts";
import type { ReloadOptions, RunOptions } from "./handles.ts";
import type { ScheduleChange } from "./schedules.ts";
import type { Change, JobQuery } from "../contract/store.ts";
import { isState, JOB_STATES } from "../base/states.ts";
import { quoted } from "../base/suggest.ts";

const CHANGES: readonly Change[] = ["cancel", "revive", "remove"];

/** @throws {TypeError} If it is no text. */
export function checkId(id: unknown): void {
  requireThat(typeof id === "string", "the id of a job", id);
}

/** @throws {TypeError} If there is no such change. */
export function checkChange(id: unknown, change: unknown): void {
  checkId(id);
  requireThat(CHANGES.some((one) => one === change), `one of ${quoted(CHANGES)}`, change);
}

const SCHEDULE_CHANGES: readonly ScheduleChange[] = ["run", "pause", "resume"];

/** @throws {TypeError} If there is no such change of a schedule. */
export function checkScheduleChange(id: unknown, change: unknown): void {
  requireThat(typeof id === "string", "the id of a schedule", id);
  const isKnown = SCHEDULE_CHANGES.some((one) => one === change);
  requireThat(isKnown, `one of ${quoted(SCHEDULE_CHANGES)}`, change);
}

/** @throws {TypeError} If a field of a query is of another kind. */
export function checkQuery(query: JobQuery): void {
  requireThat(isRecord(query), "a query such as { limit: 50 }", query);
  const { state, lane, order, limit, cursor } = query;
  const isCount = Number.isInteger(limit) && limit > 0;
  requireThat(isCount || limit === Infinity, "limit to be a whole number > 0", limit);
  const isKnown = state === undefined || isState(state);
  requireThat(isKnown, `state to be one of ${quoted(JOB_STATES)}`, state);
  requireThat(isText(lane), "lane to be the name of a lane", lane);
  requireThat(order === undefined || order === "latest-end", 'order to be "latest-end"', order);
  requireThat(isText(cursor), "cursor to be that of a page", cursor);
}

/** @throws {TypeError} If a time is none: ms, >= 0; `Infinity` has no end. */
export function checkMs(name: string, ms: unknown): void {
  requireThat(typeof ms === "number" && ms >= 0, `${name} to be a number >= 0`, ms);
}

/** A whole number, >= 0. @throws {TypeError} If it is none. */
export function checkedCount(name: string, count: unknown): number {
  const isCount = typeof count === "number" && (Number.isInteger(count) || count === Infinity);
  if (isCount && count >= 0) return count;
  throw new TypeError(`Expected ${name} to be a whole number >= 0 but received ${display(count)}`);
}

/** A list of jobs. @throws {TypeError} If it is none. */
export function checkedList<T>(jobs: readonly T[]): readonly T[] {
  requireThat(Array.isArray(jobs), "a list of jobs", jobs);
  return jobs;
}

/** Names of pools. @throws {TypeError} If they are no list of texts. */
export function checkedNames(names: readonly string[]): readonly string[] {
  const isList = Array.isArray(names) && names.every((name) => typeof name === "string");
  requireThat(isList, "pools to be a list of names", names);
  return names;
}

/** @throws {TypeError} If what a reload is called with is no object, or its fields are not true or false. */
export function checkReload(options: ReloadOptions): void {
  requireThat(isRecord(options), "options such as { dryRun: true }", options);
  for (const [name, value] of Object.entries(options)) {
    const isFlag = value === undefined || typeof value === "boolean";
    requireThat(isFlag, `${name} to be true or false`, value);
  }
}

/** @throws {TypeError} If what a job is run with is no object, or its signal is none. */
export function checkRun(options: RunOptions): void {
  requireThat(isRecord(options), "options such as { signal }", options);
  const { signal } = options;
  const isSignal = signal === undefined || signal instanceof AbortSignal;
  requireThat(isSignal, "signal to be an AbortSignal", signal);
}

/** @throws {TypeError} If it is no entry of an audit. */
export function checkAudit(entry: AuditEntry): void {
  requireThat(
    isRecord(entry) && typeof entry.action === "string",
    "an entry with an action",
    entry,
  );
}

/** @throws {TypeError} If it cannot be called. */
export function checkFunction(what: string, given: unknown): void {
  requireThat(typeof given === "function", what, given);
}

function isText(value: unknown): boolean {
  return value === undefined || typeof value === "string";
}

function requireThat(holds: boolean, what: string, given: unknown): void {
  if (!holds) throw new TypeError(`Expected ${what} but received ${display(given)}`);
}

/**
 * Runs a built-in handler as a pool would: options checked, a job, a context that records.
 *
 * @module
 */

import assert from "node:assert/strict";
import type { Job, JobContext, Logger } from "../../../src/contract/job.ts";
import { bind } from "../../../src/contract/bind.ts";
import type { Handler, Plugin } from "../../../src/contract/plugin.ts";

const silent: Logger = { debug() {}, info() {}, warn() {}, error() {} };

/** A context of which only the signal and `overloaded` matter. */
export interface RecordedContext extends JobContext {
  /** What `overloaded` was called with. */
  readonly overloads: (number | undefined)[];
  /** What `used` was called with: the downstream, and whether it went well. */
  readonly uses: string[];
}

/** The handler that a plugin makes of these options. */
export function handlerOf(plugin: Plugin<"handler">, options: unknown): Handler {
  const binding = bind(plugin, options);
  assert.ok(binding.ok, JSON.stringify(binding));
  return binding.bound.create({
    pool: "mail",
    lanes: ["urgent"],
    size: { min: 1, max: 2 },
    random: () => 0,
    log: silent,
  });
}

/** Messages of the faults in these options. */
export function faultsOf(plugin: Plugin<"handler">, options: unknown): readonly string[] {
  const binding = bind(plugin, options);
  return binding.ok ? [] : binding.issues.map((issue) => issue.message);
}

/** A job with something to override. */
export function jobOf(overrides: Partial<Job> = {}): Job {
  return {
    id: "mail-1",
    lane: "urgent",
    type: "",
    payload: { to: "ada" },
    createdAtMs: 0,
    attempt: 1,
    ...overrides,
  };
}

/** A context that aborts with `signal`. */
export function contextOf(signal: AbortSignal = new AbortController().signal): RecordedContext {
  const overloads: (number | undefined)[] = [];
  const uses: string[] = [];
  return {
    signal,
    fence: 1,
    idempotencyKey: "mail/mail-1",
    resource: undefined,
    log: silent,
    progress: () => Promise.resolve(),
    overloaded: (retryAfterMs) => overloads.push(retryAfterMs),
    used: (downstream, { ok = true } = {}) => uses.push(`${downstream} ${ok}`),
    overloads,
    uses,
  };
}

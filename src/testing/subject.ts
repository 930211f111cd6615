/**
 * What all conformance checks share: how a plugin is made ready, and how a fault is reported.
 *
 * @module
 */

import assert from "node:assert/strict";
import type { Logger } from "../contract/job.ts";
import { bind } from "../contract/bind.ts";
import type { Bound, Kind, Plugin, PluginContext, Slot } from "../contract/plugin.ts";
import { randomStream } from "../base/random.ts";

/** What is to be checked: a plugin, a plugin with options by `use`, or one already bound. */
export type Subject<K extends Kind> = Plugin<K> | Slot<K> | Bound<K>;

/** Lanes of the pool that strategies are made for unless a check says otherwise. */
export const LANES: readonly string[] = ["urgent", "normal", "batch"];

/** A plugin with checked options. Throws if they do not fit its schema. */
export function bindSubject<K extends Kind>(subject: Subject<K>): Bound<K> {
  if ("given" in subject) return subject;
  const [plugin, options] = "use" in subject ? [subject.use, subject.with] : [subject, undefined];
  const binding = bind(plugin, options);
  if (binding.ok) return binding.bound;
  const issues = binding.issues.map((issue) => issue.message).join("; ");
  throw fault(plugin, `Expected its options to fit its schema but: ${issues}`);
}

/** What a factory is given: the same chance each time. */
export function makeContext(lanes: readonly string[] = LANES): PluginContext {
  return {
    pool: "pool",
    lanes,
    size: { min: 0, max: 100 },
    random: randomStream(1, "conformance"),
    log: SILENT,
  };
}

/** An error that names the plugin. */
export function fault(
  plugin: { readonly kind: Kind; readonly name: string },
  message: string,
  cause?: unknown,
): assert.AssertionError {
  const error = new assert.AssertionError({
    message: `${plugin.kind} "${plugin.name}": ${message}`,
  });
  if (cause !== undefined) error.cause = cause;
  return error;
}

/** Fails unless `reason` says something. */
export function requireReason(reason: unknown): void {
  if (typeof reason !== "string" || reason.trim() === "") {
    throw new TypeError(`Expected a reason with text but received ${show(reason)}`);
  }
  if (/\b(NaN|undefined|\[object)/.test(reason)) {
    throw new TypeError(`Expected a reason for people but received "${reason}"`);
  }
}

/** Fails unless `value` is a number >= 0, and finite unless `Infinity` means no bound. */
export function requireAmount(name: string, value: unknown, most: "finite" | "any"): void {
  const fits = typeof value === "number" && value >= 0 && (most === "any" || value < Infinity);
  if (!fits) {
    const wanted = most === "any" ? "a number >= 0" : "a finite number >= 0";
    throw new TypeError(`Expected ${name} to be ${wanted} but received ${show(value)}`);
  }
}

/** Fails unless a time to ask again lies after now, or there is none. */
export function requireReview(reviewAtMs: unknown, nowMs: number): void {
  if (reviewAtMs === undefined) return;
  if (typeof reviewAtMs !== "number" || !(reviewAtMs > nowMs)) {
    throw new TypeError(
      `Expected reviewAtMs to be undefined or after nowMs (${nowMs}) but received ${
        show(reviewAtMs)
      }`,
    );
  }
}

/** A value as an error message shows it. */
export function show(value: unknown): string {
  if (typeof value === "string") return `"${value}"`;
  if (typeof value === "object" && value !== null) {
    return JSON.stringify(value, unfinite) ?? "an object";
  }
  return String(value);
}

/** JSON has no `NaN` and no `Infinity`. */
function unfinite(_: string, part: unknown): unknown {
  return typeof part === "number" && !Number.isFinite(part) ? String(part) : part;
}

const SILENT: Logger = { debug() {}, info() {}, warn() {}, error() {} };

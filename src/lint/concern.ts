/**
 * Concerns: what a config without faults still cannot do.
 *
 * @module
 */

import type { Path } from "../config/faults.ts";
import { toPointer } from "../config/faults.ts";

/** What kind of concern it is. */
export type ConcernCode =
  | "overload"
  | "rate-overload"
  | "lane-overload"
  | "late-at-limit"
  | "pool-stopped"
  | "cap-below-min"
  | "rate-by-workers"
  | "rate-below-one-worker"
  | "rate-unused"
  | "rate-forgotten"
  | "key-rate-unused"
  | "reserve-over-limit"
  | "reserve-small"
  | "no-reserve"
  | "retry-load"
  | "retry-at-once"
  | "retry-in-step"
  | "retry-past-ttl"
  | "breaker-one-by-one"
  | "deadline-below-run"
  | "timeout-below-run"
  | "timeout-tight"
  | "lease-short"
  | "lease-below-run"
  | "deadline-below-lease"
  | "drain-short"
  | "drain-past-kill"
  | "depth-past-deadline"
  | "depth-below-target"
  | "growth-slow"
  | "growth-stalls"
  | "never-grows"
  | "reserve-below-chance"
  | "weight-unread"
  | "start-within-unread"
  | "connections-short"
  | "downstream-short"
  | "downstream-unused"
  | "strategy-fails"
  | "store-rate"
  | "target-over-max"
  | "route-unreached"
  | "request-past-timeout";

/**
 * How much it matters. `error`: it cannot work as the config says; `warning`: some jobs will suffer;
 * `note`: good to know.
 */
export type Severity = "error" | "warning" | "note";

/** One thing that a config cannot do, or not well. */
export interface Concern {
  /** What kind it is. */
  readonly code: ConcernCode;
  /** How much it matters. */
  readonly severity: Severity;
  /** JSON Pointer to what would have to change. */
  readonly pointer: string;
  /** What happens, with the numbers. */
  readonly message: string;
  /** What it was computed by: true is bad. */
  readonly formula: string;
  /** The numbers put into `formula`, by name. */
  readonly numbers: Readonly<Record<string, number>>;
  /** The smallest change that would do. */
  readonly change: string;
}

/** A concern with its place as a path. */
export type ConcernAt = Omit<Concern, "pointer"> & { readonly path: Path };

/** A concern, its place as a pointer. */
export function concern({ path, ...rest }: ConcernAt): Concern {
  const { code, severity, message, formula, numbers, change } = rest;
  return { code, severity, pointer: toPointer(path), message, formula, numbers, change };
}

/** For texts: three digits, more where the whole part has more. */
export function figure(value: number): string {
  if (!Number.isFinite(value)) return "endless";
  return Math.abs(value) >= 100 ? String(Math.round(value)) : String(Number(value.toPrecision(3)));
}

/** A share for texts: `8 of 100 jobs`. */
export function ofHundred(share: number): string {
  return `${Math.max(1, Math.round(share * 100))} of 100 jobs`;
}

/** A duration for texts. */
export function span(ms: number): string {
  return ms < 10_000 ? `${figure(ms)} ms` : `${figure(ms / 1000)} s`;
}

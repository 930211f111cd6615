/**
 * Diagnosis: what the recent past of a pool says is wrong, in numbers, and what to change.
 *
 * @module
 */

import { atCapacity } from "./diagnose/capacity.ts";
import { downstreamSlower } from "./diagnose/downstream.ts";
import { failing } from "./diagnose/failing.ts";
import { type Finding, FINDING_CODES, type StoreTrouble, type Traits } from "./diagnose/finding.ts";
import { neverGrows } from "./diagnose/filling.ts";
import { laneStarved, laneWaits } from "./diagnose/lanes.ts";
import { loopBlocked, storeFailing } from "./diagnose/process.ts";
import { receiverRefuses } from "./diagnose/refusing.ts";
import { claimsStalled, stalled } from "./diagnose/stalled.ts";
import { fixedWouldDo, oscillation } from "./diagnose/steadiness.ts";
import { usesDrift } from "./diagnose/uses.ts";
import { keyBound, reserveIdle, storeSlow } from "./diagnose/waiting_lanes.ts";
import type { History } from "../planning/history.ts";

export { aimOf, isOverTarget, lanesOverTarget } from "./diagnose/over_target.ts";
export {
  type Finding,
  FINDING_CODES,
  type FindingCode,
  PRESSING_CODES,
} from "./diagnose/finding.ts";

const CHECKS: readonly ((history: History, traits: Traits) => readonly Finding[])[] = [
  loopBlocked,
  claimsStalled,
  storeSlow,
  stalled,
  failing,
  receiverRefuses,
  keyBound,
  reserveIdle,
  atCapacity,
  downstreamSlower,
  laneStarved,
  neverGrows,
  laneWaits,
  usesDrift,
  oscillation,
  fixedWouldDo,
];

/** A history does not change: metrics, API and dashboard may all ask between two samples. */
const known = new WeakMap<History, readonly Finding[]>();

/**
 * Finds what is wrong, most pressing first. Empty: nothing that can be seen. While the store fails the
 * counts are old, so that is all that is said.
 */
export function diagnose(
  history: History,
  traits: Traits,
  trouble: StoreTrouble,
): readonly Finding[] {
  const failing = storeFailing(trouble);
  return failing.length > 0 ? failing : inHistory(history, traits);
}

function inHistory(history: History, traits: Traits): readonly Finding[] {
  let findings = known.get(history);
  if (findings === undefined) {
    findings = CHECKS.flatMap((check) => check(history, traits)).sort((a, b) =>
      FINDING_CODES.indexOf(a.code) - FINDING_CODES.indexOf(b.code)
    );
    known.set(history, findings);
  }
  return findings;
}

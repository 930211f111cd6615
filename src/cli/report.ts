/**
 * What a stop or a drain came to.
 *
 * @module
 */

import { counted } from "../base/format.ts";
import type { StopReport } from "../runtime/handles.ts";

/** What a stop came to, in words. */
export function reportOf(report: StopReport): string {
  const stuck = report.stuck.length > 0
    ? `, ${counted(report.stuck.length, "job")} still running because the handler ignores its abort`
    : "";
  const unstored = report.unstored > 0
    ? `, ${counted(report.unstored, "job")} whose end could not be stored`
    : "";
  return `${
    counted(report.handedBack.length, "job")
  } handed back, ${report.waiting} waiting${unstored}${stuck}`;
}

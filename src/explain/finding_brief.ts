/**
 * Findings in half a line, for lists of many: pages of a pool have the whole text.
 *
 * @module
 */

import { agreeing, counted, duration, grouped, rate } from "../base/format.ts";
import { type Finding, named } from "./diagnose/finding.ts";

/** Findings that come with jobs that wait: when those catch up is the next question. */
export const WAITING_CODES: readonly Finding["code"][] = [
  "claims-stalled",
  "store-slow",
  "stalled",
  "reserve-idle",
  "at-capacity",
  "lane-starved",
  "never-grows",
];

/** For how long it has been so, ms. `undefined`: the finding does not say. */
export function forMsOf({ numbers: { spanMs, forMs } }: Finding): number | undefined {
  return forMs ?? spanMs;
}

/** What was seen, without since when and without a period. */
export function briefOf(finding: Finding): string {
  const { numbers } = finding;
  const at = (name: string): number => numbers[name] ?? 0;
  switch (finding.code) {
    case "failing":
      return at("deferrals") > at("failures")
        ? `${percent((at("failures") + at("deferrals")) / at("ended"))} of attempts are deferred`
        : `${percent(at("share"))} of attempts fail`;
    case "at-capacity":
      return capacityBrief(finding, at);
    case "key-bound":
      return `${counted(at("blocked"), "job")} ${
        agreeing(at("blocked"), "waits", "wait")
      } for others of their keys, the oldest for ${duration(at("oldestBlockedMs"))}`;
    case "reserve-idle":
      return `${percent(at("idle") / Math.max(1, at("live")))} of the workers are idle, kept for ` +
        `other lanes, while the oldest job waits ${duration(at("oldestWaitMs"))}`;
    case "lane-starved":
      return `${
        percent(at("servedMs") / Math.max(1, at("busyMs")))
      } of the worker time, although ` +
        `${counted(at("ready"), "job")} ${agreeing(at("ready"), "is", "are")} ready`;
    case "loop-blocked":
      return `The event loop is blocked, up to ${duration(at("longestMs"))} at once`;
    case "store-slow":
      return `Workers wait for the store: leasing jobs takes ${duration(at("leaseMs"))}`;
    default:
      return withoutSince(finding);
  }
}

function capacityBrief({ setting = "" }: Finding, at: (name: string) => number): string {
  const [targetMs, oldestMs] = [at("targetWaitMs"), at("oldestWaitMs")];
  const aim = targetMs > 0 ? ` (target ${duration(targetMs)})` : "";
  const what = oldestMs > targetMs
    ? `The oldest job waits ${duration(oldestMs)}${aim}`
    : `${percent(at("share"))} of the jobs are late${aim}`;
  const join = oldestMs > targetMs ? ", others are" : " or";
  const shed = at("shedPerSec") > 0 ? `${join} rejected, ${rate(at("shedPerSec"))}/s` : "";
  const why = setting === "controller"
    ? ": the controller asks for no more workers"
    : setting === ""
    ? ""
    : `: bound by ${named(setting)}`;
  return `${what}${shed}${why}`;
}

/** The finding's own text; since when is shown beside it. */
function withoutSince(finding: Finding): string {
  const { saw } = finding;
  const since = `For ${duration(forMsOf(finding) ?? 0)} `;
  return upper(saw.startsWith(since) ? saw.slice(since.length) : saw);
}

function upper(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}

function percent(share: number): string {
  return `${grouped(Math.round(share * 100))} %`;
}

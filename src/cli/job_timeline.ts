/**
 * A job's life and why it waits, on a terminal.
 *
 * @module
 */

import type { WaitingJson } from "../admin/http/wire.ts";
import { duration } from "../base/format.ts";
import type { JobRecord } from "../contract/job.ts";
import { type JobStage, type StageKind, timelineOf } from "../explain/timeline.ts";
import { isoTime } from "../time/iso_time.ts";
import { prose } from "./fold.ts";
import type { Io } from "./io.ts";
import { bold, line } from "./print.ts";

/** Characters of the bar. */
const WIDTH = 60;

const MARKS: Readonly<Record<StageKind, string>> = {
  delayed: ".",
  blocked: "x",
  ready: "-",
  waited: "-",
  dead: " ",
  running: "#",
  done: "#",
  failed: "!",
  deferred: "~",
  cancelled: "#",
};

/** Prints the timeline of a job, to scale, and why it waits, if it does. */
export function printTimeline(io: Io, job: JobRecord, { nowMs, waiting }: WaitingJson): void {
  const spans = timelineOf(job, nowMs);
  const { createdAtMs } = job;
  const toMs = spans.at(-1)?.toMs ?? createdAtMs;
  line(io, bold("timeline"));
  if (toMs > createdAtMs) line(io, `  |${barOf(spans, createdAtMs, toMs)}|`);
  for (const span of spans) {
    const { kind, fromMs, text } = span;
    line(io, `  ${MARKS[kind]} ${text} ${lengthOf(span, nowMs)}, from ${isoTime(fromMs)}`);
  }
  if (waiting === null) return;
  line(io, bold("why it waits"));
  if (waiting.holds.length === 0) line(io, "  nothing holds it: it starts now");
  for (const { code, detail } of waiting.holds) prose(io, `  ${detail} (${code})`);
  const { position, atLeast, startAtMs, basis } = waiting;
  if (position !== undefined) {
    line(io, `  place ${position}${atLeast ? " or later" : ""} of lane ${job.lane}`);
  }
  const start = startAtMs === undefined ? "not known" : isoTime(startAtMs);
  prose(io, `  estimated start: ${start}. ${basis}`);
}

function barOf(spans: readonly JobStage[], fromMs: number, toMs: number): string {
  const place = (ms: number): number => Math.round(WIDTH * (ms - fromMs) / (toMs - fromMs));
  const bar: string[] = new Array(WIDTH).fill(" ");
  for (const { kind, fromMs, toMs } of spans) {
    const first = Math.min(place(fromMs), WIDTH - 1); // one that is short is seen all the same
    bar.fill(MARKS[kind], first, Math.max(first + 1, place(toMs)));
  }
  return bar.join("");
}

function lengthOf({ fromMs, toMs, isOpen }: JobStage, nowMs: number): string {
  if (toMs > nowMs) return `until ${duration(toMs - nowMs)} from now`;
  return isOpen ? `for ${duration(toMs - fromMs)} so far` : duration(toMs - fromMs);
}

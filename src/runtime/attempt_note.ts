/**
 * What is kept of an attempt that has ended: with its job, for those who look it up.
 *
 * @module
 */

import { copyJson, Misfit } from "../base/payload.ts";
import { lastLines, withAttempt } from "../base/history.ts";
import type { JobAttempt, Logger, LogLine } from "../contract/job.ts";
import type { JobRun } from "./job_run.ts";
import { textOfLine } from "./log.ts";
import type { Wall } from "../time/wall.ts";
import type { Worker } from "./worker.ts";

/** Longest progress that is kept, characters of JSON. */
const LONGEST_PROGRESS = 1_000;

/** What an attempt does not know of itself. */
export interface AttemptFacts {
  /** Who ran it. */
  readonly worker: Pick<Worker, "id">;
  /** Now. */
  readonly nowMs: number;
  /** What its times are shown by. */
  readonly wall: Pick<Wall, "at">;
}

/**
 * Adds an attempt to what is kept of its job. One that is just done, the first of its job, without a log,
 * has nothing to tell: it costs nothing.
 */
export function noteAttempt(run: JobRun, facts: AttemptFacts): void {
  run.history = withAttempt(run.job.history, attemptOf(run, endOf(run), facts));
}

/** True if there is something to tell of an attempt that has ended. One that goes back begins again. */
export function isNoted({ to, lines, job }: JobRun): boolean {
  if (to === "done" || to === "cancelled") return lines !== undefined || job.history !== undefined;
  return to !== "back";
}

/** What is known of an attempt. */
export function attemptOf(
  run: JobRun,
  end: JobAttempt["end"],
  { worker, nowMs, wall }: AttemptFacts,
): JobAttempt {
  const { attempt, startedAtMs, error, stack, lines } = run;
  const progress = progressOf(run.reported);
  return {
    attempt,
    startedAtMs: Math.round(wall.at(startedAtMs)),
    ms: Math.round(nowMs - startedAtMs),
    worker: worker.id,
    end,
    ...(error === undefined ? {} : { error }),
    ...(stack === undefined ? {} : { stack }),
    ...(lines === undefined ? {} : { log: lastLines(lines) }),
    ...(progress === undefined ? {} : { progress }),
  };
}

/** Writes to both: what a handler logs is kept with its attempt too. */
export function keepingLog(log: Logger, keep: (line: Omit<LogLine, "afterMs">) => void): Logger {
  const at = (level: keyof Logger): Logger[keyof Logger] => (message, fields) => {
    keep({ level, text: textOfLine(message, fields) });
    log[level](message, fields);
  };
  return { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
}

function endOf({ to, charged }: JobRun): JobAttempt["end"] {
  if (to === "done" || to === "cancelled") return to;
  return to === "retry" && !charged ? "deferred" : "failed";
}

/** A copy: the handler may change what it reported. One that is no JSON, or long, is left out. */
function progressOf(reported: unknown): unknown {
  const copied = copyJson(reported, "progress");
  if (copied === undefined || copied instanceof Misfit) return undefined;
  return JSON.stringify(copied).length <= LONGEST_PROGRESS ? copied : undefined;
}

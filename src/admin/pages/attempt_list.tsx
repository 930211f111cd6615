/**
 * What is kept of a job's attempts, on its page: errors, stacks, what handlers logged and reported.
 *
 * @module
 */

/** @jsxImportSource hono/jsx */

import type { FC } from "hono/jsx";
import { counted, duration } from "../../base/format.ts";
import { visible } from "../../base/escape.ts";
import type { JobAttempt, JobRecord, LogLine } from "../../contract/job.ts";
import { ago, textOf } from "./job_state.tsx";
import { Time } from "./time.tsx";

/** What the list is made of. */
export interface AttemptListProps {
  /** The job. */
  readonly job: JobRecord;
  /** Now. */
  readonly nowMs: number;
  /** False: stacks are not for who looks. */
  readonly stacks: boolean;
}

/** The attempts that are kept, the latest first, and open. */
export function AttemptList({ job, nowMs, stacks }: AttemptListProps): ReturnType<FC> {
  const { history = [], revived } = job;
  if (history.length === 0 && revived === undefined) return null;
  const before = history.filter(({ startedAtMs }) => startedAtMs < (revived?.atMs ?? 0));
  const since = history.slice(before.length);
  return (
    <section class="card attempts" aria-labelledby="attempts">
      <h2 id="attempts">Attempts</h2>
      {!stacks && history.some(({ end }) => end === "failed") && (
        <p class="soft">Stacks are shown to those with the admin token.</p>
      )}
      {since.toReversed().map((attempt, place) => (
        <OneAttempt attempt={attempt} nowMs={nowMs} open={place === 0} known={job.error} />
      ))}
      {revived !== undefined && (
        <p class="revival">
          It was dead after {counted(revived.attempts, "attempt")} and was retried by hand{" "}
          {ago(revived.atMs, nowMs)}, <Time atMs={revived.atMs} />: attempts count from 1 again.
        </p>
      )}
      {before.toReversed().map((attempt) => (
        <OneAttempt attempt={attempt} nowMs={nowMs} open={false} />
      ))}
    </section>
  );
}

const MARKS: Readonly<Record<JobAttempt["end"], string>> = {
  done: "mark good",
  failed: "mark bad",
  deferred: "chip",
  cancelled: "chip",
  running: "mark plain",
};

interface OneAttemptProps {
  readonly attempt: JobAttempt;
  readonly nowMs: number;
  readonly open: boolean;
  /** The error that is shown above. */
  readonly known?: string | undefined;
}

const OneAttempt: FC<OneAttemptProps> = ({ attempt, nowMs, open, known }) => {
  const { end, error, stack, log, progress, times = 1 } = attempt;
  const name = `attempt ${attempt.attempt}`;
  return (
    <details data-key={`${attempt.startedAtMs}`} open={open}>
      <summary>
        <strong>{attempt.attempt}</strong> <span class={MARKS[end]}>{end}</span>
        {times > 1 && <>{` ${times} times in a row`}</>} {end === "running" ? "for" : "after"}{" "}
        {duration(attempt.ms)} on {visible(attempt.worker)}, started{" "}
        {ago(attempt.startedAtMs, nowMs)}
        {log !== undefined && `, ${counted(log.length, "line")} of log`}
      </summary>
      <p class="soft">
        Started <Time atMs={attempt.startedAtMs} />
      </p>
      {error !== undefined && error !== known && (
        <pre
          class="error"
          tabindex={0}
          role="region"
          aria-label={`Error of ${name}`}
        >{visible(error)}</pre>
      )}
      {stack !== undefined && (
        <pre
          class="stack"
          tabindex={0}
          role="region"
          aria-label={`Stack of ${name}`}
        >{visible(stack)}</pre>
      )}
      {progress !== undefined && end !== "running" && (
        <p>
          Progress: <code>{textOf(progress)}</code>
        </p>
      )}
      {log !== undefined && <Log log={log} name={name} />}
    </details>
  );
};

const Log: FC<{ log: readonly LogLine[]; name: string }> = ({ log, name }) => (
  <>
    <h3>
      Log{log.length >= 100 ? ", the last 100 lines" : ""}
    </h3>
    <pre class="log" tabindex={0} role="region" aria-label={`Log of ${name}`}>
      {log.map(({ afterMs, level, text }) => (
        <span class={level}>{`+${duration(afterMs).padEnd(8)} ${level.padEnd(5)} ${visible(text)}\n`}</span>
      ))}
    </pre>
  </>
);

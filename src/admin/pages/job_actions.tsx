/**
 * What can be done with one job from a page.
 *
 * @module
 */

/** @jsxImportSource hono/jsx */

import type { FC } from "hono/jsx";
import { isWaiting } from "../../base/states.ts";
import type { JobRecord } from "../../contract/job.ts";
import { shellWord } from "../../base/shell_word.ts";
import { Act } from "./act.tsx";

/** What the actions are made of. */
export interface JobActionsProps {
  /** The job. */
  readonly job: JobRecord;
  /** Path below the app to go to once it is discarded. @default {stays} */
  readonly next?: string;
  /** True: in a list, where what has ended well is left alone. @default {false} */
  readonly few?: boolean;
}

/** Cancel, retry or discard: what its state allows. */
export function JobActions({ job, next, few = false }: JobActionsProps): ReturnType<FC> {
  const path = `/api/jobs/${encodeURIComponent(job.id)}`;
  const id = shellWord(job.id);
  const isRunning = job.state === "running";
  if (isRunning || isWaiting(job.state)) {
    if (job.cancelling === true) return null;
    return (
      <Act
        path={`${path}/cancel`}
        ask={`Cancel job ${job.id}?`}
        more={isRunning
          ? "Its handler is asked to stop; what it has done so far is not undone."
          : "It is never started."}
        cli={`sluice jobs cancel ${id}`}
        label="Cancel the job"
        done={isRunning ? `Job ${job.id} is asked to stop` : `Job ${job.id} is cancelled`}
        name={`Cancel ${job.id}`}
        danger
      >
        Cancel…
      </Act>
    );
  }
  if (few && job.state !== "dead") return null;
  return (
    <span class="row tight">
      {job.state === "dead" && (
        <Act
          path={`${path}/retry`}
          ask={`Retry job ${job.id}?`}
          more="It goes back to the end of its lane, with all its attempts."
          cli={`sluice jobs retry ${id}`}
          label="Retry"
          done={`Job ${job.id} is ready again`}
          name={`Retry ${job.id}`}
        >
          Retry…
        </Act>
      )}
      <Act
        method="DELETE"
        path={path}
        ask={`Discard job ${job.id}?`}
        more="It is deleted, with its payload and error. This cannot be undone."
        {...job.state === "dead" && {
          cli: `sluice dlq discard ${shellWord(job.pool)} ${id}`,
        }}
        {...next !== undefined && { next }}
        label="Discard"
        done={`Job ${job.id} is discarded`}
        name={`Discard ${job.id}`}
        danger
      >
        Discard…
      </Act>
    </span>
  );
}

/**
 * A table of jobs, payloads folded.
 *
 * @module
 */

/** @jsxImportSource hono/jsx */

import type { FC } from "hono/jsx";
import type { JobRecord } from "../../contract/job.ts";
import { visible } from "../../base/escape.ts";
import type { AdminContext } from "../api/context.ts";
import { JobActions } from "./job_actions.tsx";
import { nowOf } from "../api/job_query.ts";
import { ago, attemptsOf, beginningOf, REASONS, StateMark, textOf } from "./job_state.tsx";

/** What a table of jobs is made of. */
export interface JobTableProps {
  /** Path that the app is mounted at. */
  readonly base: string;
  /** What it lists, for screen readers. */
  readonly label: string;
  /** As they may be shown: redacted. */
  readonly jobs: readonly JobRecord[];
  /** Knows the pools, and the time. */
  readonly context: AdminContext;
  /** True: with buttons. */
  readonly writes: boolean;
  /** True: all are dead, and when they died is reported, by which they are ordered. */
  readonly dead?: boolean;
}

function columnsOf({ dead = false }: JobTableProps): readonly string[] {
  const when = dead ? "Died" : "Created";
  return ["Job", "State", "Pool and lane", "Attempts", when, "Error and payload"];
}

/** A table of jobs. On a narrow screen each row becomes a card, so roles are said in full. */
export function JobTable(props: JobTableProps): ReturnType<FC> {
  const { label, jobs, writes, context } = props;
  const nowMs = nowOf(context);
  return (
    <div id="job-list" class="card scroll" tabindex={0} role="region" aria-label={label}>
      <table class="jobs" role="table">
        <thead role="rowgroup">
          <tr role="row">
            {writes && (
              <th scope="col" role="columnheader" class="choose">
                <input
                  type="checkbox"
                  class="scripted"
                  data-choose-all
                  aria-label="Choose all on this page"
                  autocomplete="off"
                />
              </th>
            )}
            {columnsOf(props).map((name) => (
              <th scope="col" role="columnheader" class="text">{name}</th>
            ))}
            {writes && (
              <th scope="col" role="columnheader">
                <span class="unseen">Actions</span>
              </th>
            )}
          </tr>
        </thead>
        <tbody role="rowgroup">
          {jobs.map((job) => <Row {...props} job={job} nowMs={nowMs} />)}
        </tbody>
      </table>
    </div>
  );
}

interface RowProps extends JobTableProps {
  readonly job: JobRecord;
  readonly nowMs: number;
}

const Row: FC<RowProps> = ({ base, job, context, nowMs, writes, dead = false }) => {
  const pool = context.target(job.pool)?.handle.settings;
  return (
    <tr id={`job-${job.id}`} role="row">
      {writes && (
        <td role="cell" class="choose">
          {(job.state === "dead" || job.endedAtMs === undefined) && (
            <input
              type="checkbox"
              class="scripted"
              data-choose={job.state}
              data-pool={job.pool}
              value={job.id}
              aria-label={`Choose ${job.id}`}
              autocomplete="off"
            />
          )}
        </td>
      )}
      <th scope="row" role="rowheader">
        <a href={`${base}/jobs/${encodeURIComponent(job.id)}`}>{job.id}</a>
        {job.type !== "" && <div class="soft">{job.type}</div>}
        {job.key !== undefined && <div class="soft">key {visible(beginningOf(job.key))}</div>}
      </th>
      <td role="cell" class="text">
        <StateMark job={job} />
      </td>
      <td role="cell" class="text">
        <a href={`${base}/pools/${encodeURIComponent(job.pool)}`}>{job.pool}</a> {job.lane}
      </td>
      <td role="cell" class="text" data-label="Attempts">
        {pool === undefined ? job.attempt : attemptsOf(job, pool)}
      </td>
      {dead
        ? (
          <td role="cell" class="text" data-label="Died">
            {job.endedAtMs === undefined ? "-" : ago(job.endedAtMs, nowMs)}
          </td>
        )
        : <td role="cell" class="text" data-label="Created">{ago(job.createdAtMs, nowMs)}</td>}
      <td role="cell" class="text wrap">
        <Wrong job={job} />
        <details>
          <summary>
            Payload <span class="unseen">of {job.id}</span>
          </summary>
          <pre
            tabindex={0}
            role="region"
            aria-label={`Payload of ${job.id}`}
          >{beginningOf(textOf(job.payload))}</pre>
        </details>
      </td>
      {writes && (
        <td role="cell" class="do">
          <JobActions job={job} few />
        </td>
      )}
    </tr>
  );
};

/** What is wrong with a job. Nothing is with one that is done, whatever became of earlier attempts. */
function Wrong({ job }: { job: JobRecord }): ReturnType<FC> {
  if (job.state === "done") return null;
  const why = job.reason === undefined ? undefined : REASONS[job.reason];
  if (job.error === undefined) return why === undefined ? null : <p class="late">{why}</p>;
  return (
    <p class={job.state === "dead" ? "wrong" : "soft"}>
      {visible(job.error)}
      {why !== undefined && job.reason !== "attempts" && `: ${why}`}
    </p>
  );
}

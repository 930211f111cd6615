/**
 * The page of schedules: when each comes next, how its latest job ended, run now, pause.
 *
 * @module
 */

/** @jsxImportSource hono/jsx */

import { type Context, Hono } from "hono";
import type { BlankEnv } from "hono/types";
import type { FC } from "hono/jsx";
import { shellWord } from "../../base/shell_word.ts";
import { timesText } from "../../explain/schedule_times.ts";
import { visible } from "../../base/escape.ts";
import type { ScheduledJobJson, ScheduleJson } from "../http/wire.ts";
import { listSchedules } from "../api/schedules.ts";
import type { AdminContext } from "../api/context.ts";
import { Act } from "./act.tsx";
import { answerPage, frameOf, Layout, mayWrite } from "./layout.tsx";
import { Time } from "./time.tsx";

/**
 * Makes the route.
 *
 * @internal
 */
export function schedulesPageRoutes(context: AdminContext): Hono<BlankEnv> {
  return new Hono().get("/schedules", (c) => show(c, context));
}

async function show(c: Context, context: AdminContext): Promise<Response> {
  const frame = frameOf(c, context);
  const schedules = await listSchedules(context);
  const writes = mayWrite(frame.actor);
  return await answerPage(
    c,
    <Layout {...frame} title="Schedules" place="schedules" live>
      {schedules.length === 0
        ? (
          <p class="card empty">
            No pool has a schedule: add “schedules” to a pool in the config, then reload it.
          </p>
        )
        : <Schedules base={frame.base} schedules={schedules} writes={writes} />}
    </Layout>,
  );
}

interface SchedulesProps {
  readonly base: string;
  readonly schedules: readonly ScheduleJson[];
  readonly writes: boolean;
}

const COLUMNS = ["Schedule", "Pool and lane", "Next", "Last", "How it ended"];

/** On a narrow screen each row becomes a card, so roles are said in full. */
const Schedules: FC<SchedulesProps> = ({ base, schedules, writes }) => (
  <div class="card scroll" tabindex={0} role="region" aria-label="Schedules">
    <table class="jobs" role="table">
      <thead role="rowgroup">
        <tr role="row">
          {COLUMNS.map((name) => <th scope="col" role="columnheader" class="text">{name}</th>)}
          {writes && (
            <th scope="col" role="columnheader">
              <span class="unseen">Actions</span>
            </th>
          )}
        </tr>
      </thead>
      <tbody role="rowgroup">
        {schedules.map((schedule) => <Row base={base} schedule={schedule} writes={writes} />)}
      </tbody>
    </table>
  </div>
);

const Row: FC<{ base: string; schedule: ScheduleJson; writes: boolean }> = (props) => {
  const { base, schedule, writes } = props;
  const { id, pool, lane, type, cron, timezone, paused, nextAtMs, lastAtMs, job, skippedAtMs } =
    schedule;
  const zone = cron === undefined ? [] : [timezone];
  return (
    <tr id={`schedule-${pool}-${id}`} role="row">
      <th scope="row" role="rowheader">
        <code>{timesText(schedule)}</code>
        <div class="soft">{[...zone, ...(type === "" ? [] : [`type ${type}`])].join(", ")}</div>
      </th>
      <td role="cell" class="text">
        <a href={`${base}/pools/${encodeURIComponent(pool)}`}>{pool}</a> {lane}
      </td>
      <td role="cell" class="text" data-label="Next">
        {paused
          ? <span class="mark warn">paused</span>
          : nextAtMs === undefined
          ? "never"
          : <Time atMs={nextAtMs} />}
      </td>
      <td role="cell" class="text" data-label="Last">
        {lastAtMs === undefined ? "-" : <Time atMs={lastAtMs} />}
        {skippedAtMs !== undefined && (
          <div class="soft">
            No job at <Time atMs={skippedAtMs} />: the one before had not ended
          </div>
        )}
      </td>
      <td role="cell" class="text wrap" data-label="How it ended">
        {job === undefined
          ? <span class="soft">no job yet</span>
          : <Latest base={base} job={job} />}
      </td>
      {writes && (
        <td role="cell" class="do">
          <Actions schedule={schedule} />
        </td>
      )}
    </tr>
  );
};

const TONES: Readonly<Partial<Record<ScheduledJobJson["state"], string>>> = {
  done: "mark good",
  dead: "mark bad",
};

const Latest: FC<{ base: string; job: ScheduledJobJson }> = ({ base, job }) => (
  <>
    <span class={TONES[job.state] ?? "mark"}>{job.state}</span> {job.state === "deleted"
      ? <span class="soft">{job.id} is no longer kept</span>
      : <a href={`${base}/jobs/${encodeURIComponent(job.id)}`}>{job.id}</a>}
    {job.error !== undefined && <p class="wrong">{visible(job.error)}</p>}
  </>
);

const Actions: FC<{ schedule: ScheduleJson }> = ({ schedule }) => {
  const { id, pool, lane, paused } = schedule;
  const path = `/api/pools/${encodeURIComponent(pool)}/schedules/${id}`;
  const name = `${timesText(schedule)} of pool "${pool}"`;
  const verb = paused ? "resume" : "pause";
  const title = paused ? "Resume" : "Pause";
  const words = `${shellWord(pool)} ${id}`;
  return (
    <span class="row tight" role="group" aria-label={`Actions on ${name}`}>
      <Act
        path={`${path}/run`}
        ask={`Run ${name} now?`}
        more={`A job is added to lane "${lane}", past admission. Its times stay as they are.`}
        cli={`sluice schedules run ${words}`}
        label="Run now"
        done="A job was added"
        name={`Run now: ${name}`}
      >
        Run now…
      </Act>
      <Act
        path={`${path}/${verb}`}
        ask={`${title} ${name}?`}
        more={paused
          ? "Its times begin again now. What passed meanwhile is not caught up."
          : "Its times pass without a job, in all processes, until it is resumed. Jobs that are in " +
            "the lane continue."}
        cli={`sluice schedules ${verb} ${words}`}
        done={paused ? "The schedule is resumed" : "The schedule is paused"}
        name={`${title}: ${name}`}
      >
        {title}
      </Act>
    </span>
  );
};

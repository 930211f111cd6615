/**
 * The page of one job: all that is known of it, and why it waits.
 *
 * @module
 */

/** @jsxImportSource hono/jsx */

import { type Context, Hono } from "hono";
import type { BlankEnv } from "hono/types";
import type { Child, FC } from "hono/jsx";
import type { JobRecord } from "../../contract/job.ts";
import type { PoolSettings } from "../../config/settings.ts";
import { counted } from "../../base/format.ts";
import { visible } from "../../base/escape.ts";
import type { Waiting } from "../../explain/waiting.ts";
import type { AdminContext } from "../api/context.ts";
import { AttemptList } from "./attempt_list.tsx";
import { JobTimeline } from "./job_timeline.tsx";
import { JobActions } from "./job_actions.tsx";
import { ago, attemptsOf, REASONS, StateMark, textOf } from "./job_state.tsx";
import { findJob, noJobText, shownWhole } from "../api/jobs.ts";
import { answerPage, frameOf, type FrameProps, Layout, mayWrite } from "./layout.tsx";
import { Time } from "./time.tsx";
import { lookAtWaiting } from "../api/waiting.ts";

/**
 * Makes the route.
 *
 * @internal
 */
export function jobPageRoutes(context: AdminContext): Hono<BlankEnv> {
  return new Hono().get("/jobs/:id", (c) => show(c, c.req.param("id"), context));
}

async function show(c: Context, id: string, context: AdminContext): Promise<Response> {
  const frame = frameOf(c, context);
  const found = await findJob(id, context);
  if (found === undefined) {
    return await answerPage(
      c,
      <Layout {...frame} title="No such job" place="jobs">
        <p class="card empty">{noJobText(id)}.</p>
        <p>
          <a href={`${frame.base}/jobs`}>All jobs</a>
        </p>
      </Layout>,
      404,
    );
  }
  const { handle } = found;
  const { nowMs } = handle.snapshot();
  const job = shownWhole(found.job, context, frame.actor);
  const waiting = await lookAtWaiting(found);
  return await answerPage(
    c,
    <JobPage {...frame} job={job} settings={handle.settings} nowMs={nowMs} waiting={waiting} />,
  );
}

interface JobPageProps extends FrameProps {
  readonly job: JobRecord;
  readonly settings: PoolSettings;
  readonly nowMs: number;
  readonly waiting: Waiting | undefined;
}

const JobPage: FC<JobPageProps> = ({ base, actor, dead, job, settings, nowMs, waiting }) => (
  <Layout
    base={base}
    actor={actor}
    dead={dead}
    title={`Job ${job.id}`}
    place="jobs"
    live={job.endedAtMs === undefined}
    beside={
      <>
        <StateMark job={job} />
        {mayWrite(actor) && (
          <span class="push row">
            <JobActions job={job} next={job.state === "dead" ? "/dead" : "/jobs"} />
            <a
              class="button small scripted"
              href={`${base}/jobs/${encodeURIComponent(job.id)}/again`}
            >
              Edit and enqueue again…
            </a>
          </span>
        )}
      </>
    }
  >
    {waiting !== undefined && <Why waiting={waiting} lane={job.lane} nowMs={nowMs} />}
    <JobTimeline job={job} nowMs={nowMs} />
    {(job.error !== undefined || job.reason !== undefined) && <Fault job={job} />}
    <AttemptList job={job} nowMs={nowMs} stacks={mayWrite(actor)} />
    <Facts base={base} job={job} settings={settings} nowMs={nowMs} />
    <Value title="Payload" value={job.payload} />
    {job.progress !== undefined && <Value title="Progress" value={job.progress} />}
    {job.cursor !== undefined && <Value title="Cursor" value={job.cursor} />}
    {job.state === "done" && (job.resultError === undefined
      ? <Value title="Result" value={job.result} />
      : <NoResult error={job.resultError} />)}
  </Layout>
);

const Why: FC<{ waiting: Waiting; lane: string; nowMs: number }> = ({ waiting, lane, nowMs }) => (
  <section class="card" aria-labelledby="why">
    <h2 id="why">Why it waits</h2>
    {waiting.holds.length === 0 ? <p>Nothing holds it: it starts now.</p> : (
      <ul class="holds">
        {waiting.holds.map(({ code, detail }) => (
          <li data-key={code}>
            {visible(detail)} <span class="chip">{code}</span>
          </li>
        ))}
      </ul>
    )}
    <dl>
      <Entry name="Place in its lane">
        {waiting.position === undefined
          ? "none yet"
          : waiting.atLeast
          ? `${waiting.position} or later of ${lane}`
          : waiting.position === 1
          ? `next of ${lane}`
          : `${waiting.position} of ${lane}`}
      </Entry>
      <Entry name="Estimated start">
        {waiting.startAtMs === undefined ? "not known" : (
          <>
            {waiting.startAtMs <= nowMs ? "now" : ago(waiting.startAtMs, nowMs)},{" "}
            <Time atMs={waiting.startAtMs} />
          </>
        )}
        <div class="soft">{waiting.basis}</div>
      </Entry>
    </dl>
  </section>
);

const Fault: FC<{ job: JobRecord }> = ({ job }) => (
  <section class="card" aria-labelledby="fault">
    <h2 id="fault">{job.state === "dead" ? "Why it is dead" : "Its latest failure"}</h2>
    {job.reason !== undefined && (
      <p>
        {job.reason}: {REASONS[job.reason]}
      </p>
    )}
    {job.error !== undefined && (
      <pre class="error" tabindex={0} role="region" aria-label="Error">{visible(job.error)}</pre>
    )}
  </section>
);

const NoResult: FC<{ error: string }> = ({ error }) => (
  <section class="card" aria-labelledby="no-result">
    <h2 id="no-result">No result</h2>
    <p>{visible(error)}</p>
  </section>
);

const Facts: FC<{ base: string; job: JobRecord; settings: PoolSettings; nowMs: number }> = (
  { base, job, settings, nowMs },
) => (
  <section class="card" aria-labelledby="facts">
    <h2 id="facts">Facts</h2>
    <dl>
      <Entry name="Pool">
        <a href={`${base}/pools/${encodeURIComponent(job.pool)}`}>{job.pool}</a>
      </Entry>
      <Entry name="Lane">{job.lane}</Entry>
      {job.type !== "" && <Entry name="Type">{job.type}</Entry>}
      {job.key !== undefined && <Entry name="Key">{visible(job.key)}</Entry>}
      {job.dedupeKey !== undefined && <Entry name="Dedupe key">{visible(job.dedupeKey)}</Entry>}
      {job.traceparent !== undefined && <Entry name="Trace">{visible(job.traceparent)}</Entry>}
      <Entry name="Attempts">
        {attemptsOf(job, settings)}
        {job.revived !== undefined &&
          `, and ${counted(job.revived.attempts, "attempt")} before it was retried by hand`}
      </Entry>
      <When name="Created" atMs={job.createdAtMs} nowMs={nowMs} />
      <When name={job.dueAtMs > nowMs ? "Due" : "Due since"} atMs={job.dueAtMs} nowMs={nowMs} />
      <When name="Last start" atMs={job.startedAtMs} nowMs={nowMs} />
      <When name="Ended" atMs={job.endedAtMs} nowMs={nowMs} />
    </dl>
  </section>
);

const When: FC<{ name: string; atMs: number | undefined; nowMs: number }> = (
  { name, atMs, nowMs },
) =>
  atMs === undefined ? null : (
    <Entry name={name}>
      <Time atMs={atMs} /> <span class="soft">{ago(atMs, nowMs)}</span>
    </Entry>
  );

const Entry: FC<{ name: string; children?: Child }> = ({ name, children }) => (
  <>
    <dt>{name}</dt>
    <dd>{children}</dd>
  </>
);

const Value: FC<{ title: string; value: unknown }> = ({ title, value }) => (
  <details class="card" open={title !== "Payload"}>
    <summary>
      <h2>{title}</h2>
    </summary>
    <pre tabindex={0} role="region" aria-label={title}>{textOf(value)}</pre>
  </details>
);

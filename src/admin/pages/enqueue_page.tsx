/**
 * The page that enqueues a job: a new one, or one like another with changes.
 *
 * @module
 */

/** @jsxImportSource hono/jsx */

import { type Context, Hono } from "hono";
import type { BlankEnv } from "hono/types";
import type { FC } from "hono/jsx";
import { suggestion } from "../../base/suggest.ts";
import type { JobRecord } from "../../contract/job.ts";
import type { AdminContext, Target } from "../api/context.ts";
import { findJob, noJobText, shownJob } from "../api/jobs.ts";
import { LONGEST_KEY } from "../api/shape.ts";
import { textOf } from "./job_state.tsx";
import { answerPage, frameOf, type FrameProps, Layout, mayWrite } from "./layout.tsx";

/**
 * Makes the routes.
 *
 * @internal
 */
export function enqueuePageRoutes(context: AdminContext): Hono<BlankEnv> {
  return new Hono()
    .get("/pools/:pool/enqueue", (c) => showNew(c, c.req.param("pool"), context))
    .get("/jobs/:id/again", (c) => showAgain(c, c.req.param("id"), context));
}

function showNew(c: Context, name: string, context: AdminContext): Response | Promise<Response> {
  const frame = frameOf(c, context);
  const target = context.target(name);
  if (!mayWrite(frame.actor)) return refuse(c, frame);
  if (target === undefined) {
    const names = context.sluice.pools.map((pool) => pool.name);
    const text = `No pool is named ${JSON.stringify(name.slice(0, 100))}${suggestion(name, names)}`;
    return answerPage(c, <Missing {...frame} title="No such pool" text={text} />, 404);
  }
  return answerPage(c, <EnqueuePage {...frame} target={target} />);
}

async function showAgain(c: Context, id: string, context: AdminContext): Promise<Response> {
  const frame = frameOf(c, context);
  if (!mayWrite(frame.actor)) return await refuse(c, frame);
  const found = await findJob(id, context);
  const target = context.target(found?.handle.name ?? "");
  if (found === undefined || target === undefined) {
    return await answerPage(
      c,
      <Missing {...frame} title="No such job" text={noJobText(id)} />,
      404,
    );
  }
  const job = shownJob(found.job, context);
  return await answerPage(c, <EnqueuePage {...frame} target={target} job={job} />);
}

function refuse(c: Context, frame: FrameProps): Response | Promise<Response> {
  const text = "Only the admin token may enqueue jobs";
  return answerPage(c, <Missing {...frame} title="Not allowed" text={text} />, 403);
}

const Missing: FC<FrameProps & { title: string; text: string }> = ({ title, text, ...frame }) => (
  <Layout {...frame} title={title} place="jobs">
    <p class="card empty">{text}{text.endsWith("?") ? "" : "."}</p>
  </Layout>
);

interface EnqueuePageProps extends FrameProps {
  readonly target: Target;
  /** The job to begin with, as it may be shown. */
  readonly job?: JobRecord;
}

const EnqueuePage: FC<EnqueuePageProps> = ({ base, actor, target, job }) => {
  const { handle: { name }, takes } = target;
  const path = job === undefined
    ? `/api/pools/${encodeURIComponent(name)}/jobs`
    : `/api/jobs/${encodeURIComponent(job.id)}/again`;
  const payload = job === undefined ? "{}" : textOf(job.payload ?? null);
  return (
    <Layout
      base={base}
      actor={actor}
      title={job === undefined ? `Enqueue a job in ${name}` : `Edit and enqueue again`}
      place="jobs"
      scripts={["enqueue.js"]}
    >
      {job !== undefined && (
        <p>
          A new job like{" "}
          <a href={`${base}/jobs/${encodeURIComponent(job.id)}`}>{job.id}</a>, which stays as it is.
          {payload.includes("[redacted]") &&
            " What is left as “[redacted]” is taken from that job."}
        </p>
      )}
      <noscript>
        <p class="card">This form needs scripts; `sluice enqueue` does the same.</p>
      </noscript>
      <form id="enqueue" class="card enqueue scripted" data-path={path} autocomplete="off">
        <Choice
          name="lane"
          label="Lane"
          values={[...takes.lanes]}
          chosen={job?.lane}
          none={takes.routes.isEmpty || job !== undefined ? undefined : "as the routes say"}
        />
        {!takes.types.has("") && (
          <Choice name="type" label="Type" values={[...takes.types]} chosen={job?.type} />
        )}
        <div>
          <label for="enqueue-key">Key (none: empty)</label>
          <input id="enqueue-key" name="key" maxlength={LONGEST_KEY} value={job?.key ?? ""} />
        </div>
        <div class="whole">
          <label for="enqueue-payload">Payload, as JSON</label>
          <textarea
            id="enqueue-payload"
            name="payload"
            rows={Math.min(24, Math.max(6, payload.split("\n").length + 1))}
            spellcheck={false}
            aria-describedby="enqueue-faults"
          >
            {payload}
          </textarea>
        </div>
        <div id="enqueue-faults" class="whole" role="alert"></div>
        <p class="whole soft">
          The pool's handler checks the payload before the job is stored.
        </p>
        <div class="whole row">
          <button type="submit" class="primary">Enqueue</button>
          <a class="button" href={`${base}/pools/${encodeURIComponent(name)}`}>Back to {name}</a>
        </div>
      </form>
    </Layout>
  );
};

const Choice: FC<{
  name: string;
  label: string;
  values: readonly string[];
  chosen: string | undefined;
  /** What it is called to choose none. `undefined`: one has to be chosen. */
  none?: string | undefined;
}> = ({ name, label, values, chosen, none }) => (
  <div>
    <label for={`enqueue-${name}`}>{label}</label>
    <select id={`enqueue-${name}`} name={name}>
      {none !== undefined && <option value="">{none}</option>}
      {values.map((value) => <option value={value} selected={value === chosen}>{value}</option>)}
    </select>
  </div>
);

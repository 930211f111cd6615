/**
 * A job's life to scale: one bar, and the same in words beside it.
 *
 * @module
 */

/** @jsxImportSource hono/jsx */

import type { FC } from "hono/jsx";
import { duration } from "../../base/format.ts";
import type { JobRecord } from "../../contract/job.ts";
import { type JobStage, timelineOf } from "../../explain/timeline.ts";
import { ago } from "./job_state.tsx";
import { Time } from "./time.tsx";

const WIDTH = 1_000;
const HEIGHT = 22;

/** Narrowest that a span is drawn, of the width of all: one that is short is seen all the same. */
const LEAST = 3;

/** The timeline. */
export function JobTimeline({ job, nowMs }: { job: JobRecord; nowMs: number }): ReturnType<FC> {
  const spans = timelineOf(job, nowMs);
  const { createdAtMs, endedAtMs } = job;
  const lastMs = Math.max(createdAtMs, spans.at(-1)?.toMs ?? createdAtMs);
  return (
    <section class="card timeline" aria-labelledby="timeline">
      <h2 id="timeline">Timeline</h2>
      {lastMs > createdAtMs && (
        <Bar spans={spans} fromMs={createdAtMs} toMs={lastMs} nowMs={nowMs} />
      )}
      <ol>
        <li>
          <i></i> created <span class="soft">{ago(createdAtMs, nowMs)}</span>{" "}
          <Time atMs={createdAtMs} />
        </li>
        {spans.map((span) => (
          <li>
            <i class={`span-${span.kind}`}></i> {span.text} <strong>{lengthOf(span, nowMs)}</strong>
            {" "}
            <span class="soft">
              from <Time atMs={span.fromMs} />
            </span>
          </li>
        ))}
        {endedAtMs !== undefined && (
          <li>
            <i></i> {job.state}, <strong>{duration(endedAtMs - createdAtMs)}</strong>{" "}
            after it was created{" "}
            <span class="soft">
              <Time atMs={endedAtMs} />
            </span>
          </li>
        )}
      </ol>
    </section>
  );
}

function lengthOf({ fromMs, toMs, isOpen }: JobStage, nowMs: number): string {
  if (toMs > nowMs) return `until ${duration(toMs - nowMs)} from now`;
  return isOpen ? `for ${duration(toMs - fromMs)} so far` : duration(toMs - fromMs);
}

const Bar: FC<{ spans: readonly JobStage[]; fromMs: number; toMs: number; nowMs: number }> = (
  { spans, fromMs, toMs, nowMs },
) => {
  const place = (ms: number): number => WIDTH * (ms - fromMs) / (toMs - fromMs);
  return (
    <svg
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      preserveAspectRatio="none"
      height={HEIGHT}
      aria-hidden="true"
    >
      {spans.map((span) => (
        <rect
          class={`span-${span.kind}`}
          x={Math.min(place(span.fromMs), WIDTH - LEAST).toFixed(1)}
          width={Math.max(LEAST, place(span.toMs) - place(span.fromMs)).toFixed(1)}
          height={HEIGHT}
        />
      ))}
      {nowMs > fromMs && nowMs < toMs && (
        <rect class="span-now" x={place(nowMs).toFixed(1)} width="2" height={HEIGHT} />
      )}
    </svg>
  );
};

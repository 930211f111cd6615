/**
 * Demand and supply of a pool: charts that a script draws, in words and as a table for all others.
 *
 * @module
 */

/** @jsxImportSource hono/jsx */

import type { FC } from "hono/jsx";
import { aimOf } from "../../explain/diagnose.ts";
import { counted, duration, grouped, rate } from "../../base/format.ts";
import type { History, Sample } from "../../planning/history.ts";
import type { ProblemError } from "../http/wire.ts";
import type { ShownPool } from "./pool_state.tsx";
import { Time } from "./time.tsx";

/** Rows of the table. */
const ROWS = 12;

/** The charts look back so far at first, ms. */
const BACK_MS = 120_000;

/** How far the charts look back, as the address says it. */
const SPANS = ["2m", "10m", "1h"] as const;

/** One of these. */
export type Span = typeof SPANS[number];

/** True if the charts can look back so far. */
export function isSpan(text: string): text is Span {
  return SPANS.some((span) => span === text);
}

/** What is said of another. */
export function spanFault(text: string): ProblemError {
  const detail = `Expected span to be one of ${SPANS.join(", ")} but received ${
    JSON.stringify(text.slice(0, 100))
  }`;
  return { pointer: "?span", detail };
}

/** Waits of each lane, workers, rates, and what was done to the pool, over the same time. */
export function Charts(
  { pool, history, span, base }: {
    pool: ShownPool;
    history: History;
    span: Span;
    base: string;
  },
): ReturnType<FC> {
  const path = `${base}/api/pools/${encodeURIComponent(pool.pool)}`;
  return (
    <section aria-label="Demand and supply" class="card charts">
      <nav class="spans scripted" aria-label="Time shown">
        {SPANS.map((one) => (
          <a
            href={`${base}/pools/${encodeURIComponent(pool.pool)}?span=${one}`}
            data-span={one}
            aria-current={one === span ? "true" : undefined}
          >
            {one}
          </a>
        ))}
      </nav>
      <div id="charts" class="scripted" data-keep="on" data-path={path}></div>
      <p id="demand-words" class="soft" data-now-ms={pool.nowMs} data-rates={ratesOf(pool)}>
        {demandOf(pool, history)}
      </p>
      <p id="supply-words" class="soft">{supplyOf(pool, history)}</p>
      <Figures samples={history.samples} />
    </section>
  );
}

const Figures: FC<{ samples: readonly Sample[] }> = ({ samples }) => {
  const shown = samples.slice(1).map((sample, index) => ({ sample, before: samples[index]! }))
    .slice(-ROWS).toReversed();
  const lanes = shown[0]?.sample.lanes ?? [];
  return (
    <details>
      <summary>The latest values as a table</summary>
      {shown.length === 0
        ? <p class="soft">There are no samples yet.</p>
        : (
          <div class="scroll" tabindex={0} role="region" aria-label="Latest figures">
            <table>
              <thead>
                <tr>
                  <th scope="col">Time</th>
                  {lanes.map(({ name }) => (
                    <>
                      <th scope="col">{name}: in/s</th>
                      <th scope="col">{name}: longest wait</th>
                    </>
                  ))}
                  <th scope="col">Busy</th>
                  <th scope="col">Workers</th>
                  <th scope="col">Target</th>
                  <th scope="col">Limit</th>
                </tr>
              </thead>
              <tbody>
                {shown.map(({ sample, before }) => (
                  <tr data-key={String(sample.atMs)}>
                    <th scope="row">
                      <Time atMs={sample.atMs} />
                    </th>
                    {sample.lanes.map((lane, index) => (
                      <>
                        <td>
                          {rate(perSec(before, sample, ({ lanes }) => lanes[index]?.arrivals ?? 0))}
                        </td>
                        <td>{duration(lane.longestWaitMs)}</td>
                      </>
                    ))}
                    <td>{rate(perSec(before, sample, ({ busyMs }) => busyMs / 1_000))}</td>
                    <td>{grouped(sample.live)}</td>
                    <td>{grouped(sample.target)}</td>
                    <td>{grouped(sample.limit)}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        )}
    </details>
  );
};

/** What has come per second between two samples, of a count that only rises. */
function perSec(before: Sample, sample: Sample, count: (sample: Sample) => number): number {
  return (count(sample) - count(before)) * 1_000 / (sample.atMs - before.atMs);
}

/** The rates that the page shows elsewhere too. */
function ratesOf({ window }: ShownPool): string {
  const { failuresPerSec, shedPerSec } = window;
  return [
    `${rate(window.arrivalsPerSec)} in`,
    `${rate(window.completionsPerSec)} done`,
    ...failuresPerSec > 0 ? [`${rate(failuresPerSec)} failed`] : [],
    ...shedPerSec > 0 ? [`${rate(shedPerSec)} shed`] : [],
  ].join(", ");
}

function demandOf(pool: ShownPool, { samples }: History): string {
  const recent = latestOf(samples, pool.nowMs);
  const lanes = pool.lanes.map((lane, index) => {
    const most = Math.max(
      lane.oldestWaitMs,
      ...recent.map((sample) => sample.lanes[index]?.longestWaitMs ?? 0),
    );
    const aim = aimOf(lane);
    const target = aim === undefined ? "" : `, target ${aim}`;
    return `${lane.name} ${rate(lane.window.arrivalsPerSec)}/s, oldest wait ${
      duration(lane.oldestWaitMs)
    }, at most ${duration(most)}${target}`;
  });
  return `Demand over two minutes: ${lanes.join("; ")}.`;
}

function supplyOf(pool: ShownPool, { samples }: History): string {
  const recent = latestOf(samples, pool.nowMs);
  const counts = [...recent.flatMap((one) => [one.leastLive, one.mostLive]), pool.live];
  const limit = Number.isFinite(pool.limit) ? `, limit ${grouped(pool.limit)}` : "";
  const [first, last] = [recent[0], recent.at(-1)];
  const busy = first === undefined || last === undefined || first === last
    ? pool.busy
    : perSec(first, last, ({ busyMs }) => busyMs / 1_000);
  const [least, most] = [Math.min(...counts), Math.max(...counts)];
  const from = least === most ? "" : `${grouped(least)} to `;
  return `Supply over two minutes: ${from}${counted(most, "worker")}${limit}, ${
    rate(busy)
  } of them busy on average.`;
}

/** Samples of the last two minutes, and the one before: a pool at rest takes none, and is as it was then. */
function latestOf(samples: readonly Sample[], nowMs: number): readonly Sample[] {
  const first = samples.findIndex(({ atMs }) => atMs >= nowMs - BACK_MS);
  return samples.slice(first === -1 ? -1 : Math.max(0, first - 1));
}

/**
 * The lanes of a pool as a table.
 *
 * @module
 */

/** @jsxImportSource hono/jsx */

import type { FC } from "hono/jsx";
import { isRecord } from "../../config/faults.ts";
import { duration, grouped, rate } from "../../base/format.ts";
import type { PoolSettings } from "../../config/settings.ts";
import type { LaneView } from "../../contract/view.ts";
import { OldestCell } from "./cells.tsx";
import { PauseLane } from "./pause.tsx";
import type { ShownPool } from "./pool_state.tsx";

/** Says what is kept for a lane, in a word: a number of workers, `auto`, or `-`. */
export type ReserveOf = (lane: string) => string;

/** Reads the reserves from the options of the lane policy, if it has any. */
export function reserveOf({ lanePolicy }: PoolSettings): ReserveOf {
  const options = lanePolicy.options;
  const reserve = isRecord(options) ? options["reserve"] : undefined;
  return (lane) => {
    if (isRecord(reserve)) return Object.hasOwn(reserve, lane) ? String(reserve[lane]) : "-";
    return typeof reserve === "string" ? reserve : "-";
  };
}

/** The lanes, highest priority first. */
export function LaneTable(
  { pool, reserve, writes }: { pool: ShownPool; reserve: ReserveOf; writes: boolean },
): ReturnType<FC> {
  return (
    <div class="card scroll" tabindex={0} role="region" aria-label={`Lanes of ${pool.pool}`}>
      <table>
        <thead>
          <tr>
            <th scope="col">Lane</th>
            <th scope="col">Oldest wait</th>
            <th scope="col">Ready</th>
            <th scope="col">Blocked</th>
            <th scope="col">Delayed</th>
            <th scope="col">Running</th>
            <th scope="col">Reserve</th>
            <th scope="col">In/s</th>
            <th scope="col">Done/s</th>
            <th scope="col">Failed/s</th>
            <th scope="col">Shed/s</th>
            <th scope="col">Wait p50</th>
            <th scope="col">p95</th>
            <th scope="col">p99</th>
            <th scope="col">Run p95</th>
            {writes && (
              <th scope="col" class="scripted">
                <span class="unseen">Actions</span>
              </th>
            )}
          </tr>
        </thead>
        <tbody>
          {pool.lanes.map((lane) => (
            <Lane
              pool={pool.pool}
              lane={lane}
              reserve={reserve(lane.name)}
              writes={writes}
            />
          ))}
        </tbody>
      </table>
    </div>
  );
}

const Lane: FC<{ pool: string; lane: LaneView; reserve: string; writes: boolean }> = (props) => {
  const { pool, lane, reserve, writes } = props;
  const { waitMs, serviceMs, failuresPerSec, shedPerSec } = lane.window;
  return (
    <tr data-key={lane.name} class="lane">
      <th scope="row">
        {lane.name} {lane.paused && <span class="mark warn">paused</span>}
      </th>
      <OldestCell lane={lane} />
      <td>{grouped(lane.ready)}</td>
      <td>
        {grouped(lane.blocked)}
        {lane.blocked > 0 && <span class="soft">oldest {duration(lane.oldestBlockedMs)}</span>}
      </td>
      <td>{grouped(lane.delayed)}</td>
      <td>
        {grouped(lane.running)}
        {Number.isFinite(lane.maxRunning) && <span class="soft">of {lane.maxRunning}</span>}
      </td>
      <td>{reserve}</td>
      <td>{rate(lane.window.arrivalsPerSec)}</td>
      <td>{rate(lane.window.completionsPerSec)}</td>
      <td class={failuresPerSec > 0 ? "late" : undefined}>{rate(failuresPerSec)}</td>
      <td class={shedPerSec > 0 ? "late" : undefined}>{rate(shedPerSec)}</td>
      <td>{waitMs === undefined ? "-" : duration(waitMs.p50)}</td>
      <td>{waitMs === undefined ? "-" : duration(waitMs.p95)}</td>
      <td>{waitMs === undefined ? "-" : duration(waitMs.p99)}</td>
      <td>{serviceMs === undefined ? "-" : duration(serviceMs.p95)}</td>
      {writes && (
        <td class="scripted">
          <PauseLane pool={pool} lane={lane} />
        </td>
      )}
    </tr>
  );
};

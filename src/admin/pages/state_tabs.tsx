/**
 * Jobs by state, with their counts: each a link to the list.
 *
 * @module
 */

/** @jsxImportSource hono/jsx */

import type { FC } from "hono/jsx";
import { grouped } from "../../base/format.ts";
import type { JobState } from "../../contract/job.ts";
import type { PoolHandle } from "../../runtime/handles.ts";
import { type JobFilter, queryOf } from "../api/job_query.ts";

/** How many jobs there are, by state. What is not known is left out. */
export type StateCounts = Partial<Record<keyof ReturnType<PoolHandle["counts"]>, number>>;

const STATES: readonly JobState[] = [
  "ready",
  "blocked",
  "delayed",
  "running",
  "dead",
  "done",
  "cancelled",
];

/** What the tabs are made of. */
export interface StateTabsProps {
  /** Path that the app is mounted at. */
  readonly base: string;
  /** What the tabs are about, for screen readers. */
  readonly label: string;
  /** What is asked for beside the state. */
  readonly filter: JobFilter;
  /** How many there are, of those in the filter's pool and lane. */
  readonly counts: StateCounts;
  /** True: one of them is shown, or all. */
  readonly chosen?: boolean;
}

/** The tabs. */
export function StateTabs(props: StateTabsProps): ReturnType<FC> {
  const { base, label, filter, chosen = false } = props;
  const all = chosen && filter.state === undefined;
  return (
    <nav class="tabs" aria-label={label}>
      <a
        href={`${base}/jobs${queryOf(filter, { state: undefined })}`}
        aria-current={all ? "page" : undefined}
      >
        All
      </a>
      {STATES.map((state) => <Tab {...props} state={state} />)}
    </nav>
  );
}

const Tab: FC<StateTabsProps & { state: JobState }> = (props) => {
  const { base, filter, counts, state, chosen } = props;
  // Cancelled jobs are counted with those that are done.
  const count = state === "cancelled" ? undefined : counts[state];
  const isBad = state === "dead" && count !== undefined && count > 0;
  return (
    <a
      href={state === "dead"
        ? `${base}/dead${queryOf(filter, { state: undefined })}`
        : `${base}/jobs${queryOf(filter, { state })}`}
      aria-current={chosen === true && filter.state === state ? "page" : undefined}
    >
      {state}
      {count !== undefined && (
        <span class={isBad ? "count late" : "count"}>
          {" "}
          {grouped(count)}
          {state === "done" && <span class="unseen">with those that were cancelled</span>}
        </span>
      )}
    </a>
  );
};

/** How many jobs some pools have, or one lane of them, by state. What one of them does not know is not known. */
export function countsOf(pools: readonly PoolHandle[], lane: string): StateCounts {
  const sums: StateCounts = {};
  const unknown = new Set<string>();
  for (const pool of pools) {
    const counts = pool.counts(lane === "" ? undefined : lane);
    for (const state of ["ready", "blocked", "delayed", "running", "done", "dead"] as const) {
      const count = counts[state];
      if (count === undefined) unknown.add(state);
      else sums[state] = (sums[state] ?? 0) + count;
    }
  }
  return Object.fromEntries(Object.entries(sums).filter(([state]) => !unknown.has(state)));
}

/**
 * The form that filters jobs. It works without a script.
 *
 * @module
 */

/** @jsxImportSource hono/jsx */

import type { FC } from "hono/jsx";
import type { AdminContext } from "../api/context.ts";
import { JOB_STATES } from "../../base/states.ts";
import { type JobFilter, lanesOf } from "../api/job_query.ts";

/** What the form is made of. */
export interface FilterFormProps {
  /** Path of the page. */
  readonly action: string;
  /** What is asked for now. */
  readonly filter: JobFilter;
  /** Where the pools are. */
  readonly context: AdminContext;
  /** True: the state may be chosen. @default {true} */
  readonly states?: boolean;
}

/** The form. */
export function FilterForm(
  { action, filter, context, states = true }: FilterFormProps,
): ReturnType<FC> {
  const { pools } = context.sluice;
  const chosen = pools.filter(({ name }) => filter.pool === "" || name === filter.pool);
  const isFiltered = filter.pool !== "" || filter.lane !== "" || filter.match !== "" ||
    filter.group !== "" ||
    (states && filter.state !== undefined);
  return (
    <form class="filter" method="get" action={action} role="search">
      <Choice
        name="pool"
        label="Pool"
        none="All pools"
        values={pools.map(({ name }) => name)}
        chosen={filter.pool}
      />
      <Choice
        name="lane"
        label="Lane"
        none="All lanes"
        values={lanesOf(chosen)}
        chosen={filter.lane}
      />
      {states && (
        <Choice
          name="state"
          label="State"
          none="All states"
          values={JOB_STATES}
          chosen={filter.state ?? ""}
        />
      )}
      <div class="search">
        <label for="filter-match">Text</label>
        <input
          id="filter-match"
          name="match"
          type="search"
          maxlength={200}
          value={filter.match}
          placeholder="In id, key, type, error or payload"
          autocomplete="off"
        />
      </div>
      {filter.group !== "" && <input type="hidden" name="group" value={filter.group} />}
      <button type="submit">Show</button>
      {isFiltered && <a href={action}>Show all</a>}
    </form>
  );
}

const Choice: FC<{
  name: string;
  label: string;
  none: string;
  values: readonly string[];
  chosen: string;
}> = ({ name, label, none, values, chosen }) => (
  <div>
    <label for={`filter-${name}`}>{label}</label>
    <select id={`filter-${name}`} name={name} autocomplete="off">
      <option value="">{none}</option>
      {values.map((value) => <option value={value} selected={value === chosen}>{value}</option>)}
    </select>
  </div>
);

/**
 * Why jobs are dead: a list of groups by what their errors have in common.
 *
 * @module
 */

/** @jsxImportSource hono/jsx */

import type { FC } from "hono/jsx";
import { counted, grouped } from "../../base/format.ts";
import { shellWord } from "../../base/shell_word.ts";
import { visible } from "../../base/escape.ts";
import type { FailureGroupJson, FailuresJson } from "../http/wire_failures.ts";
import { Act } from "./act.tsx";
import { ago } from "./job_state.tsx";

/** What the list is made of. */
export interface FailureGroupsProps {
  /** Path that the app is mounted at. */
  readonly base: string;
  /** The groups. */
  readonly failures: FailuresJson;
  /** Now. */
  readonly nowMs: number;
  /** True: with buttons. */
  readonly writes: boolean;
  /** The pool that the page is about. @default {no single one} */
  readonly pool?: string;
  /** Most groups. @default {all} */
  readonly most?: number;
}

/** The groups, those with most jobs first. Nothing where no job is dead. */
export function FailureGroups(props: FailureGroupsProps): ReturnType<FC> {
  const { base, failures, pool, most = Infinity } = props;
  const { groups, looked } = failures;
  if (looked === 0) return null;
  const left = groups.length - Math.min(groups.length, most);
  const all = `${base}/dead${pool === undefined ? "" : `?pool=${encodeURIComponent(pool)}`}`;
  return (
    <section class="card failures" aria-labelledby="failures">
      <h2 id="failures">Why jobs are dead</h2>
      <p class="soft">{lookedText(failures)}</p>
      <ol class="groups">
        {groups.slice(0, most).map((group) => <OneGroup {...props} group={group} />)}
      </ol>
      {left > 0 && (
        <p>
          <a href={all}>{counted(left, "other group")}</a>
        </p>
      )}
    </section>
  );
}

/** How many jobs an action on a group takes: those that were looked at, and maybe older ones. */
function countOf(count: number, { hasMore }: Pick<FailuresJson, "hasMore">): string {
  return `${hasMore ? "at least " : ""}${counted(count, "dead job")}`;
}

function lookedText({ looked, hasMore, groups, others }: FailuresJson): string {
  const kinds = counted(groups.length, "group");
  const rest = others === 0 ? "" : `, and ${counted(others, "job")} in others`;
  return hasMore
    ? `The latest ${counted(looked, "dead job")} in ${kinds}${rest}; there are older ones.`
    : `${counted(looked, "dead job")} in ${kinds}${rest}.`;
}

const OneGroup: FC<FailureGroupsProps & { group: FailureGroupJson }> = (
  { base, failures, nowMs, writes, pool, group },
) => {
  const { group: name, count, firstAtMs, lastAtMs, series, pools, example } = group;
  const query = new URLSearchParams({ ...(pool === undefined ? {} : { pool }), group: name });
  const names = Object.keys(pools);
  const single = names.length === 1 ? names[0] : undefined;
  const differs = example.error !== undefined && example.error !== name;
  return (
    <li data-key={name}>
      <span class="count">{grouped(count)}</span>
      <Series series={series} />
      <div class="what">
        <a href={`${base}/dead?${query}`}>{visible(name)}</a>
        <p class="soft">
          {pool === undefined && `${names.join(", ")} · `}
          {count === 1
            ? `${ago(lastAtMs, nowMs)}`
            : `first ${ago(firstAtMs, nowMs)}, last ${ago(lastAtMs, nowMs)}`}
          {" · "}
          <a href={`${base}/jobs/${encodeURIComponent(example.id)}`}>latest</a>
          {differs && `: ${visible(beginning(example.error ?? ""))}`}
        </p>
      </div>
      {writes && single !== undefined && (
        <GroupActions pool={single} name={name} many={countOf(count, failures)} />
      )}
    </li>
  );
};

/** Retry or discard the group, in one pool. */
export function GroupActions(
  { pool, name, many }: { pool: string; name: string; many: string },
): ReturnType<FC> {
  const path = `/api/pools/${encodeURIComponent(pool)}/operations`;
  const options = `${shellWord(pool)} --all --group ${shellWord(name)}`;
  const shown = beginning(visible(name));
  return (
    <span class="row tight">
      <Act
        path={path}
        body={{ retry: true, group: name }}
        ask={`Retry ${many} of "${pool}" with this error?`}
        more={`${shown}: each goes back to the end of its lane, with all its attempts. This runs in the background and can be cancelled.`}
        cli={`sluice dlq retry ${options}`}
        label="Retry them"
        done="The retry has begun"
        name={`Retry the group ${shown}`}
      >
        Retry…
      </Act>
      <Act
        path={path}
        body={{ discard: true, group: name }}
        ask={`Discard ${many} of "${pool}" with this error?`}
        more={`${shown}: they are deleted, with their payloads and errors. This cannot be undone.`}
        cli={`sluice dlq discard ${options}`}
        label="Discard them"
        done="The discard has begun"
        name={`Discard the group ${shown}`}
        danger
      >
        Discard…
      </Act>
    </span>
  );
}

const BAR = 5;
const HEIGHT = 18;

/** When they ended: a bar for each part of the time. The times beside say the same. */
const Series: FC<{ series: readonly number[] }> = ({ series }) => {
  const most = Math.max(1, ...series);
  const width = series.length * BAR;
  return (
    <svg
      class="series"
      width={width}
      height={HEIGHT}
      viewBox={`0 0 ${width} ${HEIGHT}`}
      aria-hidden="true"
    >
      {series.map((count, place) => {
        const height = count === 0 ? 1 : Math.max(3, HEIGHT * count / most);
        return (
          <rect
            class={count === 0 ? "bar-room" : "bar-failed"}
            x={place * BAR}
            y={(HEIGHT - height).toFixed(1)}
            width={BAR - 1}
            height={height.toFixed(1)}
          />
        );
      })}
    </svg>
  );
};

/** Longest text of an error in a list, characters. */
const LONGEST = 160;

function beginning(text: string): string {
  return text.length <= LONGEST ? text : `${text.slice(0, LONGEST)}…`;
}

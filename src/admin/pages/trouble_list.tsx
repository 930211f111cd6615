/**
 * What is wrong, a line each, worst first: the first thing on the first page.
 *
 * @module
 */

/** @jsxImportSource hono/jsx */

import type { FC } from "hono/jsx";
import { agreeing, counted, duration } from "../../base/format.ts";
import { visible } from "../../base/escape.ts";
import { type Trouble, worseFirst } from "../../explain/trouble.ts";
import { NO_FILTER, queryOf } from "../api/job_query.ts";
import { Name } from "./name.tsx";
import { PauseLane, PausePool } from "./pause.tsx";
import { lanesOverTarget } from "../../explain/diagnose.ts";
import type { ShownPool } from "./pool_state.tsx";
import type { Troubled } from "./troubled.ts";

/** Lines that are seen at once; the others are folded. */
const MOST_LINES = 20;

/** With more lines than that, what to do is on the page of the pool only. */
const MOST_WITH_NEXT = 8;

/** What is wrong with the process or its store: all pools say the same, so it is one line. */
const SHARED: readonly Trouble["code"][] = ["stale", "store-failing", "loop-blocked"];

interface Line {
  readonly pool: ShownPool;
  readonly trouble: Trouble;
  /** How many other pools have the same. */
  readonly others: number;
}

/** What the list is made of. */
export interface TroubleListProps {
  /** Path that the app is mounted at. */
  readonly base: string;
  /** All pools that are asked for. */
  readonly pools: readonly Troubled[];
  /** True: with buttons. */
  readonly writes: boolean;
}

/** The list; one line where nothing is wrong. */
export function TroubleList({ base, pools, writes }: TroubleListProps): ReturnType<FC> {
  const lines = linesOf(pools);
  const rest = lines.slice(MOST_LINES);
  const hasNext = lines.length <= MOST_WITH_NEXT;
  const list = hasNext ? "trouble-lines" : "trouble-lines dense";
  const item = (line: Line): ReturnType<FC> => (
    <One base={base} writes={writes} hasNext={hasNext} {...line} />
  );
  return (
    <section class="card troubles" aria-labelledby="troubles">
      <h2 id="troubles">{headOf(pools)}</h2>
      {lines.length > 0 && <ol class={list}>{lines.slice(0, MOST_LINES).map(item)}</ol>}
      {rest.length > 0 && (
        <details id="more-troubles">
          <summary>And {rest.length} more</summary>
          <ol class={list}>{rest.map(item)}</ol>
        </details>
      )}
    </section>
  );
}

function linesOf(pools: readonly Troubled[]): readonly Line[] {
  const lines = pools.flatMap(({ pool, troubles }) =>
    troubles.map((trouble): Line => ({ pool, trouble, others: 0 }))
  ).sort((a, b) => worseFirst(a.trouble, b.trouble));
  return lines.flatMap((line, place): readonly Line[] => {
    const { code } = line.trouble;
    if (!SHARED.includes(code)) return [line];
    const alike = lines.filter(({ trouble }) => trouble.code === code);
    return lines[place - 1]?.trouble.code === code ? [] : [{ ...line, others: alike.length - 1 }];
  });
}

function headOf(pools: readonly Troubled[]): string {
  const count = (tone: Trouble["tone"]): number =>
    pools.filter(({ troubles: [worst] }) => worst?.tone === tone).length;
  const [bad, held] = [count("bad"), count("warn")];
  const late =
    pools.filter(({ pool, troubles }) => troubles.length === 0 && lanesOverTarget(pool).length > 0)
      .length;
  const parts = [
    bad > 0
      ? `${bad} of ${counted(pools.length, "pool")} ${agreeing(bad, "needs", "need")} attention`
      : held > 0
      ? "No pool needs attention"
      : `All is well in ${counted(pools.length, "pool")}`,
    held > 0 && `${held} ${agreeing(held, "is", "are")} held`,
    late > 0 && `${late} ${agreeing(late, "is", "are")} over target just now`,
  ];
  return parts.filter((part) => part !== false).join("; ");
}

const One: FC<Line & { base: string; writes: boolean; hasNext: boolean }> = (props) => {
  const { base, writes, hasNext, pool, trouble, others } = props;
  const { code, tone, lane, what, forMs, trend, next } = trouble;
  const path = `${base}/pools/${encodeURIComponent(pool.pool)}`;
  return (
    <li data-key={`${pool.pool} ${code} ${lane ?? ""}`} class={`trouble ${tone}`}>
      <span class="where">
        <Name name={pool.pool} href={path} />{" "}
        <span class="soft">
          {others > 0 && `and ${counted(others, "other pool")} `}
          {lane !== undefined && <Name name={lane} />}
        </span>
      </span>
      <span class="what">
        <span class="unseen">{TONES[tone]}</span>
        {visible(what)}
        {trend !== "" && <span class="trend">{visible(trend)}</span>}
        {hasNext && tone !== "quiet" && <span class="next soft">{visible(next)}</span>}
      </span>
      <span class="since soft">{forMs === undefined ? "" : `for ${duration(forMs)}`}</span>
      <span class="row tight">
        <Way base={base} pool={pool} trouble={trouble} />
        {writes && code === "paused" && <Resume pool={pool} lane={lane} />}
      </span>
    </li>
  );
};

const TONES: Readonly<Record<Trouble["tone"], string>> = {
  bad: "Jobs suffer: ",
  warn: "Held: ",
  quiet: "",
};

const Resume: FC<{ pool: ShownPool; lane: string | undefined }> = ({ pool, lane: name }) => {
  const lane = pool.lanes.find((one) => one.name === name);
  return lane === undefined
    ? <PausePool pool={pool} />
    : <PauseLane pool={pool.pool} lane={lane} />;
};

/** The page that helps. */
const Way: FC<{ base: string; pool: ShownPool; trouble: Trouble }> = ({ base, pool, trouble }) => {
  const { code, lane = "" } = trouble;
  const filter = { ...NO_FILTER, pool: pool.pool };
  const page = `${base}/pools/${encodeURIComponent(pool.pool)}`;
  const [name, href] = code === "failing"
    ? ["Errors", `${page}#failures`]
    : code === "dead-letters"
    ? ["Dead letters", `${base}/dead${queryOf(filter)}`]
    : code === "key-bound"
    ? ["Blocked jobs", `${base}/jobs${queryOf(filter, { lane, state: "blocked" })}`]
    : code === "paused"
    ? ["Jobs", `${base}/jobs${queryOf(filter, { lane, state: "ready" })}`]
    : code === "degraded"
    ? ["Decisions", `${page}#decisions`]
    : ["Why", page];
  return <a class="button small" href={href} aria-label={`${name}: ${pool.pool}`}>{name}</a>;
};

/**
 * The page of one pool: demand and supply, lanes, what is wrong, decisions, actions.
 *
 * @module
 */

/** @jsxImportSource hono/jsx */

import { type Context, Hono } from "hono";
import type { BlankEnv } from "hono/types";
import type { FC } from "hono/jsx";
import type { Decision } from "../../contract/decision.ts";
import { duration, grouped, rate } from "../../base/format.ts";
import type { History } from "../../planning/history.ts";
import { suggestion } from "../../base/suggest.ts";
import { whyOf } from "../../explain/reason.ts";
import { Fact } from "./cells.tsx";
import { FailureGroups } from "./failure_groups.tsx";
import type { FailuresJson } from "../http/wire_failures.ts";
import { Charts, isSpan, type Span, spanFault } from "./charts.tsx";
import type { AdminContext } from "../api/context.ts";
import { DecisionLog } from "./decision_log.tsx";
import { LaneTable, type ReserveOf, reserveOf } from "./lane_table.tsx";
import { answerPage, frameOf, type FrameProps, Layout, mayWrite } from "./layout.tsx";
import { BreakerNotice, OverrideNotice, PoolActions } from "./pool_actions.tsx";
import { oldestWaitMs } from "./pool_order.ts";
import { findingClass, isWell, Marks, Meanings, type ShownPool } from "./pool_state.tsx";
import { countsOf, type StateCounts, StateTabs } from "./state_tabs.tsx";
import { NO_FILTER } from "../api/job_query.ts";
import { poolJson } from "../api/pools.ts";
import { REPORTED, reportText } from "../api/report.ts";
import { queryFaults, queryNumber } from "../http/problem.ts";
import { badQuery } from "./trouble.tsx";
import { shownPool } from "./troubled.ts";
import { WhatIf } from "./what_if.tsx";

/** Most groups of failures that the page has. */
const MOST_FAILURES = 3;

/** Without a script the page is reloaded after so long, s. */
const REFRESH_SECONDS = 5;

/**
 * Makes the route.
 *
 * @internal
 */
export function poolPageRoutes(context: AdminContext): Hono<BlankEnv> {
  return new Hono().get("/pools/:pool", (c) => show(c, context));
}

async function show(c: Context, context: AdminContext): Promise<Response> {
  const refresh = queryNumber(c, "refresh", { min: 0, max: 3_600, default: REFRESH_SECONDS });
  const decisions = queryNumber(c, "decisions", { min: 1, max: 1_000, default: 100 });
  const span = c.req.query("span") ?? "2m";
  const faults = queryFaults(c, ["refresh", "decisions", "span"]);
  if (typeof refresh === "object") return await badQuery(c, context, [refresh, ...faults]);
  if (typeof decisions === "object") return await badQuery(c, context, [decisions, ...faults]);
  if (!isSpan(span)) return await badQuery(c, context, [spanFault(span), ...faults]);
  if (faults.length > 0) return await badQuery(c, context, faults);
  const frame = frameOf(c, context);
  const name = c.req.param("pool") ?? "";
  const handle = context.target(name)?.handle;
  if (handle === undefined) {
    const names = context.sluice.pools.map((pool) => pool.name);
    return await answerPage(c, <Missing {...frame} name={name} names={names} />, 404);
  }
  const log = handle.explain(decisions + 1);
  const failures = await context.failures.soon(handle, context.sluice.pools.length);
  const report = reportText(poolJson(handle), log.slice(0, REPORTED), failures);
  return await answerPage(
    c,
    <PoolPage
      {...frame}
      pool={shownPool(handle)}
      counts={countsOf([handle], "")}
      history={handle.history()}
      failures={failures}
      report={report}
      span={span}
      log={log.slice(0, decisions)}
      hasMore={log.length > decisions}
      reserve={reserveOf(handle.settings)}
      most={handle.settings.size.max}
      refresh={refresh}
    />,
  );
}

const Missing: FC<FrameProps & { name: string; names: readonly string[] }> = (props) => (
  <Layout
    base={props.base}
    actor={props.actor}
    dead={props.dead}
    title="No such pool"
    place="pools"
  >
    <p class="card empty">
      No pool is named "{props.name.slice(0, 100)}"{suggestion(props.name, props.names)}.{" "}
      <a href={props.base || "/"}>All pools</a>
    </p>
  </Layout>
);

interface PoolPageProps extends FrameProps {
  readonly pool: ShownPool;
  readonly counts: StateCounts;
  readonly history: History;
  readonly failures: FailuresJson | undefined;
  readonly report: string;
  readonly span: Span;
  readonly log: readonly Decision[];
  readonly hasMore: boolean;
  readonly reserve: ReserveOf;
  readonly most: number;
  readonly refresh: number;
}

const PoolPage: FC<PoolPageProps> = (props) => {
  const { base, actor, dead, pool, history, span, log, hasMore, reserve, most, refresh } = props;
  const writes = mayWrite(actor) && !pool.draining;
  // Old dead letters are below what the pool does now.
  const isFailing = pool.diagnosis.some(({ code }) => code === "failing");
  const failures = props.failures !== undefined && (
    <FailureGroups
      base={base}
      failures={props.failures}
      nowMs={pool.nowMs}
      writes={writes}
      pool={pool.pool}
      most={MOST_FAILURES}
    />
  );
  return (
    <Layout
      base={base}
      actor={actor}
      dead={dead}
      title={pool.pool}
      place="pools"
      beside={
        <>
          <Marks pool={pool} />
          <button type="button" class="small scripted" data-copy={props.report}>
            Copy report
          </button>
          {writes && <PoolActions base={base} pool={pool} most={most} />}
        </>
      }
      scripts={["pool_charts.js", ...(writes ? ["override.js", "what_if.js"] : [])]}
      live
      refresh={refresh}
    >
      {!pool.stopped && <p class="lead">{whyOf(pool)}</p>}
      <div class="meanings">
        <Meanings pool={pool} />
        {isWell(pool) && <p class="meaning good">No lane waits longer than its target.</p>}
      </div>
      <OverrideNotice pool={pool} writes={writes} />
      <BreakerNotice pool={pool} writes={writes} />
      <Findings pool={pool} />
      {isFailing && failures}
      <Facts pool={pool} />
      <StateTabs
        base={base}
        label={`Jobs of ${pool.pool}`}
        filter={{ ...NO_FILTER, pool: pool.pool }}
        counts={props.counts}
      />
      <Charts pool={pool} history={history} span={span} base={base} />
      <h2 id="lanes">Lanes</h2>
      <LaneTable pool={pool} reserve={reserve} writes={writes} />
      {!isFailing && failures}
      <h2 id="decisions">Decisions</h2>
      <DecisionLog pool={pool.pool} log={log} hasMore={hasMore} />
      {writes && <WhatIf pool={pool} />}
    </Layout>
  );
};

const Facts: FC<{ pool: ShownPool }> = ({ pool }) => {
  const { window, size } = pool;
  const limit = Number.isFinite(pool.limit) ? `, limit ${grouped(pool.limit)}` : "";
  return (
    <dl class="facts">
      <Fact name="Workers busy" text={`${grouped(pool.busy)} of ${grouped(pool.live)}${limit}`} />
      <Fact
        name="Target"
        text={pool.worked
          ? `${pool.draining ? "none" : pool.target} (${size.min} to ${size.max})`
          : "not worked here"}
      />
      <Fact
        name="Ready jobs"
        text={grouped(pool.lanes.reduce((sum, { ready }) => sum + ready, 0))}
      />
      <Fact name="Oldest wait" text={duration(oldestWaitMs(pool))} />
      <Fact name="In per s" text={rate(window.arrivalsPerSec)} />
      <Fact name="Done per s" text={rate(window.completionsPerSec)} />
      <Fact
        name="Failed per s"
        text={rate(window.failuresPerSec)}
        bad={window.failuresPerSec > 0}
      />
      <Fact name="Shed per s" text={rate(window.shedPerSec)} bad={window.shedPerSec > 0} />
      {pool.peers > 1 && <Fact name="Processes" text={`${pool.peers}`} />}
    </dl>
  );
};

const Findings: FC<{ pool: ShownPool }> = ({ pool }) => (
  <>
    {pool.diagnosis.map((finding) => (
      <div
        data-key={`${finding.code} ${finding.lane ?? ""}`}
        class={`${findingClass(finding)} card`}
      >
        <h2>{finding.code.replaceAll("-", " ")}</h2>
        <p>{finding.saw}.</p>
        <p>
          <strong>What to change:</strong> {finding.change}.
        </p>
      </div>
    ))}
  </>
);

/**
 * The start page: how each pool is, and why it has the size it has. Needs no script.
 *
 * @module
 */

/** @jsxImportSource hono/jsx */

import { type Context, Hono } from "hono";
import type { BlankEnv } from "hono/types";
import { html } from "hono/html";
import type { FC } from "hono/jsx";
import type { PoolSnapshot } from "../sluice.ts";
import type { LaneView } from "../view.ts";
import type { AdminContext } from "./context.ts";
import { badRequest, queryNumber } from "./problem.ts";

/** Time between refreshes unless `?refresh=` says otherwise, s. */
const REFRESH_SECONDS = 3;

const PAGE_HEADERS: Readonly<Record<string, string>> = {
  "cache-control": "no-store",
  "content-security-policy":
    "default-src 'none'; style-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
};

/**
 * Makes the routes of the page.
 *
 * @internal
 */
export function pageRoutes(context: AdminContext): Hono<BlankEnv> {
  return new Hono().get("/", (c) => showPage(c, context));
}

function showPage(c: Context, context: AdminContext): Response | Promise<Response> {
  const refresh = queryNumber(c, "refresh", { min: 0, max: 3_600, default: REFRESH_SECONDS });
  if (typeof refresh === "object") return badRequest([refresh]);
  const base = c.req.path.replace(/\/$/, ""); // the app may be mounted anywhere
  const pools = context.sluice.pools.map((pool) => pool.snapshot());
  const page = <Page base={base} pools={pools} refresh={refresh} />;
  return c.html(html`<!DOCTYPE html>${page}`, 200, PAGE_HEADERS);
}

const Page: FC<{ base: string; pools: readonly PoolSnapshot[]; refresh: number }> = (props) => (
  <html lang="en">
    <head>
      <meta charset="utf-8" />
      <meta name="viewport" content="width=device-width, initial-scale=1" />
      {props.refresh > 0 && <meta http-equiv="refresh" content={String(props.refresh)} />}
      <title>Sluice</title>
      <link rel="icon" href="data:," />
      <link rel="stylesheet" href={`${props.base}/assets/style.css`} />
    </head>
    <body>
      <header>
        <h1>Sluice</h1>
        <Refreshing base={props.base} seconds={props.refresh} />
      </header>
      <main>
        {props.pools.length === 0 && <p>No pool is configured.</p>}
        {props.pools.map((pool) => <Pool key={pool.pool} pool={pool} />)}
      </main>
    </body>
  </html>
);

const Refreshing: FC<{ base: string; seconds: number }> = ({ base, seconds }) => (
  <p class="soft">
    {seconds > 0
      ? (
        <>
          Refreshes every {seconds} s, <a href={`${base}/?refresh=0`}>hold still</a>
        </>
      )
      : (
        <>
          Holds still, <a href={`${base}/`}>refresh</a>
        </>
      )}
  </p>
);

const Pool: FC<{ pool: PoolSnapshot }> = ({ pool }) => (
  <section class="pool" aria-label={`Pool ${pool.pool}`}>
    <div class="head">
      <h2>{pool.pool}</h2>
      <span>{sizeOf(pool)}</span>
      <span class="soft">
        {perSec(pool.window.arrivalsPerSec)} in, {perSec(pool.window.completionsPerSec)} done,{" "}
        {perSec(pool.window.failuresPerSec)} failed, {perSec(pool.window.shedPerSec)} shed a second
      </span>
      {marksOf(pool).map((mark) => <Mark key={mark} text={mark} />)}
    </div>
    <p>{pool.decision?.latest ?? pool.decision?.sentence ?? "No decision has been made yet."}</p>
    <div class="scroll" tabindex={0} role="region" aria-label={`Lanes of ${pool.pool}`}>
      <table>
        <thead>
          <tr>
            <th scope="col">Lane</th>
            <th scope="col">Oldest wait</th>
            <th scope="col">Target</th>
            <th scope="col">Ready</th>
            <th scope="col">Held</th>
            <th scope="col">Delayed</th>
            <th scope="col">Running</th>
            <th scope="col">In per s</th>
            <th scope="col">Mean run</th>
          </tr>
        </thead>
        <tbody>{pool.lanes.map((lane) => <Lane key={lane.name} lane={lane} />)}</tbody>
      </table>
    </div>
  </section>
);

const Mark: FC<{ text: string }> = ({ text }) => <span class="mark">{text}</span>;

const Lane: FC<{ lane: LaneView }> = ({ lane }) => (
  <tr>
    <th scope="row">{lane.paused ? `${lane.name} (paused)` : lane.name}</th>
    <td class={lane.targetWaitMs === null ? "" : isLate(lane) ? "late" : "met"}>
      {duration(lane.oldestWaitMs)}
      {isLate(lane) && " over"}
    </td>
    <td>{lane.targetWaitMs === null ? "none" : duration(lane.targetWaitMs)}</td>
    <td>{lane.ready}</td>
    <td>{lane.blocked}</td>
    <td>{lane.delayed}</td>
    <td>{lane.running}</td>
    <td>{perSec(lane.arrivalsPerSec)}</td>
    <td>{lane.meanServiceMs === 0 ? "none yet" : duration(lane.meanServiceMs)}</td>
  </tr>
);

function sizeOf(pool: PoolSnapshot): string {
  const limit = Number.isFinite(pool.limit) ? `, limit ${pool.limit}` : "";
  return `${pool.busy} busy of ${pool.live} workers, target ${pool.target}${limit}`;
}

function marksOf(pool: PoolSnapshot): readonly string[] {
  const stuck = pool.workers.filter((worker) => worker.state === "stuck").length;
  return [
    pool.paused && "paused",
    pool.draining && "draining",
    pool.override !== undefined && "overridden",
    pool.rateBound && "held by its start rate",
    pool.degraded && "degraded: a strategy fails",
    pool.stale && "stale: the store cannot be read",
    stuck > 0 && `${stuck} stuck`,
  ].filter((mark) => mark !== false);
}

function isLate(lane: LaneView): boolean {
  return lane.targetWaitMs !== null && lane.oldestWaitMs > lane.targetWaitMs;
}

function duration(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1_000).toFixed(1)} s`;
  return ms < 3_600_000 ? `${(ms / 60_000).toFixed(1)} min` : `${(ms / 3_600_000).toFixed(1)} h`;
}

function perSec(value: number): string {
  return value < 10 ? value.toFixed(1) : String(Math.round(value));
}

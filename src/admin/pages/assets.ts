/**
 * Files that pages need: style, scripts, the icon. They come with the module graph, as text, so that
 * they are there wherever the package is loaded from, and no permission to read is needed.
 *
 * @module
 */

import { Hono } from "hono";
import { etag } from "hono/etag";
import type { BlankEnv } from "hono/types";
import actions from "../assets/actions.js" with { type: "text" };
import chartData from "../assets/chart_data.js" with { type: "text" };
import chartDraw from "../assets/chart_draw.js" with { type: "text" };
import dom from "../assets/dom.js" with { type: "text" };
import enqueue from "../assets/enqueue.js" with { type: "text" };
import figures from "../assets/figures.js" with { type: "text" };
import frame from "../assets/frame.js" with { type: "text" };
import frameStyle from "../assets/frame.css" with { type: "text" };
import happened from "../assets/happened.js" with { type: "text" };
import icon from "../assets/icon.svg" with { type: "text" };
import jobList from "../assets/job_list.js" with { type: "text" };
import jobsStyle from "../assets/jobs.css" with { type: "text" };
import live from "../assets/live.js" with { type: "text" };
import localTime from "../assets/local_time.js" with { type: "text" };
import morph from "../assets/morph.js" with { type: "text" };
import overviewStyle from "../assets/overview.css" with { type: "text" };
import override from "../assets/override.js" with { type: "text" };
import partsStyle from "../assets/parts.css" with { type: "text" };
import poolCharts from "../assets/pool_charts.js" with { type: "text" };
import poolsStyle from "../assets/pools.css" with { type: "text" };
import reload from "../assets/reload.js" with { type: "text" };
import retry from "../assets/retry.js" with { type: "text" };
import whatIf from "../assets/what_if.js" with { type: "text" };
import whatIfStyle from "../assets/what_if.css" with { type: "text" };
import theme from "../assets/theme.js" with { type: "text" };
import { API_HEADERS, problem } from "../http/problem.ts";

const TYPES: Readonly<Record<string, string>> = {
  css: "text/css; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  svg: "image/svg+xml",
};

/** Files by name. */
const FILES: Readonly<Record<string, string>> = {
  "actions.js": actions,
  "chart_data.js": chartData,
  "chart_draw.js": chartDraw,
  "dom.js": dom,
  "enqueue.js": enqueue,
  "figures.js": figures,
  "frame.js": frame,
  "happened.js": happened,
  "icon.svg": icon,
  "job_list.js": jobList,
  "live.js": live,
  "local_time.js": localTime,
  "morph.js": morph,
  "override.js": override,
  "pool_charts.js": poolCharts,
  "reload.js": reload,
  "retry.js": retry,
  "style.css": frameStyle + partsStyle + overviewStyle + poolsStyle + jobsStyle + whatIfStyle,
  "theme.js": theme,
  "what_if.js": whatIf,
};

/**
 * Makes the routes of files that pages need. They are open to all: the login page needs them.
 *
 * @internal
 */
export function assetRoutes(): Hono<BlankEnv> {
  return new Hono().get("/assets/:name", etag(), (c) => {
    const name = c.req.param("name");
    const text = Object.hasOwn(FILES, name) ? FILES[name] : undefined;
    if (text === undefined) return problem(404, "No such asset");
    return c.body(text, 200, {
      ...API_HEADERS,
      // Asked for again with each page, and answered 304: after an update no page runs an old script.
      "cache-control": "no-cache",
      "content-type": TYPES[name.slice(name.lastIndexOf(".") + 1)] ?? "text/plain",
      "cross-origin-resource-policy": "same-origin",
    });
  });
}

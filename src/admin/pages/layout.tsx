/**
 * What all pages share: their headers and their frame.
 *
 * @module
 */

/** @jsxImportSource hono/jsx */

import type { Context } from "hono";
import { html } from "hono/html";
import type { Child, FC } from "hono/jsx";
import { grouped } from "../../base/format.ts";
import type { Actor } from "../access/actor.ts";
import type { AdminContext } from "../api/context.ts";
import { countsOf } from "./state_tabs.tsx";
import { baseOf } from "../http/origin.ts";

/** Headers of every page: no script and no style but our own files, no frame, nothing kept. */
export const PAGE_HEADERS: Readonly<Record<string, string>> = {
  "cache-control": "no-store",
  "content-security-policy":
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; " +
    "base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  // Not "no-referrer": with it a browser sends "Origin: null" with our own forms.
  "referrer-policy": "same-origin",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
};

/** Places of the navigation. */
export type PageName = "pools" | "jobs" | "dead" | "schedules" | "audit" | "config";

const PLACES: readonly {
  readonly place: PageName;
  readonly path: string;
  readonly name: string;
}[] = [
  { place: "pools", path: "/", name: "Pools" },
  { place: "jobs", path: "/jobs", name: "Jobs" },
  { place: "dead", path: "/dead", name: "Dead letters" },
  { place: "schedules", path: "/schedules", name: "Schedules" },
  { place: "audit", path: "/audit", name: "Audit" },
  { place: "config", path: "/config", name: "Config" },
];

/** What the frame of a page takes from its request. */
export interface FrameProps {
  /** Path that the app is mounted at. Empty: at the root. */
  readonly base: string;
  /** Who looks. `undefined`: nobody is known yet, and there is nowhere to go. */
  readonly actor?: Actor | undefined;
  /** Dead jobs that are kept, of all pools. `undefined`: a store does not say how many. */
  readonly dead?: number | undefined;
}

/** What a page is made of. */
export interface LayoutProps extends FrameProps {
  /** What the page is: its heading, and its title before the product's name. */
  readonly title: string;
  /** Where in the navigation it is. `undefined`: nowhere. */
  readonly place?: PageName | undefined;
  /** What is beside the heading. */
  readonly beside?: Child;
  /** Names of further scripts: modules among the assets. */
  readonly scripts?: readonly string[] | undefined;
  /** Classic scripts that come before them. */
  readonly libraries?: readonly string[] | undefined;
  /** Names of further style sheets among the assets. */
  readonly styles?: readonly string[] | undefined;
  /** True: `main` is kept current by looking again. */
  readonly live?: boolean | undefined;
  /** Without scripts, the page is reloaded after this many seconds. `undefined` or 0: never. */
  readonly refresh?: number | undefined;
  /** Its content. */
  readonly children?: Child;
}

/** What the frame needs to know of a request. */
export function frameOf(c: Context, context: AdminContext): FrameProps {
  const { dead } = countsOf(context.sluice.pools, "");
  return { ...bareFrameOf(c, context), dead };
}

/** The same without a look at the pools, for a page that says that something is wrong with them. */
export function bareFrameOf(c: Context, context: AdminContext): FrameProps {
  return { base: baseOf(c), actor: context.identify(c) };
}

/** True if this actor may change something. */
export function mayWrite(actor: Actor | undefined): boolean {
  return actor?.role === "admin";
}

/** The frame of a page. */
export function Layout(props: LayoutProps): ReturnType<FC> {
  const { base, actor, title, place, beside, live = false, children } = props;
  return (
    <html lang="en" data-base={base}>
      <Head {...props} />
      <body data-live={live ? "on" : undefined} data-role={actor?.role}>
        <a class="skip" href="#main">Skip to the content</a>
        <header class="bar">
          <a class="brand" href={base || "/"}>
            <img src={`${base}/assets/icon.svg`} alt="" width="22" height="22" /> Sluice
          </a>
          {actor !== undefined && <Navigation base={base} dead={props.dead} place={place} />}
          <Tools base={base} actor={actor} live={live} />
        </header>
        <div id="banner" class="banner" role="status"></div>
        <main id="main" tabindex={-1}>
          <div class="title">
            <h1>{title}</h1>
            {beside}
          </div>
          {children}
        </main>
        {actor !== undefined && <Footer base={base} />}
        <div id="said" class="said" role="status"></div>
      </body>
    </html>
  );
}

const Head: FC<LayoutProps> = (
  { base, title, actor, scripts = [], libraries = [], styles = [], refresh },
) => (
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <meta name="color-scheme" content="light dark" />
    <title>{title} - Sluice</title>
    <link rel="icon" href={`${base}/assets/icon.svg`} />
    <script src={`${base}/assets/theme.js`}></script>
    <link rel="stylesheet" href={`${base}/assets/style.css`} />
    {styles.map((name) => <link rel="stylesheet" href={`${base}/assets/${name}`} />)}
    {libraries.map((name) => <script defer src={`${base}/assets/${name}`}></script>)}
    {(actor === undefined ? [] : ["frame.js", ...scripts]).map((name) => (
      <script type="module" src={`${base}/assets/${name}`}></script>
    ))}
    {refresh !== undefined && refresh > 0 && (
      <noscript>
        <meta http-equiv="refresh" content={String(refresh)} />
      </noscript>
    )}
  </head>
);

const Navigation: FC<{
  base: string;
  dead: number | undefined;
  place: PageName | undefined;
}> = ({ base, dead = 0, place }) => (
  <nav id="places" aria-label="Main">
    {PLACES.map((entry) => (
      <a
        href={entry.path === "/" ? base || "/" : base + entry.path}
        aria-current={entry.place === place ? "page" : undefined}
      >
        {entry.name}
        {entry.place === "dead" && dead > 0 && <span class="count late">{grouped(dead)}</span>}
      </a>
    ))}
  </nav>
);

const Tools: FC<{ base: string; actor: Actor | undefined; live: boolean }> = (props) => (
  <div class="tools">
    {props.live && (
      <>
        <span id="state" class="state scripted" data-state="live">Live</span>
        <button id="hold" type="button" class="small scripted" aria-pressed="false">
          Pause updates
        </button>
      </>
    )}
    {props.actor?.role === "viewer" && <span class="chip">read-only</span>}
    {props.actor?.session !== undefined && (
      <form method="post" action={`${props.base}/logout`}>
        {props.actor.role === "admin" && <span class="soft">admin</span>}
        <button type="submit" class="small">Log out</button>
      </form>
    )}
  </div>
);

const Footer: FC<{ base: string }> = ({ base }) => (
  <footer>
    <a href={`${base}/docs`}>API</a> <a href={`${base}/openapi.json`}>OpenAPI</a>{" "}
    <a href={`${base}/metrics`}>Metrics</a>
    <label class="scripted">
      Theme{" "}
      <select id="theme" class="small" autocomplete="off">
        <option value="system">System</option>
        <option value="light">Light</option>
        <option value="dark">Dark</option>
      </select>
    </label>
  </footer>
);

/** Answers with a page. */
export function answerPage(
  c: Context,
  page: ReturnType<FC>,
  status: 200 | 400 | 401 | 403 | 404 | 405 | 421 | 429 | 500 | 503 = 200,
  headers: Readonly<Record<string, string>> = {},
): Response | Promise<Response> {
  return c.html(html`<!DOCTYPE html>${page}`, status, { ...PAGE_HEADERS, ...headers });
}

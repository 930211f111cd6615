/**
 * The page of what happened: who changed what, and what the system did.
 *
 * @module
 */

/** @jsxImportSource hono/jsx */

import { type Context, Hono } from "hono";
import type { BlankEnv } from "hono/types";
import type { FC } from "hono/jsx";
import { display } from "../../config/faults.ts";
import { visible } from "../../base/escape.ts";
import { eventText } from "../http/event_text.ts";
import type { EventJson } from "../http/wire.ts";
import { past } from "../api/events.ts";
import type { AdminContext } from "../api/context.ts";
import { answerPage, frameOf, Layout } from "./layout.tsx";
import { queryFaults } from "../http/problem.ts";
import { Time } from "./time.tsx";
import { badQuery } from "./trouble.tsx";

/** Events of the page. */
const SHOWN = 200;

/** What the page can be about: all, or what people did. */
const VIEWS: readonly { readonly by: string; readonly name: string }[] = [
  { by: "", name: "Everything" },
  { by: "people", name: "By people" },
];

/**
 * Makes the route.
 *
 * @internal
 */
export function auditPageRoutes(context: AdminContext): Hono<BlankEnv> {
  return new Hono().get("/audit", (c) => show(c, context));
}

function show(c: Context, context: AdminContext): Response | Promise<Response> {
  const by = c.req.query("by") ?? "";
  const isKnown = VIEWS.some((view) => view.by === by);
  const detail = `Expected by to be "people", or left out, but received ${display(by)}`;
  const faults = [...queryFaults(c, ["by"]), ...(isKnown ? [] : [{ pointer: "?by", detail }])];
  if (faults.length > 0) return badQuery(c, context, faults);
  const frame = frameOf(c, context);
  const { base } = frame;
  const kind = by === "" ? [] : ["audit"];
  const { events, keptSinceMs } = past({ kind, limit: SHOWN }, context);
  return answerPage(
    c,
    <Layout {...frame} title="Audit" place="audit" live>
      <p class="lead">
        Who changed what through this process, and what it did by itself, since{" "}
        <Time atMs={keptSinceMs} />. It holds this process only: what is done through another is on
        the page of that one, and a restart begins with an empty list. The log keeps it for longer.
      </p>
      <nav class="row" aria-label="What is shown">
        {VIEWS.map((view) => (
          <a
            class={view.by === by ? "button primary" : "button"}
            href={view.by === "" ? `${base}/audit` : `${base}/audit?by=${view.by}`}
            aria-current={view.by === by ? "page" : undefined}
          >
            {view.name}
          </a>
        ))}
      </nav>
      {events.length === 0
        ? <p class="card empty">Nothing happened yet.</p>
        : <Events base={base} events={events} />}
    </Layout>,
  );
}

const COLUMNS = ["When", "Who", "What", "Pool", "Details"];

/** On a narrow screen each row becomes a card, so roles are said in full. */
const Events: FC<{ base: string; events: readonly EventJson[] }> = ({ base, events }) => (
  <div class="card scroll" tabindex={0} role="region" aria-label="What happened">
    <table class="jobs" role="table">
      <thead role="rowgroup">
        <tr role="row">
          {COLUMNS.map((name) => <th scope="col" role="columnheader" class="text">{name}</th>)}
        </tr>
      </thead>
      <tbody role="rowgroup">
        {events.map((event) => <Row base={base} event={event} />)}
      </tbody>
    </table>
  </div>
);

const Row: FC<{ base: string; event: EventJson }> = ({ base, event }) => {
  const { who, what, details } = eventText(event);
  const { pool } = event;
  return (
    <tr role="row">
      <th scope="row" role="rowheader">
        <Time atMs={event.atMs} />
      </th>
      <td role="cell" class="text">
        {who === "system" ? <span class="soft">{who}</span> : who}
      </td>
      <td role="cell" class="text wrap">{visible(what)}</td>
      <td role="cell" class="text" data-label={pool === "" ? undefined : "Pool"}>
        {pool !== "" && <a href={`${base}/pools/${encodeURIComponent(pool)}`}>{pool}</a>}
      </td>
      <td role="cell" class="text wrap soft">{visible(details)}</td>
    </tr>
  );
};

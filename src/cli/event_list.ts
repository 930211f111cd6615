/**
 * `sluice events`: who did what, and what happens now.
 *
 * @module
 */

import type { Command } from "commander";
import type { EventJson } from "../admin/http/wire.ts";
import { eventText } from "../admin/http/event_text.ts";
import { middleOut } from "../base/middle_out.ts";
import { isoTime } from "../time/iso_time.ts";
import { call, type RemoteOptions } from "./client.ts";
import { eventStream } from "./event_stream.ts";
import { CliError } from "./failure.ts";
import { onInterrupt } from "./interrupt.ts";
import type { Io } from "./io.ts";
import { type Column, showTable } from "./fold.ts";
import { SHORT_NAME } from "./pool_rows.ts";
import { json, line, note } from "./print.ts";
import { durationMs, type Tools, wholeNumber, withRemote } from "./verb.ts";

interface EventOptions extends RemoteOptions {
  readonly pool?: readonly string[];
  readonly kind?: readonly string[];
}

interface ListOptions extends EventOptions {
  readonly since: string;
  readonly limit: string;
}

/** Adds the verb. */
export function addEvents(program: Command, { io }: Tools): void {
  const events = program.command("events").description("who did what, and what happens now");
  withFilter(
    events.command("ls", { isDefault: true }).description(
      "list what people and the system did, newest first",
    ),
  )
    .option("--since <duration>", "how far back", "1h")
    .option("--limit <count>", "most events", "100")
    .action((options: ListOptions) => list(io, options));
  withFilter(events.command("tail").description("print events as they happen, until ctrl-C"))
    .action((options: EventOptions) => tail(io, options));
}

function withFilter(command: Command): Command {
  return withRemote(command)
    .option("--pool <pool...>", "only these pools")
    .option("--kind <kind...>", "only these kinds, such as audit or job-dead");
}

async function list(io: Io, options: ListOptions): Promise<void> {
  const sinceMs = Math.max(0, Date.now() - (durationMs("--since", options.since) ?? 0));
  const limit = wholeNumber("--limit", options.limit, 1);
  const { pool, kind } = options;
  const past = await call(io, options, "GET /api/events/past", "events", {
    query: { pool, kind, sinceMs, limit },
  });
  if (options.json) return json(io, past);
  const { events, keptSinceMs } = past;
  if (events.length > 0) {
    showTable(io, COLUMNS, events);
  } else line(io, "Nothing happened");
  if (keptSinceMs > sinceMs) {
    line(io, `This process keeps events since ${isoTime(keptSinceMs)}: others have their own`);
  }
}

const COLUMNS: readonly Column<EventJson>[] = [
  { title: "TIME", rank: 0, cell: ({ atMs }) => isoTime(atMs) },
  { title: "WHO", rank: 0, cell: (event) => eventText(event).who },
  {
    title: "POOL",
    rank: 0,
    cell: ({ pool }) => pool,
    short: ({ pool }) => middleOut(pool, SHORT_NAME),
  },
  {
    title: "WHAT",
    rank: 0,
    cell: (event) => {
      const { what, details } = eventText(event);
      return details === "" ? what : `${what}: ${details}`;
    },
    below: true,
  },
];

/** Prints one line an event. */
async function tail(io: Io, options: EventOptions): Promise<void> {
  const stop = new AbortController();
  const unlisten = onInterrupt(io, () => stop.abort());
  const { kind = [], pool = [] } = options;
  try {
    for await (const heard of eventStream(io, options, { kind, pool }, stop.signal)) {
      if (heard.kind === "event") show(io, heard.event, options);
      if (heard.kind === "gap") {
        note(io, `Events are missing: ${heard.missed ?? "how many is not known"}`);
      }
      if (heard.kind === "end") {
        throw new CliError(`The event stream has ended: ${heard.trouble ?? "it was closed"}`);
      }
    }
  } finally {
    unlisten();
  }
}

function show(io: Io, event: EventJson, options: EventOptions): void {
  if (options.json) return line(io, JSON.stringify(event));
  const { who, what, details } = eventText(event);
  const by = who === "system" ? "" : ` by ${who}`;
  const more = details === "" ? "" : `: ${details}`;
  const pool = event.pool === "" ? "" : `  ${event.pool}`;
  line(io, `${isoTime(event.atMs)}  ${event.kind}${pool}  ${what}${by}${more}`);
}

/**
 * Reads the event stream of a running system; goes on where it was cut off.
 *
 * @module
 */

import type { EventJson } from "../admin/http/wire.ts";
import { delay } from "../base/async.ts";
import { type RemoteOptions, send } from "./client.ts";
import { CliError } from "./failure.ts";
import type { Io } from "./io.ts";

/** One thing that a stream says. */
export type Heard =
  | { readonly kind: "event"; readonly event: EventJson }
  /** The stream lives; the time of the system. */
  | { readonly kind: "beat"; readonly atMs: number }
  /** Events are lost. `undefined`: nobody knows how many. */
  | { readonly kind: "gap"; readonly missed: number | undefined }
  /** The system stops, or has answered no more for a while. */
  | { readonly kind: "end"; readonly trouble: string | undefined };

/** How often a stream that broke is tried again, and after how long each time. */
const TRIES = 10;
const RETRY_MS = 500;

/**
 * Reads until the stream or `signal` ends. Faults of the first request are thrown, later ones end it.
 *
 * @throws {CliError} If no stream can be opened.
 */
export async function* eventStream(
  io: Io,
  options: RemoteOptions,
  query: { readonly kind?: readonly string[]; readonly pool?: readonly string[] },
  signal: AbortSignal,
): AsyncGenerator<Heard, void> {
  let lastId: string | undefined;
  let tries = 0;
  while (!signal.aborted) {
    let trouble = "the stream broke";
    try {
      const headers = {
        accept: "text/event-stream",
        ...lastId === undefined ? {} : { "last-event-id": lastId },
      };
      const response = await send(io, options, "GET /api/events", { query, headers, signal });
      for await (const message of messagesOf(response)) {
        lastId = message.id ?? lastId;
        tries = 0;
        yield message.heard;
        if (message.heard.kind === "end") return;
      }
    } catch (thrown) {
      if (signal.aborted) return;
      if (lastId === undefined) throw thrown;
      if (thrown instanceof CliError) trouble = thrown.message;
    }
    if (signal.aborted) return;
    if (++tries > TRIES) {
      yield { kind: "end", trouble };
      return;
    }
    await delay(RETRY_MS, { signal }).catch(() => {}); // ends early with the signal
  }
}

async function* messagesOf(
  response: Response,
): AsyncGenerator<{ readonly id: string | undefined; readonly heard: Heard }, void> {
  let text = "";
  for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    const parts = (text + chunk).split("\n\n");
    text = parts.pop() ?? "";
    for (const part of parts) {
      const fields = new Map(
        part.split("\n").map((line) => {
          const colon = line.indexOf(": ");
          return [line.slice(0, colon), line.slice(colon + 2)] as const;
        }),
      );
      const heard = heardOf(fields.get("event"), JSON.parse(fields.get("data") ?? "{}"));
      if (heard !== undefined) yield { id: fields.get("id"), heard };
    }
  }
}

/** `data` is what the route is declared to send. */
function heardOf(event: string | undefined, data: EventJson & Lost): Heard | undefined {
  switch (event) {
    case undefined:
      return { kind: "event", event: data };
    case "beat":
      return { kind: "beat", atMs: data.atMs };
    case "gap":
      return { kind: "gap", missed: data.missed ?? undefined };
    case "end":
      return { kind: "end", trouble: "the system stops" };
  }
}

interface Lost {
  readonly missed?: number | null;
}

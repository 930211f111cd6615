/**
 * A request to an address that is judged before it is connected to.
 *
 * `fetch` resolves a name by itself, so that what was judged before may not be what it connects to. Here
 * the connection asks for the addresses, gets those that were judged, and is made for this one request.
 *
 * @module
 */

import { lookup } from "node:dns";
import http from "node:http";
import https from "node:https";
import { isIP, type LookupFunction } from "node:net";
import { Fatal } from "../../src/contract/errors.ts";
import { isPublic } from "./_address.ts";
import type { OpenAnswer, Sending } from "./_send.ts";

/** How addresses are found and judged. */
export interface Judging {
  /** Resolves a name to all its addresses. @default {the system's resolver} */
  readonly resolve?: typeof lookup;
  /** Whether an address may be connected to. @default {isPublic} */
  readonly allows?: (address: string) => boolean;
}

/**
 * Sends it, over HTTP/1.1 and a connection of its own.
 *
 * @throws {Fatal} If the address, or one of those of the name, is none of the public internet.
 */
export function sendPublic(
  sending: Sending,
  signal: AbortSignal,
  { resolve = lookup, allows = isPublic }: Judging = {},
): Promise<OpenAnswer> {
  const url = new URL(sending.url);
  const host = url.hostname.replace(/^\[(.*)\]$/, "$1");
  if (isIP(host) !== 0 && !allows(host)) return Promise.reject(notPublic(url));
  // As bytes: a text would have its headers sent in UTF-8 with it.
  const body = sending.body === undefined ? undefined : new TextEncoder().encode(sending.body);
  return new Promise((answered, failed) => {
    const request = (url.protocol === "https:" ? https : http).request(url, {
      method: sending.method,
      headers: headersOf(sending, body),
      agent: false,
      lookup: judgedLookup(url, { resolve, allows }),
      signal,
    }, (response) =>
      answered({
        status: response.statusCode ?? 0,
        headers: new Headers(
          Object.entries(response.headers).map(([name, value]): [string, string] => [
            name,
            String(value),
          ]),
        ),
        body: ReadableStream.from<Uint8Array<ArrayBuffer>>(response),
      }));
    request.on("error", (fault) => failed(firstOf(fault)));
    request.on("upgrade", (_, socket) => {
      socket.destroy();
      failed(new Error("It switched to another protocol"));
    });
    signal.addEventListener("abort", () => failed(signal.reason), { once: true }); // whatever the request does
    request.end(body);
  });
}

/** Answers with the addresses of a name if each may be connected to. */
function judgedLookup(url: URL, { resolve, allows }: Required<Judging>): LookupFunction {
  return (name, options, answer) =>
    resolve(name, { ...options, all: true }, (fault, addresses = []) => {
      if (fault !== null) return answer(fault, "");
      if (!addresses.every(({ address }) => allows(address))) return answer(notPublic(url), "");
      if (options.all) return answer(null, addresses);
      answer(null, addresses[0]?.address ?? "", addresses[0]?.family);
    });
}

function notPublic({ origin }: URL): Fatal {
  return new Fatal(
    `${origin} is at a private or local address: only with "privateAddresses" may jobs name one`,
  );
}

/** Where several addresses were tried, each has its fault. */
function firstOf(fault: Error): unknown {
  return fault instanceof AggregateError ? fault.errors[0] ?? fault : fault;
}

function headersOf({ headers }: Sending, body: Uint8Array | undefined): Record<string, string> {
  return {
    "accept": "*/*",
    "user-agent": navigator.userAgent,
    ...Object.fromEntries(headers),
    ...(body === undefined ? {} : { "content-length": String(body.length) }),
  };
}

/**
 * A request to an address that is judged before it is connected to.
 *
 * `fetch` resolves a name by itself, so that what was judged before may not be what it connects to. Here
 * the connection is made to an address that was judged, for this one request.
 *
 * @module
 */

import { lookup } from "node:dns/promises";
import http from "node:http";
import { isIP } from "node:net";
import { Duplex } from "node:stream";
import { Fatal } from "../../src/contract/errors.ts";
import { isPublic } from "./_address.ts";
import type { OpenAnswer, Sending } from "./_send.ts";

/** How addresses are found and judged. */
export interface Judging {
  /** All addresses of a name. @default {those that the system knows} */
  readonly resolve?: (name: string) => Promise<readonly string[]>;
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
  { resolve = addressesOf, allows = isPublic }: Judging = {},
): Promise<OpenAnswer> {
  const url = new URL(sending.url);
  // As bytes: a text would have its headers sent in UTF-8 with it.
  const body = sending.body === undefined ? undefined : new TextEncoder().encode(sending.body);
  return new Promise((answered, failed) => {
    const request = http.request({
      method: sending.method,
      path: url.pathname + url.search,
      headers: headersOf(sending, url, body),
      createConnection: (_, made) => {
        connect(url, signal, { resolve, allows })
          .then((connection) => made(null, connection), failed);
        return undefined;
      },
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
    request.on("error", failed);
    request.on("upgrade", (_, socket) => {
      socket.destroy();
      failed(new Error("It switched to another protocol"));
    });
    signal.addEventListener("abort", () => failed(signal.reason), { once: true }); // whatever the request does
    request.end(body);
  });
}

/** Connects to an address of the URL if all of them are allowed: to the first that takes it. */
async function connect(
  url: URL,
  signal: AbortSignal,
  { resolve, allows }: Required<Judging>,
): Promise<Duplex> {
  const name = url.hostname.replace(/^\[(.*)\]$/, "$1");
  const addresses = isIP(name) === 0 ? await resolve(name) : [name];
  if (!addresses.every(allows)) throw notPublic(url);
  const isSecure = url.protocol === "https:";
  const port = Number(url.port) || (isSecure ? 443 : 80);
  let fault: unknown = new Error("The name has no address");
  for (const hostname of addresses) {
    try {
      signal.throwIfAborted();
      const connection = await Deno.connect({ hostname, port, signal });
      return streamOf(isSecure ? await secured(connection, name) : connection, signal);
    } catch (thrown) {
      fault = thrown;
    }
  }
  throw fault;
}

/** By the certificate of the name, not of the address. */
async function secured(connection: Deno.TcpConn, hostname: string): Promise<Deno.TlsConn> {
  const secure = await Deno.startTls(connection, { hostname });
  try {
    await secure.handshake();
    return secure;
  } catch (thrown) {
    secure.close();
    throw thrown;
  }
}

/** @throws The reason of the signal if it has aborted meanwhile. */
function streamOf(connection: Deno.Conn, signal: AbortSignal): Duplex {
  if (signal.aborted) connection.close();
  signal.throwIfAborted();
  const { readable, writable } = connection;
  return Duplex.fromWeb({ readable, writable } as Parameters<typeof Duplex.fromWeb>[0]); // types of Node differ by version
}

async function addressesOf(name: string): Promise<readonly string[]> {
  const found = await lookup(name, { all: true });
  return found.map(({ address }) => address);
}

function notPublic({ origin }: URL): Fatal {
  return new Fatal(
    `${origin} is at a private or local address: only with "privateAddresses" may jobs name one`,
  );
}

function headersOf(
  { headers }: Sending,
  { host }: URL,
  body: Uint8Array | undefined,
): Record<string, string> {
  return {
    "accept": "*/*",
    "user-agent": navigator.userAgent,
    ...Object.fromEntries(headers),
    "host": host,
    "connection": "close",
    ...(body === undefined ? {} : { "content-length": String(body.length) }),
  };
}

/**
 * One HTTP request with a time limit, and faults that name no more of its URL than may be shown: the rest
 * may hold a secret.
 *
 * @module
 */

import { messageOf } from "../../src/contract/errors.ts";

/** What to send. */
export interface Sending {
  /** Where to. */
  readonly url: string;
  /** How. */
  readonly method: string;
  /** With which headers. */
  readonly headers: Headers;
  /** What. */
  readonly body: string;
  /** Longest time to the status of the answer, ms. */
  readonly timeoutMs: number;
  /** Ends the request when it aborts: `send` rejects with its reason. */
  readonly signal: AbortSignal;
}

/** What came back. */
export interface SentAnswer {
  /** Its status. */
  readonly status: number;
  /** Its headers. */
  readonly headers: Headers;
  /** How its body begins, in one line of at most 300 characters. Empty for a 2xx, and for what is no text. */
  readonly excerpt: string;
}

/** Longest excerpt of a body, characters, and the most bytes that it is made of. */
const LONGEST_EXCERPT = 300;
const EXCERPT_BYTES = 2_000;

/** Headers that hold no secret, and the shortest value of others that may be one, characters. */
const PLAIN_HEADERS = /^(accept|content-type|user-agent)/i;
const SHORTEST_SECRET = 4;

/** A part of a path that is so long, or so long and of letters and digits, may be a key. */
const LONG_PART = 24;
const KEY_PART = 16;

/** Answers are read up to here, so that the connection can serve the next request. */
const LONGEST_READ_BYTES = 65_536;

/** And for so long, ms: a body that drips must not hold a worker whose job is done. */
const LONGEST_READ_MS = 250;

/**
 * Sends it; resolves once the answer is read, or enough of it. Of its body the beginning is kept, where
 * that may say what is wrong.
 *
 * @throws {Error} If no one can be reached, or no answer comes in time.
 */
export async function send(sending: Sending): Promise<SentAnswer> {
  const { url, timeoutMs, signal } = sending;
  const limit = new AbortController();
  const timer = setTimeout(() => limit.abort(), timeoutMs);
  try {
    const response = await fetch(url, {
      method: sending.method,
      headers: sending.headers,
      body: sending.body,
      redirect: "manual", // a followed redirect turns a POST into a GET
      signal: AbortSignal.any([signal, limit.signal]),
    });
    const bytes = await readToEnd(response);
    const { status, headers } = response;
    return { status, headers, excerpt: response.ok ? "" : excerptOf(bytes, headers) };
  } catch (thrown) {
    signal.throwIfAborted();
    const message = limit.signal.aborted
      ? `No answer from ${originOf(url)} within ${timeoutMs} ms`
      : `Cannot reach ${originOf(url)}: ${networkFault(thrown, url)}`;
    throw new Error(message, { cause: thrown });
  } finally {
    clearTimeout(timer);
  }
}

/** What of a URL may be shown where nobody answers. */
function originOf(url: string): string {
  return new URL(url).origin;
}

/** What of a URL may be shown: its query is left out, and so are parts of its path that look like keys. */
export function placeOf(url: string): string {
  const { origin, pathname, search } = new URL(url);
  const path = pathname.split("/").map((part) => isKey(part) ? "…" : part).join("/");
  return `${origin}${path === "/" ? "" : path}${search === "" ? "" : "?…"}`;
}

function isKey(part: string): boolean {
  return part.length >= LONG_PART ||
    (part.length >= KEY_PART && /\d/.test(part) && /[a-z]/i.test(part));
}

/** A receiver may say what it was sent: values of headers, such as a token, and their last words. */
export function withoutHeaders(
  excerpt: string,
  headers: Readonly<Record<string, string>>,
): string {
  const values = Object.entries(headers).filter(([name]) => !PLAIN_HEADERS.test(name))
    .flatMap(([, value]) => [value, value.split(" ").at(-1) ?? ""]);
  return values.filter(({ length }) => length >= SHORTEST_SECRET)
    .reduce((text, value) => text.replaceAll(value, "[redacted]"), excerpt);
}

/** How a body begins, if it is a text. */
function excerptOf(bytes: Uint8Array, headers: Headers): string {
  const type = headers.get("content-type") ?? "text/plain";
  if (!/^text\/|json|xml|urlencoded/i.test(type)) return "";
  const text = new TextDecoder().decode(bytes).replaceAll(/\s+/g, " ").trim();
  return text.length <= LONGEST_EXCERPT ? text : `${text.slice(0, LONGEST_EXCERPT - 1)}…`;
}

/**
 * Reads a short body, so that the connection can serve the next request; cancels a long or slow one.
 *
 * @returns How it begins.
 */
async function readToEnd({ body }: Response): Promise<Uint8Array> {
  const beginning = new Uint8Array(EXCERPT_BYTES);
  let bytes = 0;
  const read = (): Uint8Array => beginning.subarray(0, Math.min(bytes, EXCERPT_BYTES));
  if (body === null) return read();
  const reader = body.getReader();
  const cancel = (): void => void reader.cancel().catch(() => {}); // it is of no use any more
  const timer = setTimeout(cancel, LONGEST_READ_MS);
  try {
    while (bytes <= LONGEST_READ_BYTES) {
      const { done, value } = await reader.read();
      if (done) return read();
      const room = EXCERPT_BYTES - bytes;
      if (room > 0) beginning.set(value.subarray(0, room), bytes);
      bytes += value.byteLength;
    }
    cancel();
  } catch {
    // The status has arrived: what becomes of the body changes nothing about the delivery.
  } finally {
    clearTimeout(timer);
  }
  return read();
}

/** `fetch` says only "fetch failed": the fault is its cause, which names the whole URL. */
function networkFault(thrown: unknown, url: string): string {
  const fault = thrown instanceof Error && thrown.cause instanceof Error ? thrown.cause : thrown;
  return messageOf(fault).replaceAll(new URL(url).href, originOf(url));
}

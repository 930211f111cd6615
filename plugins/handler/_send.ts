/**
 * One HTTP request with a time limit, and faults that name the origin only: the rest of a URL may
 * hold a secret.
 *
 * @module
 */

import { messageOf } from "../../src/errors.ts";

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
  /** Longest time to the end of the answer, ms. */
  readonly timeoutMs: number;
  /** Ends the request when it aborts: `send` rejects with its reason. */
  readonly signal: AbortSignal;
}

/** Answers are read up to here, so that the connection can serve the next request. */
const LONGEST_READ_BYTES = 65_536;

/**
 * Sends it; resolves once the answer is read. Its body is not kept: the status is the answer.
 *
 * @throws {Error} If nobody can be reached, or no answer comes in time.
 */
export async function send(sending: Sending): Promise<Response> {
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
    await readToEnd(response);
    return response;
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

/** What of a URL may be shown: its path and query may hold a secret. */
export function originOf(url: string): string {
  return new URL(url).origin;
}

/** Reads a short body, so that the connection can serve the next request; cancels a long one. */
async function readToEnd(response: Response): Promise<void> {
  let bytes = 0;
  try {
    for await (const chunk of response.body ?? []) {
      bytes += chunk.byteLength;
      if (bytes > LONGEST_READ_BYTES) return; // leaving the loop cancels the body
    }
  } catch {
    // The status has arrived: what becomes of the body changes nothing about the delivery.
  }
}

/** `fetch` says only "fetch failed": the fault is its cause, which names the whole URL. */
function networkFault(thrown: unknown, url: string): string {
  const fault = thrown instanceof Error && thrown.cause instanceof Error ? thrown.cause : thrown;
  return messageOf(fault).replaceAll(new URL(url).href, originOf(url));
}

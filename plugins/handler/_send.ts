/**
 * One HTTP request with a time limit, and faults that name the origin only: the rest of a URL may
 * hold a secret.
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

/** Answers are read up to here, so that the connection can serve the next request. */
const LONGEST_READ_BYTES = 65_536;

/** And for so long, ms: a body that drips must not hold a worker whose job is done. */
const LONGEST_READ_MS = 250;

/**
 * Sends it; resolves once the answer is read, or enough of it. Its body is not kept: the status is
 * the answer.
 *
 * @throws {Error} If no one can be reached, or no answer comes in time.
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

/** Reads a short body, so that the connection can serve the next request; cancels a long or slow one. */
async function readToEnd({ body }: Response): Promise<void> {
  if (body === null) return;
  const reader = body.getReader();
  const cancel = (): void => void reader.cancel().catch(() => {}); // it is of no use any more
  const timer = setTimeout(cancel, LONGEST_READ_MS);
  try {
    for (let bytes = 0; bytes <= LONGEST_READ_BYTES;) {
      const { done, value } = await reader.read();
      if (done) return;
      bytes += value.byteLength;
    }
    cancel();
  } catch {
    // The status has arrived: what becomes of the body changes nothing about the delivery.
  } finally {
    clearTimeout(timer);
  }
}

/** `fetch` says only "fetch failed": the fault is its cause, which names the whole URL. */
function networkFault(thrown: unknown, url: string): string {
  const fault = thrown instanceof Error && thrown.cause instanceof Error ? thrown.cause : thrown;
  return messageOf(fault).replaceAll(new URL(url).href, originOf(url));
}

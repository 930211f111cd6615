/**
 * One HTTP request with a time limit, and faults that name no more of its URL than may be shown: the rest
 * may hold a secret.
 *
 * @module
 */

import { Fatal, messageOf } from "../../src/contract/errors.ts";

/** What to send. */
export interface Sending {
  /** Where to. */
  readonly url: string;
  /** How. */
  readonly method: string;
  /** With which headers. */
  readonly headers: Headers;
  /** What. `undefined`: nothing. */
  readonly body: string | undefined;
  /** How much of the answer's body to keep, bytes. */
  readonly keepBytes: number;
  /** Longest time to read it after the status, ms: a body that drips must not hold a worker whose job is done. */
  readonly readMs: number;
  /** Longest time to the status of the answer, ms. */
  readonly timeoutMs: number;
  /** Ends the request when it aborts: `send` rejects with its reason. */
  readonly signal: AbortSignal;
}

/** An answer whose body is not read yet. */
export type OpenAnswer = Pick<Response, "status" | "headers" | "body">;

/** Makes one request that ends when `signal` aborts, and follows no redirect. */
export type Transport = (sending: Sending, signal: AbortSignal) => Promise<OpenAnswer>;

/** What came back. */
export interface ReadAnswer {
  /** Its status. */
  readonly status: number;
  /** Its headers. */
  readonly headers: Headers;
  /** How its body begins. */
  readonly bytes: Uint8Array;
  /** True if that is all of it. */
  readonly isWhole: boolean;
}

/** Answers are read up to here, so that the connection can serve the next request. */
const LONGEST_READ_BYTES = 65_536;

/** Sends by `fetch`, which keeps connections. */
export function byFetch(sending: Sending, signal: AbortSignal): Promise<OpenAnswer> {
  const { url, method, headers, body } = sending;
  return fetch(url, {
    method,
    headers,
    ...(body === undefined ? {} : { body }),
    redirect: "manual", // a followed redirect turns a POST into a GET
    signal,
  });
}

/**
 * Sends it; resolves once the answer is read, or enough of it.
 *
 * @throws {Fatal} If the transport may not connect there.
 * @throws {Error} If no one can be reached, or no answer comes in time.
 */
export async function send(sending: Sending, transport: Transport): Promise<ReadAnswer> {
  const { url, timeoutMs, signal } = sending;
  const limit = new AbortController();
  const timer = setTimeout(() => limit.abort(), timeoutMs);
  try {
    const answer = await transport(sending, AbortSignal.any([signal, limit.signal]));
    const { status, headers } = answer;
    return { status, headers, ...await readToEnd(answer, sending) };
  } catch (thrown) {
    signal.throwIfAborted();
    if (thrown instanceof Fatal) throw thrown;
    // Without its cause, whose message is kept too: that names the whole URL.
    throw new Error(
      limit.signal.aborted
        ? `No answer from ${originOf(url)} within ${timeoutMs} ms`
        : `Cannot reach ${originOf(url)}: ${networkFault(thrown, url)}`,
    );
  } finally {
    clearTimeout(timer);
  }
}

/** What of a URL may be shown where nobody answers. */
function originOf(url: string): string {
  return new URL(url).origin;
}

/** Reads a short body, so that the connection can serve the next request; cancels a long or slow one. */
async function readToEnd(
  { body }: OpenAnswer,
  { keepBytes, readMs }: Sending,
): Promise<Pick<ReadAnswer, "bytes" | "isWhole">> {
  const kept = new Uint8Array(keepBytes);
  let bytes = 0;
  let isTimeOver = false;
  const read = (isAll: boolean): Pick<ReadAnswer, "bytes" | "isWhole"> => ({
    bytes: kept.subarray(0, Math.min(bytes, keepBytes)),
    isWhole: isAll && bytes <= keepBytes,
  });
  if (body === null) return read(true);
  const reader = body.getReader();
  const cancel = (): void => void reader.cancel().catch(() => {}); // it is of no use any more
  const timer = setTimeout(() => {
    isTimeOver = true;
    cancel();
  }, readMs);
  try {
    while (bytes <= LONGEST_READ_BYTES) {
      const { done, value } = await reader.read();
      if (done) return read(!isTimeOver);
      const room = keepBytes - bytes;
      if (room > 0) kept.set(value.subarray(0, room), bytes);
      bytes += value.byteLength;
    }
    cancel();
  } catch {
    // The status has arrived: what becomes of the body changes nothing about the delivery.
  } finally {
    clearTimeout(timer);
  }
  return read(false);
}

/** `fetch` says only "fetch failed": the fault is its cause, which names the whole URL. */
function networkFault(thrown: unknown, url: string): string {
  const fault = thrown instanceof Error && thrown.cause instanceof Error ? thrown.cause : thrown;
  return messageOf(fault).replaceAll(new URL(url).href, originOf(url));
}

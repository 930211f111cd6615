/**
 * Sends a request until an answer says what became of it.
 *
 * @module
 */

import { RejectedError } from "../contract/errors.ts";
import { foreignAnswer, RequestError, type RequestFault, UnavailableError } from "./errors.ts";
import { type ClientTime, pause } from "./time.ts";

/** How requests are sent. */
export interface Sender {
  /** Address of the admin API, without a slash at its end. */
  readonly url: string;
  /** Shows who sends. `undefined`: nothing is shown. */
  readonly token: (() => string | Promise<string>) | undefined;
  /** Sends. */
  readonly fetch: (url: string, init: RequestInit) => Promise<Response>;
  /** Most often that a request is sent. */
  readonly attempts: number;
  /** Wait before the second attempt, ms; doubles with each further one. */
  readonly baseMs: number;
  /** Longest wait that is not asked for by the server, ms. */
  readonly maxMs: number;
  /** How long one attempt may take, ms. */
  readonly tryMs: number;
  /** Time of waits and limits. */
  readonly time: ClientTime;
  /** From 0 to below 1: spreads the waits of many clients. */
  readonly random: () => number;
}

/** One request. */
export interface Outgoing {
  /** Method. */
  readonly method: "GET" | "POST";
  /** Path below the address, query included. */
  readonly path: string;
  /** JSON. `undefined`: no body. */
  readonly body?: string | undefined;
  /** Same for each attempt. `undefined`: the request changes nothing. */
  readonly idempotencyKey?: string | undefined;
  /** The answer may be held for so long, ms: an attempt takes that much longer. */
  readonly heldMs?: number | undefined;
  /** No attempt begins later. */
  readonly untilMs: number;
  /** Gives up. */
  readonly signal?: AbortSignal | undefined;
  /** True: a 429 that tells of each job of many is an answer. */
  readonly many?: boolean | undefined;
}

/**
 * Sends a request, again after faults that pass, with the same key.
 *
 * @returns The JSON of the answer.
 * @throws {RejectedError} If the server turns it away, still after the last attempt.
 * @throws {RequestError} If it is refused.
 * @throws {UnavailableError} If there is no answer, still after the last attempt.
 * @throws {TypeError} If no header can carry the key or the token.
 */
export async function send(request: Outgoing, sender: Sender): Promise<unknown> {
  for (let attempt = 1;; attempt++) {
    const answer = await sendOnce(request, sender);
    if (!isFailure(answer)) return answer;
    const { time, attempts } = sender;
    const waitMs = backoff(attempt, answer, sender);
    if (attempt >= attempts || time.nowMs() + waitMs > request.untilMs) throw answer;
    await pause(waitMs, time, request.signal);
  }
}

/**
 * How long to wait after a failed attempt, ms: as long as the server says, or twice as long each time;
 * and spread by chance.
 */
export function backoff(
  attempt: number,
  failure: RejectedError | UnavailableError,
  { baseMs, maxMs, random }: Pick<Sender, "baseMs" | "maxMs" | "random">,
): number {
  const { retryAfterMs } = failure;
  if (retryAfterMs !== undefined) return retryAfterMs + random() * baseMs;
  return Math.min(maxMs, baseMs * 2 ** (attempt - 1)) * (0.5 + random() / 2);
}

/** Reads a `Retry-After`: seconds or a date. `undefined`: it says nothing. */
export function readRetryAfter(header: string | null): number | undefined {
  if (header === null) return undefined;
  if (/^\d{1,9}$/.test(header)) return Number(header) * 1_000;
  const atMs = Date.parse(header); // Hint: the old forms of RFC 9110 are not worth their size in a browser
  return Number.isNaN(atMs) ? undefined : Math.max(0, atMs - Date.now());
}

/** True for what may pass: it is worth sending again. */
export function isFailure(answer: unknown): answer is RejectedError | UnavailableError {
  return answer instanceof RejectedError || answer instanceof UnavailableError;
}

/** One attempt: JSON, or a failure that may pass. */
async function sendOnce(request: Outgoing, sender: Sender): Promise<unknown> {
  const { signal, idempotencyKey } = request;
  signal?.throwIfAborted();
  const token = await sender.token?.();
  const headers = headersOf(request, token);
  const limit = new AbortController();
  const abort = (): void => limit.abort(signal?.reason);
  signal?.addEventListener("abort", abort);
  const tryMs = sender.tryMs + (request.heldMs ?? 0);
  const unset = sender.time.after(tryMs, () => limit.abort());
  let response: Response;
  let text: string;
  try {
    response = await sender.fetch(`${sender.url}${request.path}`, {
      method: request.method,
      headers,
      body: request.body ?? null,
      redirect: "manual", // one that is followed makes a GET of a POST, or sends the token elsewhere
      signal: limit.signal,
    });
    text = await response.text();
  } catch (cause) {
    signal?.throwIfAborted();
    const what = limit.signal.aborted
      ? `${sender.url} has not answered within ${tryMs} ms`
      : `Nothing answers at ${sender.url} (${cause instanceof Error ? cause.message : cause})`;
    const message = `${what}: check that the system runs, and the address`;
    return new UnavailableError(message, { idempotencyKey, cause });
  } finally {
    unset();
    signal?.removeEventListener("abort", abort);
  }
  return read(response, text, request, { url: sender.url, hasToken: token !== undefined });
}

function headersOf(
  { body, idempotencyKey }: Outgoing,
  token: string | undefined,
): Record<string, string> {
  checkHeader("an idempotencyKey", idempotencyKey, "encode it, such as by encodeURIComponent");
  checkHeader("a token", token, "remove line breaks and non-ASCII characters");
  return {
    accept: "application/json",
    ...(body === undefined ? {} : { "content-type": "application/json" }),
    ...(idempotencyKey === undefined ? {} : { "idempotency-key": idempotencyKey }),
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
  };
}

/** What a header can carry: `fetch` throws at anything else, as if nobody had answered. */
const HEADER_TEXT = /^[\t -~\x80-\xff]*$/;

/** @throws {TypeError} If no header can carry it. */
function checkHeader(name: string, value: string | undefined, change: string): void {
  if (value === undefined || HEADER_TEXT.test(value)) return;
  throw new TypeError(`Expected ${name} that a header can carry: ${change}`);
}

function read(
  response: Response,
  text: string,
  request: Outgoing,
  { url, hasToken }: { readonly url: string; readonly hasToken: boolean },
): unknown {
  const { status } = response;
  // Browsers tell nothing of a redirect but that it is one.
  if (response.type === "opaqueredirect" || (status >= 300 && status < 400)) {
    throw new RequestError(
      `${url} redirects elsewhere: pass the address that it redirects to`,
      status,
    );
  }
  const json = parsed(text);
  if (response.ok) {
    if (json !== undefined) return json;
    throw foreignAnswer(url, "it sent no JSON", status);
  }
  const problem = isRecord(json) ? json : {};
  const detail = typeof problem["detail"] === "string" ? problem["detail"] : undefined;
  const afterMs = readRetryAfter(response.headers.get("retry-after"));
  if (status === 429) {
    if (request.many && Array.isArray(problem["results"])) return json;
    const { reason, retryAfterMs } = problem;
    return new RejectedError(
      typeof reason === "string" ? reason : detail ?? "the server answered 429",
      typeof retryAfterMs === "number" ? retryAfterMs : afterMs ?? 1_000,
    );
  }
  if (status >= 500) {
    const { idempotencyKey } = request;
    const said = detail === undefined ? "" : ` (${detail})`;
    const message = `${url} answered ${status}${said}: try again later`;
    const failure = new UnavailableError(message, {
      status,
      idempotencyKey,
      retryAfterMs: afterMs,
    });
    if ([502, 503, 504].includes(status)) return failure;
    throw failure; // a fault of the server itself: it would come again
  }
  if (status === 401) {
    const wanted = hasToken ? "rejected the token: check it" : 'needs a token: pass "token"';
    throw new RequestError(`The system at ${url} ${wanted}`, status);
  }
  const message = detail ?? `${url} answered ${status}: check that it is a Sluice admin API`;
  throw new RequestError(message, status, faultsIn(problem["errors"]));
}

function faultsIn(errors: unknown): readonly RequestFault[] {
  if (!Array.isArray(errors)) return [];
  return errors.filter(isRecord).map(({ pointer, detail }) => ({
    pointer: String(pointer),
    detail: String(detail),
  }));
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // not JSON: the status has to say all
  }
}

/** True for an object that is no list. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

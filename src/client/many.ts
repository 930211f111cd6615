/**
 * Enqueues many jobs, and sends those again that were rejected.
 *
 * @module
 */

import { RejectedError } from "../contract/errors.ts";
import { foreignAnswer, RequestError, type UnavailableError } from "./errors.ts";
import { type EnqueuePart, partsOf } from "./parts.ts";
import { backoff, isFailure, isRecord, type Outgoing, send, type Sender } from "./send.ts";
import { pause } from "./time.ts";

/** An accepted job. */
export interface Enqueued {
  /** Its id, or that of the job it duplicates. */
  readonly id: string;
  /** True: a job with the same key was there already. */
  readonly duplicate: boolean;
}

/** What became of one job of many. */
export type EnqueueResult = Enqueued | RejectedError | RequestError | UnavailableError;

/**
 * Sends jobs in parts.
 *
 * @param jobs Each as JSON.
 * @param request Path, time and key of all parts.
 * @returns One result a job, in order.
 */
export async function sendMany(
  jobs: readonly string[],
  request: Outgoing & { readonly idempotencyKey: string },
  sender: Sender,
): Promise<readonly EnqueueResult[]> {
  const results: EnqueueResult[] = [];
  let parts: readonly KeyedPart[] = partsOf(jobs, [...jobs.keys()]).map((part, index) => {
    const key = request.idempotencyKey;
    return { ...part, idempotencyKey: index === 0 ? key : `${key}-${index}` };
  });
  for (let round = 1;; round++) {
    for (const [index, part] of parts.entries()) {
      const { idempotencyKey } = part;
      const failed = await sendPart(part, { ...request, idempotencyKey }, sender, results);
      if (failed === undefined) continue;
      // What comes after would fare no better: it is not sent.
      for (const { places } of parts.slice(index)) {
        for (const place of places) if (!isTaken(results[place])) results[place] = failed;
      }
      return results;
    }
    // The whole part again, under its key: that is how each job is known that was taken.
    parts = parts.filter(({ places }) => places.some((place) => isRejected(results[place])));
    const rejected = parts.flatMap(({ places }) => places.map((place) => results[place]))
      .filter(isRejected);
    const last = rejected.at(-1);
    if (last === undefined || round >= sender.attempts) return results;
    const waitMs = Math.max(...rejected.map(({ retryAfterMs }) => retryAfterMs)) +
      backoff(round, last, sender) - last.retryAfterMs;
    if (sender.time.nowMs() + waitMs > request.untilMs) return results;
    await pause(waitMs, sender.time, request.signal);
  }
}

interface KeyedPart extends EnqueuePart {
  readonly idempotencyKey: string;
}

function isRejected(result: EnqueueResult | undefined): result is RejectedError {
  return result instanceof RejectedError;
}

function isTaken(result: EnqueueResult | undefined): boolean {
  return result !== undefined && !(result instanceof Error);
}

/** Sends one part. Answers what went wrong with the whole of it. */
async function sendPart(
  part: EnqueuePart,
  request: Outgoing,
  sender: Sender,
  results: EnqueueResult[],
): Promise<EnqueueResult | undefined> {
  let answer: unknown;
  try {
    answer = await send({ ...request, body: part.body, many: true }, sender);
  } catch (thrown) {
    if (isFailure(thrown) || thrown instanceof RequestError) return thrown;
    throw thrown; // given up, or a fault of ours
  }
  const given = isRecord(answer) ? answer["results"] : undefined;
  if (!Array.isArray(given) || given.length !== part.places.length) {
    return foreignAnswer(sender.url, "the answer names no jobs");
  }
  for (const [index, place] of part.places.entries()) {
    if (!isTaken(results[place])) results[place] = resultOf(given[index]); // of the first time else
  }
}

function resultOf(given: unknown): EnqueueResult {
  const { id, duplicateOf, error, retryAfterMs } = isRecord(given) ? given : {};
  if (typeof id === "string") return { id, duplicate: false };
  if (typeof duplicateOf === "string") return { id: duplicateOf, duplicate: true };
  return typeof retryAfterMs === "number"
    ? new RejectedError(String(error), retryAfterMs)
    : new RequestError(String(error));
}

/**
 * Judges what strategies answer, and says what is wrong with it. What passes is a plain copy: its
 * fields were read once, where a fault in reading them was caught.
 *
 * @module
 */

import { LONGEST_DELAY_MS } from "../contract/job.ts";
import type { LanePolicy, Limit, Proposal, StartLimit, Verdict } from "../contract/strategy.ts";
import type { LaneView } from "../contract/view.ts";

/** Longest text that a message or a reason shows, in characters. */
const LONGEST_TEXT = 500;

/** Windows of start rates, ms. */
const SHORTEST_WINDOW_MS = 1000;
const LONGEST_WINDOW_MS = 86_400_000;

/** Most fields of an object that a message names. */
const MOST_FIELDS = 6;

/**
 * What was answered instead, for a message. Never throws. A promise is not waited for, and its
 * rejection ends here.
 */
export function received(answer: unknown): string {
  try {
    return describe(answer);
  } catch {
    return "a value that cannot be read";
  }
}

/**
 * What a controller wants, or a shadow.
 *
 * @throws {TypeError} If that is no proposal.
 */
export function judgeProposal(answer: unknown): Proposal {
  return judgeAmounts(answer, "Proposal");
}

/**
 * What a cap allows.
 *
 * @throws {TypeError} If that is no limit.
 */
export function judgeLimit(answer: unknown): Limit {
  const limit = judgeAmounts(answer, "Limit");
  const { startsPerSec, rates } = answer as Limit; // an object: it was just judged
  if (startsPerSec !== undefined && !isAmount(startsPerSec)) {
    throw new TypeError(`Expected Limit startsPerSec >= 0 but received ${received(startsPerSec)}`);
  }
  if (startsPerSec === undefined && rates === undefined) return limit;
  return { ...limit, startsPerSec, rates: rates && judgeRates(rates) };
}

/**
 * The limits on starts that a cap answers.
 *
 * @throws {TypeError} If one is none.
 */
export function judgeRates(rates: unknown): readonly StartLimit[] {
  if (!Array.isArray(rates)) {
    throw new TypeError(`Expected Limit rates to be a list but received ${received(rates)}`);
  }
  return rates.map((rate: StartLimit | null | undefined) => {
    const { starts, perMs, burst, lane } = rate ?? {};
    if (!isAmount(starts) || starts === Infinity) {
      throw new TypeError(`Expected starts of a rate to be >= 0 but received ${received(starts)}`);
    }
    if (!isAmount(perMs) || perMs < SHORTEST_WINDOW_MS || perMs > LONGEST_WINDOW_MS) {
      throw new TypeError(
        `Expected perMs of a rate to be ${SHORTEST_WINDOW_MS} to ${LONGEST_WINDOW_MS} but received ${
          received(perMs)
        }`,
      );
    }
    if (burst !== undefined && !(isAmount(burst) && burst >= 1)) {
      throw new TypeError(`Expected burst of a rate to be >= 1 but received ${received(burst)}`);
    }
    if (lane !== undefined && typeof lane !== "string") {
      throw new TypeError(`Expected lane of a rate to be a name but received ${received(lane)}`);
    }
    return { starts, perMs, burst, lane };
  });
}

function isAmount(value: unknown): value is number {
  return typeof value === "number" && value >= 0;
}

/**
 * What an admission says of a job.
 *
 * @throws {TypeError} If that is no verdict.
 */
export function judgeVerdict(answer: unknown): Verdict {
  if (typeof answer !== "object" || answer === null) {
    throw new TypeError(`Expected a Verdict but received ${received(answer)}`);
  }
  const { admit } = answer as Verdict; // each field is judged
  if (admit === true) return ADMITTED;
  if (admit !== false) {
    throw new TypeError(
      `Expected Verdict admit to be true or false but received ${
        received(admit === undefined ? answer : admit)
      }`,
    );
  }
  const { reason, retryAfterMs } = answer as Verdict & { readonly admit: false }; // each is judged
  if (
    !(typeof retryAfterMs === "number" && retryAfterMs >= 0 && retryAfterMs <= LONGEST_DELAY_MS)
  ) {
    throw new TypeError(
      `Expected Verdict retryAfterMs to be 0 to ${LONGEST_DELAY_MS} ms but received ${
        received(retryAfterMs)
      }`,
    );
  }
  return { admit: false, reason: judgeReason(reason, "Verdict"), retryAfterMs };
}

/**
 * What an admission's `take` says of a job.
 *
 * @throws {TypeError} If that is neither true nor false.
 */
export function judgeTake(answer: unknown): boolean {
  if (typeof answer === "boolean") return answer;
  throw new TypeError(`Expected take() to answer true or false but received ${received(answer)}`);
}

/** What is wrong with what a lane policy answered: it is not one of the lanes that may be served. */
export function faultOfLane(answer: unknown): string {
  return `Expected one of the eligible lanes but received ${received(laneNameIn(answer))}`;
}

/**
 * The lane that a policy chooses. `undefined`: none.
 *
 * @throws {TypeError} If that is none of `eligible`.
 */
export function judgeLane(
  answer: ReturnType<LanePolicy>,
  eligible: readonly LaneView[],
): LaneView | undefined {
  if (answer === undefined || eligible.includes(answer)) return answer;
  throw new TypeError(faultOfLane(answer));
}

/**
 * The ids of workers that a retirement lets go, in its order.
 *
 * @throws {TypeError} If that is no list of texts.
 */
export function judgeRetired(answer: unknown): ReadonlySet<string> {
  if (!Array.isArray(answer)) {
    throw new TypeError(`Expected a list of worker ids but received ${received(answer)}`);
  }
  for (const id of answer) {
    if (typeof id === "string") continue;
    throw new TypeError(`Expected a list of worker ids but one of them is ${received(id)}`);
  }
  return new Set(answer);
}

const ADMITTED: Verdict = { admit: true };

function judgeAmounts(answer: unknown, what: "Proposal" | "Limit"): Proposal {
  if (typeof answer !== "object" || answer === null || answer instanceof Promise) {
    throw new TypeError(`Expected a ${what} but received ${received(answer)}`);
  }
  const { workers, reason, reviewAtMs } = answer as Proposal; // each is judged
  if (!(typeof workers === "number" && workers >= 0)) {
    const found = received(workers === undefined ? answer : workers);
    throw new TypeError(`Expected ${what} workers >= 0 but received ${found}`);
  }
  if (what === "Proposal" && workers === Infinity) {
    throw new TypeError("Expected Proposal workers to be finite but received Infinity");
  }
  if (
    reviewAtMs !== undefined && !(typeof reviewAtMs === "number" && !Number.isNaN(reviewAtMs))
  ) {
    throw new TypeError(
      `Expected ${what} reviewAtMs to be a time but received ${received(reviewAtMs)}`,
    );
  }
  return { workers, reason: judgeReason(reason, what), reviewAtMs };
}

function judgeReason(reason: unknown, what: string): string {
  if (typeof reason === "string") return shortened(reason);
  throw new TypeError(`Expected ${what} reason to be a text but received ${received(reason)}`);
}

function laneNameIn(answer: unknown): unknown {
  try {
    const isNamed = typeof answer === "object" && answer !== null && "name" in answer;
    return isNamed ? answer.name : answer;
  } catch {
    return answer;
  }
}

function describe(answer: unknown): string {
  if (typeof answer === "string") return `"${shortened(answer)}"`;
  if (typeof answer === "function") return "a function";
  if (typeof answer !== "object" || answer === null) return String(answer);
  if (answer instanceof Promise) {
    answer.catch(() => {}); // what is reported is that there is a promise at all
    return "a promise: it has to answer at once";
  }
  if (Array.isArray(answer)) return `a list of ${answer.length}`;
  const fields = Object.keys(answer);
  if (fields.length === 0) return "an object without fields";
  const more = fields.length > MOST_FIELDS ? ", …" : "";
  return `an object with ${shortened(fields.slice(0, MOST_FIELDS).join(", "))}${more}`;
}

function shortened(text: string): string {
  return text.length <= LONGEST_TEXT ? text : `${text.slice(0, LONGEST_TEXT)}…`;
}

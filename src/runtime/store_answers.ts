/**
 * Judges what a store answers to its pool's calls: one of a user's own may answer anything.
 *
 * @module
 */

import { received } from "../base/answers.ts";
import type { Added, LaneCounts, Leased, Renewal } from "../contract/store.ts";

const COUNTS = [
  "ready",
  "blocked",
  "delayed",
  "running",
  "oldestReadyAtMs",
  "nextDueAtMs",
] as const satisfies readonly (keyof LaneCounts)[];

/** @throws {TypeError} If the answer to `count` is not the counts of this many lanes. */
export function judgeCounts(answer: readonly LaneCounts[], lanes: number): void {
  judgeList("count", answer, lanes, "lane");
  for (let index = 0; index < lanes; index++) {
    const counts = answer[index]!; // there are as many
    for (const name of COUNTS) {
      const figure: unknown = counts?.[name];
      if (typeof figure === "number" && figure >= 0) continue;
      throw new TypeError(
        `Expected the store's count to have ${name} >= 0 but received ${received(figure)}`,
      );
    }
    const blockedAt: unknown = counts.oldestBlockedAtMs;
    if (blockedAt === undefined || (typeof blockedAt === "number" && blockedAt >= 0)) continue;
    throw new TypeError(
      `Expected the store's count to have oldestBlockedAtMs >= 0 but received ${
        received(blockedAt)
      }`,
    );
  }
}

/** @throws {TypeError} If the answer to `lease` is no list. */
export function judgeLeased(answer: readonly Leased[]): void {
  if (Array.isArray(answer)) return;
  throw new TypeError(`Expected the store's lease to be a list but received ${received(answer)}`);
}

/** @throws {TypeError} If the answer to `settle` does not say of each of this many jobs whether its end was taken. */
export function judgeSettled(answer: readonly boolean[], jobs: number): void {
  judgeList("settle", answer, jobs, "job");
  for (const accepted of answer) {
    if (typeof accepted === "boolean") continue;
    throw new TypeError(
      `Expected the store's settle to answer true or false but received ${received(accepted)}`,
    );
  }
}

/** @throws {TypeError} If the answer to `renew` is no renewal. */
export function judgeRenewal(answer: Renewal): void {
  if (typeof answer !== "object" || answer === null || typeof answer.alive !== "boolean") {
    throw new TypeError(`Expected the store's renew to say alive but received ${received(answer)}`);
  }
  for (const name of ["peers", "reaped", "nextAtMs"] as const) {
    const figure: unknown = answer[name];
    if (typeof figure === "number" && figure >= 0) continue;
    throw new TypeError(
      `Expected the store's renew to have ${name} >= 0 but received ${received(figure)}`,
    );
  }
}

/** @throws {TypeError} If the answer to `add` does not say of each of this many jobs what became of it. */
export function judgeAdded(answer: readonly Added[], entries: number): void {
  judgeList("add", answer, entries, "job");
  for (const added of answer) {
    if (typeof added === "object" && added !== null) continue;
    throw new TypeError(
      `Expected the store's add to answer with an object a job but received ${received(added)}`,
    );
  }
}

function judgeList(call: string, answer: unknown, length: number, each: string): void {
  if (Array.isArray(answer) && answer.length === length) return;
  throw new TypeError(
    `Expected the store's ${call} to answer with one entry a ${each} (${length}) but received ${
      received(answer)
    }`,
  );
}

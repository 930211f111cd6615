/**
 * What a load is made of: phases of even arrivals, and lanes that take turns.
 *
 * @module
 */

/** A stretch of even arrivals. */
export interface Phase {
  /** Jobs per second. */
  readonly perSec: number;
  /** How long it lasts, seconds. */
  readonly seconds: number;
}

/** The load of the seed: a spike of sixteen times the usual. */
export const SPIKE: readonly Phase[] = [
  { perSec: 50, seconds: 10 },
  { perSec: 800, seconds: 10 },
  { perSec: 50, seconds: 10 },
];

/** Jobs due `ms` after the start. */
export function dueAfter(phases: readonly Phase[], ms: number): number {
  let due = 0;
  let leftMs = ms;
  for (const { perSec, seconds } of phases) {
    due += perSec * Math.max(0, Math.min(leftMs / 1000, seconds));
    leftMs -= seconds * 1000;
  }
  return Math.floor(due);
}

/** Reads `50x10,800x10`. @throws {SyntaxError} If it is not of that form. */
export function parsePhases(text: string): readonly Phase[] {
  return text.split(",").map((part) => {
    const [, perSec, seconds] = /^(\d+(?:\.\d+)?)x(\d+(?:\.\d+)?)$/.exec(part.trim()) ?? [];
    if (perSec === undefined || seconds === undefined) {
      throw new SyntaxError(`Expected phases such as "50x10,800x10" but received "${text}"`);
    }
    return { perSec: Number(perSec), seconds: Number(seconds) };
  });
}

/** Reads `urgent=1,batch=4`. @throws {SyntaxError} If it is not of that form. */
export function parseLanes(text: string): Readonly<Record<string, number>> {
  return Object.fromEntries(
    text.split(",").map((part) => {
      const [, lane, weight] = /^(.+?)=(\d+(?:\.\d+)?)$/.exec(part.trim()) ?? [];
      if (lane === undefined || !(Number(weight) > 0)) {
        throw new SyntaxError(`Expected lanes such as "urgent=1,batch=4" but received "${text}"`);
      }
      return [lane, Number(weight)];
    }),
  );
}

/** Gives lanes their turns by weight: the one that is furthest behind its share is next. */
export function turns(weights: Readonly<Record<string, number>>): () => string {
  const lanes = Object.entries(weights).map(([name, weight]) => ({ name, weight, served: 0 }));
  return () => {
    const next = lanes.reduce((a, b) => b.served / b.weight < a.served / a.weight ? b : a);
    next.served++;
    return next.name;
  };
}

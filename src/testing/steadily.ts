/**
 * Asks a strategy again at the same moment: it answers with a target, so it must not go further, and
 * with a choice, so it must choose the same.
 *
 * @module
 */

import type { Bound, Instances } from "../contract/plugin.ts";
import { conformanceViews, type NamedView } from "./_views.ts";
import { askOne, type StrategyCheckOptions } from "./purely.ts";
import { fault, LANES, makeContext, show } from "./subject.ts";

/** How often each view is asked about. */
const ASKS = 20;

/** What an answer asks for or allows, by the name that a fault gives it. */
export type Amounts = Readonly<Record<string, number>>;

/**
 * Fails if an amount grows while a strategy is asked with one view, so at one time, and with the same
 * draws from `context.random`. An amount may fall: a peak that fades with each call does no harm.
 *
 * @param ask Asks one question and checks the answer: throws, saying what is wrong with it.
 */
export function checkSteadily<K extends "controller" | "cap">(
  bound: Bound<K>,
  ask: (instance: Instances[K], named: NamedView, index: number) => Amounts,
  { lanes = LANES }: StrategyCheckOptions = {},
): void {
  const context = makeContext(lanes);
  const chance = new Chance(context.random);
  const instance = bound.create({ ...context, random: () => chance.draw() });
  conformanceViews(lanes).forEach((named, index) => {
    chance.forget();
    let before: Amounts = {};
    for (let asks = 0; asks < ASKS; asks++) {
      chance.rewind();
      before = askOne(bound, named, () => {
        const after = ask(instance, named, index);
        requireNoMore(before, after);
        return after;
      });
    }
  });
}

/**
 * Fails if the same call, at the same time and with the same draws from `context.random`, is answered in
 * another way: as by a counter in the closure.
 *
 * @param ask Asks one question and checks the answer: throws, saying what is wrong with it.
 */
export function checkAgain<K extends "lane-policy" | "retirement" | "admission">(
  bound: Bound<K>,
  ask: (instance: Instances[K], named: NamedView, index: number) => unknown,
  { lanes = LANES }: StrategyCheckOptions = {},
): void {
  const context = makeContext(lanes);
  const chance = new Chance(context.random);
  const instance = bound.create({ ...context, random: () => chance.draw() });
  conformanceViews(lanes).forEach((named, index) => {
    chance.forget();
    const [first, again] = [1, 2].map(() => {
      chance.rewind();
      return askOne(bound, named, () => show(ask(instance, named, index)));
    });
    if (first === again) return;
    throw fault(
      bound,
      `Expected the same answer to the same call but received ${again} after ${first} on "${named.name}": change its memory with view.nowMs, not with each call`,
    );
  });
}

function requireNoMore(before: Amounts, after: Amounts): void {
  for (const [name, amount] of Object.entries(after)) {
    const least = before[name];
    if (least === undefined || !(amount > least)) continue;
    throw new TypeError(
      `Expected no more ${name} when asked again with the same view but received ${amount} after ${least}: change its memory with view.nowMs, not with each call`,
    );
  }
}

/** Draws that can be had again. */
class Chance {
  readonly #random: () => number;
  readonly #drawn: number[] = [];
  #next = 0;

  constructor(random: () => number) {
    this.#random = random;
  }

  draw(): number {
    const drawn = this.#drawn[this.#next] ?? this.#random();
    this.#drawn[this.#next++] = drawn;
    return drawn;
  }

  rewind(): void {
    this.#next = 0;
  }

  forget(): void {
    this.#drawn.length = 0;
  }
}

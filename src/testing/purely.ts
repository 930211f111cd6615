/**
 * Runs a strategy as the core does, with the ways out of purity shut.
 *
 * @module
 */

import { messageOf } from "../contract/errors.ts";
import type { Bound, Instances, Kind } from "../contract/plugin.ts";
import { fault, LANES, makeContext, show } from "./subject.ts";
import { conformanceViews, type NamedView } from "./_views.ts";

/** A kind whose instances are strategies. */
export type StrategyKind = Exclude<Kind, "store" | "handler">;

/** How a strategy is checked. */
export interface StrategyCheckOptions {
  /** Names of the pool's lanes, highest priority first, for options that name lanes. @default {["urgent", "normal", "batch"]} */
  readonly lanes?: readonly string[];
}

/**
 * Asks two instances the same questions over many views.
 *
 * @param ask Asks one question and checks the answer: throws, saying what is wrong with it.
 */
export function checkPurely<K extends StrategyKind>(
  bound: Bound<K>,
  ask: (instance: Instances[K], named: NamedView, index: number) => unknown,
  { lanes = LANES }: StrategyCheckOptions = {},
): void {
  const views = conformanceViews(lanes);
  const [first, second] = [0, 1].map(() => {
    const instance = bound.create(makeContext(lanes));
    return views.map((named, index) => askOne(bound, named, () => ask(instance, named, index)));
  });
  views.forEach(({ name }, index) => {
    const [one, other] = [show(first![index]), show(second![index])];
    if (one === other) return;
    throw fault(
      bound,
      `Expected the same views to give the same answers but received ${one} and ${other} on "${name}": keep its memory in the closure of create()`,
    );
  });
}

/** Fails if `answer` is a promise: a strategy answers at once. */
export function requireAtOnce(answer: unknown): void {
  if (answer instanceof Promise) {
    answer.catch(() => {}); // the fault that is reported is that there is a promise at all
    throw new TypeError("Expected an answer at once but received a promise");
  }
}

/** Asks with the ways out of purity shut. What is wrong with the answer names the plugin and the view. */
export function askOne<A>(bound: Bound, { name }: NamedView, ask: () => A): A {
  const open = shut();
  try {
    return ask();
  } catch (thrown) {
    throw fault(bound, `${messageOf(thrown)}, on "${name}"`, thrown);
  } finally {
    open();
  }
}

/** Makes clock, chance and the ways outside throw. The function that it returns makes them work again. */
function shut(): () => void {
  const before = waysOut().map(([owner, key, name, instead]) => {
    const own = Object.getOwnPropertyDescriptor(owner, key);
    const value = key === "Date" ? withoutNow(instead) : refuse(name, instead);
    Object.defineProperty(owner, key, { value, configurable: true, writable: true });
    return { owner, key, own };
  });
  return () => {
    for (const { owner, key, own } of before) {
      if (own !== undefined) Object.defineProperty(owner, key, own);
      else Reflect.deleteProperty(owner, key); // what it inherits is seen again
    }
  };
}

/** What calls back later. */
const WAITS = ["setTimeout", "setInterval", "queueMicrotask"];

type WayOut = readonly [owner: object, key: string, name: string, instead: string];

/** All that tells the time, is drawn by lot, waits, or reaches outside. */
function waysOut(): readonly WayOut[] {
  const time = "view.nowMs";
  const chance = "context.random()";
  const temporal: unknown = Reflect.get(globalThis, "Temporal");
  const now: unknown = typeof temporal === "object" && temporal !== null
    ? Reflect.get(temporal, "Now")
    : undefined;
  const moments = typeof now === "object" && now !== null
    ? Object.getOwnPropertyNames(now).map((key): WayOut => [
      now,
      key,
      `Temporal.Now.${key}()`,
      time,
    ])
    : [];
  return [
    [Math, "random", "Math.random()", chance],
    [crypto, "getRandomValues", "crypto.getRandomValues()", chance],
    [crypto, "randomUUID", "crypto.randomUUID()", chance],
    [Date, "now", "Date.now()", time],
    [globalThis, "Date", "new Date()", time],
    [performance, "now", "performance.now()", time],
    ...moments,
    [globalThis, "fetch", "fetch()", "view.signals"],
    ...WAITS.map((key): WayOut => [globalThis, key, `${key}()`, "reviewAtMs, and answer at once"]),
  ];
}

/** `Date` for times that are given: without one it is a clock. */
function withoutNow(instead: string): DateConstructor {
  return new Proxy(Date, {
    apply: refuse("Date()", instead),
    construct: (target, args) =>
      args.length === 0 ? refuse("new Date()", instead)() : Reflect.construct(target, args),
  });
}

function refuse(what: string, instead: string): () => never {
  return () => {
    throw new TypeError(`Expected a pure function but it calls ${what}: use ${instead}`);
  };
}

/**
 * Parameters of queries: how each is read, all faults at once.
 *
 * @module
 */

import type { Context } from "hono";
import { display } from "../../config/faults.ts";
import { suggestion } from "../../base/suggest.ts";
import { queryFaults, queryNumber } from "../http/problem.ts";
import type { ProblemError } from "../http/wire.ts";
import type { Target } from "./context.ts";

/** What a parameter is read from. */
export interface QueryReading {
  /** The request. */
  readonly c: Context;
  /** The pool that it is about. */
  readonly target: Target | undefined;
  /** Gets one entry a fault. */
  readonly faults: ProblemError[];
}

/** How one parameter is read. */
export interface QueryParameter<T> {
  /** True: it may be given several times. */
  readonly many?: true;
  /** Its value; `undefined` if it is not given, or has a fault. */
  read(name: string, reading: QueryReading): T | undefined;
}

/** Reads a query, all of whose parameters are listed. */
export function readQuery(
  c: Context,
  parameters: Readonly<Record<string, QueryParameter<unknown>>>,
  target: Target | undefined,
): { readonly query: object; readonly faults: readonly ProblemError[] } {
  const names = Object.keys(parameters);
  const lists = names.filter((name) => parameters[name]?.many);
  const faults = [...queryFaults(c, names.filter((name) => !lists.includes(name)), lists)];
  const reading = { c, target, faults };
  const query = Object.fromEntries(
    Object.entries(parameters).map(([name, parameter]) => [name, parameter.read(name, reading)]),
  );
  return { query, faults };
}

/** A whole number, 0 or `min` at least; one that is larger than `max` counts as that. */
export function wholeNumber(
  { min = 0, max = Infinity }: { readonly min?: number; readonly max?: number },
): QueryParameter<number> {
  return {
    read(name, { c, faults }) {
      const given = queryNumber(c, name, { min, max, default: -1 });
      if (typeof given === "object") faults.push(given);
      return typeof given === "object" || given === -1 ? undefined : given;
    },
  };
}

/** Any text. `check` says what is wrong with it. */
export function text<T extends string = string>(
  check?: (given: string, reading: QueryReading) => string | undefined,
): QueryParameter<T> {
  return {
    read(name, reading) {
      const given = reading.c.req.query(name);
      const detail = given === undefined ? undefined : check?.(given, reading);
      if (detail !== undefined) reading.faults.push({ pointer: `?${name}`, detail });
      return given as T | undefined; // the check has let it pass, or there is a fault
    },
  };
}

/** `1` or `0`. */
export const flag: QueryParameter<boolean> = {
  read(name, { c, faults }) {
    const given = c.req.query(name);
    if (given === undefined || given === "0" || given === "false") return false;
    if (given === "1" || given === "true") return true;
    const detail = `Expected ${name} to be 1 or 0 but received ${display(given)}`;
    faults.push({ pointer: `?${name}`, detail });
    return undefined;
  },
};

/** Names of what there is, given as often as is wanted. `what` they are, in words. */
export function names(
  what: string,
  known: () => readonly string[],
): QueryParameter<readonly string[]> {
  return {
    many: true,
    read(name, { c, faults }) {
      const given = c.req.queries(name) ?? [];
      const all = known();
      for (const value of given) {
        if (!all.includes(value)) {
          faults.push({ pointer: `?${name}`, detail: unknown(what, value, all) });
        }
      }
      return given;
    },
  };
}

/** The sentence for a name that is not there. */
export function unknown(what: string, name: string, known: Iterable<string>): string {
  return `No ${what} is named ${JSON.stringify(name.slice(0, 60))}${suggestion(name, known)}`;
}

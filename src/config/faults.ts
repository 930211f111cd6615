/**
 * Collects the faults of a config and says where each stands.
 *
 * @module
 */

import { ConfigError, type Fault } from "../errors.ts";
import { suggestion } from "../suggest.ts";

/** Keys and indices that lead from the whole to a place. */
export type Path = readonly (string | number)[];

/** A place in a file. */
export interface Place {
  /** Characters before it. */
  readonly offset: number;
  /** Line, from 1. */
  readonly line: number;
  /** Column, from 1. */
  readonly column: number;
}

/** What is known of a fault besides its place and message. */
export interface FaultOptions {
  /** Points at the key rather than at its value. @default {"value"} */
  readonly at?: "key" | "value" | undefined;
  /** Where it stands, if that is not where its path stands. */
  readonly place?: Place | undefined;
  /** What was thrown. */
  readonly cause?: unknown;
}

/** Where paths stand. */
export interface Places {
  /** Name of the file. `undefined`: the config is an object. */
  readonly file: string | undefined;
  /** Place of a path, or of the nearest one above it. `undefined`: there is no file. */
  place(path: Path, at: "key" | "value"): Place | undefined;
}

/** Faults found so far. */
export interface FaultList {
  /** How many there are. */
  readonly size: number;
  /** Adds one; the same message at the same path counts once. */
  add(path: Path, message: string, options?: FaultOptions): void;
  /** All of them as one error, in file order. Its cause is the first cause there is. */
  toError(): ConfigError;
}

/** Starts an empty list. */
export function faultList(places: Places): FaultList {
  const found = new Map<string, { readonly fault: Fault; readonly offset: number }>();
  return {
    get size() {
      return found.size;
    },
    add(path, message, { at = "value", place = places.place(path, at), cause } = {}) {
      const pointer = toPointer(path);
      const fault = {
        pointer,
        message,
        file: places.file,
        line: place?.line,
        column: place?.column,
        cause,
      };
      const key = `${pointer} ${message}`;
      if (!found.has(key)) found.set(key, { fault, offset: place?.offset ?? 0 });
    },
    toError() {
      const faults = [...found.values()].sort((a, b) => a.offset - b.offset).map(({ fault }) =>
        fault
      );
      const cause = faults.find((fault) => fault.cause !== undefined)?.cause;
      return new ConfigError(faults, cause === undefined ? undefined : { cause });
    },
  };
}

/** A path as JSON Pointer (RFC 6901). */
export function toPointer(path: Path): string {
  return path.map((key) => `/${String(key).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
}

/** The message for a key that is not known, or not yet. */
export function unknownKey(
  key: string,
  known: readonly string[],
  later: readonly string[] = [],
): string {
  if (later.includes(key)) {
    return `The key "${key}" is not supported yet: it comes with a later version, remove it until then`;
  }
  return `No key is named "${key}"${suggestion(key, known)}`;
}

/** What is wrong with the name of a pool, lane, type or signal. `undefined`: nothing. */
export function nameFault(name: string): string | undefined {
  if (name === "") return "Expected a name that is not empty";
  if (/\p{Cc}/u.test(name)) {
    return `Expected a name without control characters but received ${display(name)}`;
  }
  return ["__proto__", "constructor", "prototype"].includes(name)
    ? `The name "${name}" has a meaning of its own in JavaScript: choose another`
    : undefined;
}

/** What is wrong with the name of a pool, which stands in addresses. `undefined`: nothing. */
export function poolNameFault(name: string): string | undefined {
  if (name !== "." && name !== "..") return nameFault(name);
  return `Expected a name that can stand in an address but received "${name}": choose another`;
}

/** A value as messages show it: short, on one line. */
export function display(value: unknown): string {
  if (typeof value === "string") {
    return JSON.stringify(value.length > 60 ? `${value.slice(0, 60)}…` : value);
  }
  if (Array.isArray(value)) return value.length === 0 ? "an empty list" : "a list";
  if (typeof value === "function") return "a function";
  if (typeof value === "object" && value !== null) {
    return Object.keys(value).length === 0 ? "an empty object" : "an object";
  }
  return String(value);
}

/** True for an object that holds data: neither a list nor an instance of a class. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== "object" || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/**
 * Collects the faults of a config and says where each is.
 *
 * @module
 */

import { ConfigError, type Fault } from "../contract/errors.ts";
import { suggestion } from "../base/suggest.ts";

/** Keys and indices that lead from the whole to a place. */
export type Path = readonly (string | number)[];

/** A place in a file. */
export interface SourcePlace {
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
  /** Where it is, if that is not where its path is. */
  readonly place?: SourcePlace | undefined;
  /** What was thrown. */
  readonly cause?: unknown;
}

/** A mistake in the text itself. Path and message are only worked out where they are listed. */
export interface SyntaxFault {
  /** Where in the config it is. */
  readonly path: Path;
  /** Where in the file it is. `undefined`: there is no file. */
  readonly place: SourcePlace | undefined;
  /** What is wrong. */
  readonly message: string;
}

/** Where paths stand. */
export interface SourcePlaces {
  /** Name of the file. `undefined`: the config is an object. */
  readonly file: string | undefined;
  /** Place of a path, or of the nearest one above it. `undefined`: there is no file. */
  place(path: Path, at: "key" | "value"): SourcePlace | undefined;
  /** Mistakes in the text, in file order. */
  readonly syntax: readonly SyntaxFault[];
}

/** Most faults that are listed: of more only the number is reported. */
export const MOST_FAULTS = 40;

/** Longest name of a pool, lane, type or signal, characters: a store makes keys of them. */
const LONGEST_NAME = 200;

/** Longest message, characters. */
const MOST_CHARACTERS = 1000;

/** Faults found so far. */
export interface FaultList {
  /** How many there are. */
  readonly size: number;
  /**
   * Adds one; the same message at the same path counts once. A message that costs work is a function: it is
   * not asked once the list is full.
   */
  add(path: Path, message: string | (() => string), options?: FaultOptions): void;
  /** All of them as one error, in file order. Its cause is the first cause there is. */
  toError(): ConfigError;
}

/** Starts a list with the mistakes in the text. */
export function faultList(places: SourcePlaces): FaultList {
  const found = new Map<string, { readonly fault: Fault; readonly offset: number }>();
  let more = 0;
  const list: FaultList = {
    get size() {
      return found.size + more;
    },
    add(path, given, { at = "value", place: own, cause } = {}) {
      if (found.size >= MOST_FAULTS) {
        more++;
        return;
      }
      const place = own ?? places.place(path, at);
      const pointer = toPointer(path);
      const text = typeof given === "string" ? given : given();
      const message = text.length > MOST_CHARACTERS ? `${text.slice(0, MOST_CHARACTERS)}…` : text;
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
      return new ConfigError(faults, { ...(cause === undefined ? {} : { cause }), more });
    },
  };
  for (const fault of places.syntax.slice(0, MOST_FAULTS)) {
    list.add(fault.path, fault.message, { place: fault.place });
  }
  more += Math.max(0, places.syntax.length - MOST_FAULTS);
  return list;
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
    return `The key ${
      display(key)
    } is not supported yet: remove it until a later version supports it`;
  }
  return `No key is named ${display(key)}${suggestion(key, known)}`;
}

/** What is wrong with the name of a pool, lane, type or signal. `undefined`: nothing. */
export function nameFault(name: string): string | undefined {
  if (name === "") return "Expected a name that is not empty";
  if (name.length > LONGEST_NAME) {
    return `Expected a name of at most ${LONGEST_NAME} characters but received ${name.length}`;
  }
  if (/\p{Cc}/u.test(name)) {
    return `Expected a name without control characters but received ${display(name)}`;
  }
  return ["__proto__", "constructor", "prototype"].includes(name)
    ? `The name "${name}" has a meaning of its own in JavaScript: choose another`
    : undefined;
}

/** What is wrong with the name of a pool, which is in addresses. `undefined`: nothing. */
export function poolNameFault(name: string): string | undefined {
  if (name !== "." && name !== "..") return nameFault(name);
  return `Expected a name that is valid in a URL but received "${name}": choose another`;
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

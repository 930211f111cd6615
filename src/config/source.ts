/**
 * Reads a config: a file of JSON with comments, every value with its place, or an object as it is.
 *
 * @module
 */

import { dirname } from "node:path";
import { cwd } from "node:process";
import { fileURLToPath } from "node:url";
import {
  createScanner,
  getLocation,
  type Node,
  type ParseError,
  type ParseErrorCode,
  parseTree,
  type SyntaxKind,
} from "jsonc-parser";
import { ConfigError, messageOf } from "../contract/errors.ts";
import {
  display,
  isRecord,
  type Path,
  type SourcePlace,
  type SourcePlaces,
  type SyntaxFault,
} from "./faults.ts";

/** Most levels of objects and lists, one in the other. */
export const MOST_LEVELS = 100;

/** A config as read. */
export interface Source extends SourcePlaces {
  /** The config. */
  readonly value: unknown;
  /** True if the text cannot be understood any further: `value` is not to be looked at. */
  readonly broken: boolean;
  /** Folder that relative modules are looked up from, and must lie in. */
  folder(): string;
}

/**
 * Reads a config.
 *
 * @param given Path or URL of a file, or the config itself.
 * @param what What it is called where it cannot be read.
 * @throws {ConfigError} If the file cannot be read.
 */
export async function readSource(given: unknown, what = "config"): Promise<Source> {
  if (typeof given !== "string" && !(given instanceof URL)) {
    const rest = { file: undefined, place: () => undefined, folder: cwd };
    if (!isTooDeep(given)) return { ...rest, value: given, syntax: [], broken: false };
    const fault = { path: [], place: undefined, message: TOO_DEEP };
    return { ...rest, value: undefined, syntax: [fault], broken: true };
  }
  let path = String(given);
  let text: string;
  try {
    if (given instanceof URL || path.startsWith("file:")) path = fileURLToPath(given);
    text = await Deno.readTextFile(path);
  } catch (error) {
    const message = `Cannot read the ${what}: ${whyNotRead(error)}`;
    throw new ConfigError([{ pointer: "", message, file: path }], { cause: error });
  }
  return { ...parseSource(text), file: path, folder: () => dirname(path) };
}

function whyNotRead(error: unknown): string {
  if (error instanceof Deno.errors.NotFound) return "no such file";
  if (error instanceof Deno.errors.IsADirectory) return "it is a folder, name the file in it";
  if (error instanceof Deno.errors.PermissionDenied) return "the system does not let it be read";
  return messageOf(error);
}

type PlacedFault = SyntaxFault & { readonly place: SourcePlace };

/** Parses the text of a config. A byte order mark is skipped. */
export function parseSource(text: string): Omit<Source, "file" | "folder"> {
  const blank = text.replace(/^\uFEFF/, " ");
  const placeOf = placesIn(blank);
  const unplaced = { value: undefined, broken: true, place: (): undefined => undefined };
  const deepAt = tooDeepAt(blank);
  if (deepAt !== undefined) {
    return { ...unplaced, syntax: [{ path: [], place: placeOf(deepAt), message: TOO_DEEP }] };
  }
  const errors: ParseError[] = [];
  const root = parseTree(blank, errors, { allowTrailingComma: true });
  const broken = root === undefined || errors.some(({ error }) => error !== commaExpected);
  const syntax = firstOfEachLine(errors.map((error) => ({
    get path() {
      return getLocation(blank, error.offset).path.filter((key) => key !== "");
    },
    place: placeOf(error.offset),
    get message() {
      return syntaxMessage(error, blank);
    },
  })));
  if (root === undefined || broken) return { ...unplaced, syntax };
  const repeated = repeatedKeys(root, []).map(({ path, node, first }) => ({
    path,
    place: placeOf(node.offset),
    message: `The key ${display(path.at(-1))} is given twice: it is in line ${
      placeOf(first.offset).line
    } already`,
  }));
  return {
    value: valueOf(root),
    syntax: [...syntax, ...repeated].sort((a, b) => a.place.offset - b.place.offset),
    broken,
    place: (path, at) => placeOf(offsetOf(root, path, at)),
  };
}

/** What is wrong with a value of more levels. */
export const TOO_DEEP: string = `Expected at most ${MOST_LEVELS} levels but received more`;

/** Where a text has more levels than are allowed. `undefined`: nowhere. The parser itself goes as deep as the text does. */
function tooDeepAt(text: string): number | undefined {
  const scanner = createScanner(text, true);
  let level = 0;
  for (let token = scanner.scan(); token !== endOfFile; token = scanner.scan()) {
    if (token === openBrace || token === openBracket) level++;
    else if (token === closeBrace || token === closeBracket) level--;
    if (level > MOST_LEVELS) return scanner.getTokenOffset();
  }
  return undefined;
}

/** True if a value has more levels than are allowed. One that contains itself is reported where it is read. */
export function isTooDeep(value: unknown): boolean {
  const levels = new Map<unknown, number>(); // the deepest at which each was looked at
  const above = new Set<unknown>();

  function isDeep(here: unknown): boolean {
    if (!Array.isArray(here) && !isRecord(here) || above.has(here)) return false;
    if (above.size === MOST_LEVELS) return true;
    if ((levels.get(here) ?? -1) >= above.size) return false;
    levels.set(here, above.size);
    above.add(here);
    const found = Object.values(here).some(isDeep);
    above.delete(here);
    return found;
  }

  return isDeep(value);
}

// The values of a const enum exist for the compiler only.
const openBrace: SyntaxKind.OpenBraceToken = 1;
const closeBrace: SyntaxKind.CloseBraceToken = 2;
const openBracket: SyntaxKind.OpenBracketToken = 3;
const closeBracket: SyntaxKind.CloseBracketToken = 4;
const endOfFile: SyntaxKind.EOF = 17;

// `ParseErrorCode` is a const enum: its values exist for the compiler only.
const commaExpected: ParseErrorCode.CommaExpected = 6;

const wanted: Readonly<Record<number, string>> = {
  2: "a number",
  3: "a key in double quotes",
  4: "a value",
  5: "a colon after the key",
  6: "a comma",
  7: "a closing }",
  8: "a closing ]",
  9: "the end of the file",
  11: "the end of the comment",
  12: "the closing double quote of the string",
  13: "the rest of the number",
  14: "four hexadecimal digits after \\u",
  15: 'one of the characters " \\ / b f n r t u after \\',
  16: "no control character in a string",
};

function syntaxMessage({ error, offset, length }: ParseError, text: string): string {
  const found = text.slice(offset, offset + length).trim().slice(0, 40);
  const received = found === "" ? "the file ends" : `received ${found}`;
  if (error === 1) return `Expected a value or a string in double quotes but ${received}`;
  return `Expected ${wanted[error] ?? "JSON"} but ${received}`;
}

/** One mistake makes the parser stumble several times: the first tells, the rest is noise. */
function firstOfEachLine(faults: readonly PlacedFault[]): readonly PlacedFault[] {
  const seen = new Set<number>();
  return faults.filter(({ place }) => !seen.has(place.line) && seen.add(place.line));
}

interface Repeated {
  readonly path: Path;
  readonly node: Node;
  readonly first: Node;
}

function repeatedKeys(node: Node, path: Path): readonly Repeated[] {
  if (node.type === "array") {
    return (node.children ?? []).flatMap((child, index) => repeatedKeys(child, [...path, index]));
  }
  if (node.type !== "object") return [];
  const seen = new Map<string, Node>();
  return entriesOf(node).flatMap(({ key, name, value }) => {
    const first = seen.get(name);
    if (first === undefined) seen.set(name, key);
    const here = [...path, name];
    const own = first === undefined ? [] : [{ path: here, node: key, first }];
    return value === undefined ? own : [...own, ...repeatedKeys(value, here)];
  });
}

function entriesOf(node: Node): readonly { key: Node; name: string; value: Node | undefined }[] {
  return (node.children ?? []).flatMap(({ children }) => {
    const key = children?.[0];
    return key === undefined ? [] : [{ key, name: String(key.value), value: children?.[1] }];
  });
}

/** `getNodeValue` of jsonc-parser assigns: a key `__proto__` would set the prototype and be lost. */
function valueOf(node: Node): unknown {
  if (node.type === "array") return (node.children ?? []).map(valueOf);
  if (node.type !== "object") return node.value;
  const entries = new Map<string, unknown>();
  for (const { name, value } of entriesOf(node)) {
    // The first of a repeated key, as `offsetOf` finds it.
    if (!entries.has(name)) entries.set(name, value === undefined ? undefined : valueOf(value));
  }
  return Object.fromEntries(entries);
}

function offsetOf(root: Node, path: Path, at: "key" | "value"): number {
  let node = root;
  let offset = root.offset;
  for (const [depth, step] of path.entries()) {
    if (node.type === "array" && typeof step === "number") {
      const item = node.children?.[step];
      if (item === undefined) return offset;
      node = item;
      offset = item.offset;
      continue;
    }
    const entry = entriesOf(node).find(({ name }) => name === String(step));
    if (node.type !== "object" || entry?.value === undefined) return offset;
    node = entry.value;
    offset = at === "key" && depth === path.length - 1 ? entry.key.offset : node.offset;
  }
  return offset;
}

function placesIn(text: string): (offset: number) => SourcePlace {
  const starts = [0];
  for (const { index, 0: end } of text.matchAll(/\r\n|\r|\n/g)) starts.push(index + end.length);
  return (offset) => {
    let line = 0;
    for (let after = starts.length; after - line > 1;) {
      const middle = (line + after) >> 1;
      if ((starts[middle] ?? 0) <= offset) line = middle;
      else after = middle;
    }
    return { offset, line: line + 1, column: offset - (starts[line] ?? 0) + 1 };
  };
}

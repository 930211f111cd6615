/**
 * Reads a config: a file of JSON with comments, every value with its place, or an object as it is.
 *
 * @module
 */

import { dirname } from "node:path";
import { cwd } from "node:process";
import { fileURLToPath } from "node:url";
import {
  getLocation,
  type Node,
  type ParseError,
  type ParseErrorCode,
  parseTree,
} from "jsonc-parser";
import { ConfigError, messageOf } from "../errors.ts";
import type { Path, Place, Places } from "./faults.ts";

/** A mistake in the text itself. */
export interface SyntaxFault {
  /** Where in the config it stands. */
  readonly path: Path;
  /** Where in the file it stands. */
  readonly place: Place;
  /** What is wrong. */
  readonly message: string;
}

/** A config as read. */
export interface Source extends Places {
  /** The config. */
  readonly value: unknown;
  /** Mistakes in the text, in file order, repeated keys among them. */
  readonly syntax: readonly SyntaxFault[];
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
    return {
      value: given,
      file: undefined,
      syntax: [],
      broken: false,
      place: () => undefined,
      folder: cwd,
    };
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
  if (error instanceof Deno.errors.NotFound) return "there is no such file";
  if (error instanceof Deno.errors.IsADirectory) return "it is a folder, name the file in it";
  if (error instanceof Deno.errors.PermissionDenied) return "the system does not let it be read";
  return messageOf(error);
}

/** Parses the text of a config. A byte order mark is skipped. */
export function parseSource(text: string): Omit<Source, "file" | "folder"> {
  const blank = text.replace(/^\uFEFF/, " ");
  const errors: ParseError[] = [];
  const root = parseTree(blank, errors, { allowTrailingComma: true });
  const placeOf = placesIn(blank);
  const broken = root === undefined || errors.some(({ error }) => error !== commaExpected);
  const syntax = firstOfEachLine(errors.map((error) => ({
    path: getLocation(blank, error.offset).path.filter((key) => key !== ""),
    place: placeOf(error.offset),
    message: syntaxMessage(error, blank),
  })));
  if (root === undefined || broken) {
    return { value: undefined, syntax, broken, place: (): undefined => undefined };
  }
  const repeated = repeatedKeys(root, []).map(({ path, node, first }) => ({
    path,
    place: placeOf(node.offset),
    message: `The key "${String(path.at(-1))}" is given twice: it stands in line ${
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
function firstOfEachLine(faults: readonly SyntaxFault[]): readonly SyntaxFault[] {
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

function placesIn(text: string): (offset: number) => Place {
  const starts = [0];
  for (const { index, 0: end } of text.matchAll(/\r\n|\r|\n/g)) starts.push(index + end.length);
  return (offset) => {
    const line = starts.findLastIndex((start) => start <= offset);
    return { offset, line: line + 1, column: offset - (starts[line] ?? 0) + 1 };
  };
}

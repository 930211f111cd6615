/**
 * Checks a value against a schema and finds every issue, not only the first unknown key.
 *
 * @module
 */

import { display, type FaultList, isRecord, type Path } from "./faults.ts";
import type { Plugin } from "../plugin.ts";
import type { StandardIssue, StandardSchema } from "../standard_schema.ts";
import { suggestion } from "../suggest.ts";

/** One thing that is wrong with a value. */
export interface Issue {
  /** Where, below the value. */
  readonly path: Path;
  /** What is wrong and what is wanted. */
  readonly message: string;
  /** The key itself is wrong, rather than its value. */
  readonly at: "key" | "value";
}

/** Where a checked value stands, and faults go. */
export interface Checked {
  /** Where it stands. */
  readonly path: Path;
  /** Told of all that is wrong with it. */
  readonly faults: FaultList;
}

/** Checks a value against a shape of ours, an object. `undefined`: it has faults, which were told. */
export function checkShape<Output>(
  schema: StandardSchema<unknown, Output>,
  value: unknown,
  { path, faults }: Checked,
): Output | undefined {
  if (Array.isArray(value)) {
    faults.add(path, `Expected an object but received ${display(value)}`); // valibot takes a list for one
    return undefined;
  }
  let output: Output | undefined;
  const issues = allIssues((rest) => {
    const result = schema["~standard"].validate(rest);
    if (result instanceof Promise) throw new TypeError("Expected a schema that answers at once");
    output = result.value;
    return result.issues ?? [];
  }, value);
  for (const issue of issues) {
    const at = isUnknownKey(issue) ? "key" : "value";
    faults.add([...path, ...pathOf(issue)], issue.message, { at });
  }
  return issues.length === 0 ? output : undefined;
}

/** Checks a value once. No issues: an empty list. */
export type Validate = (value: unknown) => readonly StandardIssue[];

/**
 * All issues of `value`. Valibot's strict objects name one unknown key only (open-circle/valibot,
 * `strictObject`): each is taken out and the rest checked again, until nothing unknown is left.
 */
export function allIssues(validate: Validate, value: unknown): readonly StandardIssue[] {
  const unknown: StandardIssue[] = [];
  let rest = value;
  while (true) {
    const issues = validate(rest);
    const strangers = issues.filter(isUnknownKey);
    const next = strangers.reduce((kept, issue) => without(kept, pathOf(issue)), rest);
    const known = issues.filter((issue) => !isUnknownKey(issue));
    unknown.push(...strangers);
    if (strangers.length === 0 || next === rest) return [...known, ...unknown];
    rest = next;
  }
}

/** Path of an issue, below the value that was checked. */
function pathOf(issue: StandardIssue): Path {
  return (issue.path ?? []).map((segment) => {
    const key = typeof segment === "object" ? segment.key : segment;
    return typeof key === "number" ? key : String(key);
  });
}

/** True for the issue of a strict valibot object about a key that it does not have. */
function isUnknownKey(issue: StandardIssue): boolean {
  return "type" in issue && issue.type === "strict_object" && "expected" in issue &&
    issue.expected === "never";
}

/** An issue of a plugin's options in the words of this package. `show` renders what was received. */
export function optionIssue(
  issue: StandardIssue,
  { name: plugin, options: schema }: Plugin,
  show: (value: unknown) => string,
): Issue {
  const path = pathOf(issue);
  const key = String(path.at(-1) ?? "");
  const entries = path.length === 1 ? entriesOf(schema) : undefined;
  if (isUnknownKey(issue)) {
    const known = suggestion(key, Object.keys(entries ?? {}));
    return { path, at: "key", message: `"${plugin}" has no option "${path.join(".")}"${known}` };
  }
  if (isMissingKey(issue, key)) {
    const option = entries?.[key];
    const kind = isRecordLike(option) && typeof option.expects === "string"
      ? ` (${option.expects.toLowerCase()})`
      : "";
    return {
      path,
      at: "value",
      message: `"${plugin}" needs the option "${path.join(".")}"${kind}`,
    };
  }
  return { path, at: "value", message: plain(issue, show) };
}

/** Valibot says `Invalid type: Expected number but received "x"`: what counts comes after the colon. */
function plain(issue: StandardIssue, show: (value: unknown) => string): string {
  const { message } = issue;
  if (!("type" in issue)) return message;
  const received = "input" in issue ? ` but received ${show(issue.input)}` : "";
  return message
    .replace(/^Invalid [\w ]+: (Expected .*) but received .*$/s, (_, wanted) => wanted + received)
    .replace(/^Invalid ([\w ]+): Received .*$/s, (_, wanted) => `Expected ${wanted}${received}`)
    .replace(/^Expected ([<>]=?)(?=\S)/, "Expected a value $1 ");
}

function isMissingKey(issue: StandardIssue, key: string): boolean {
  return "type" in issue && String(issue.type).endsWith("object") && "expected" in issue &&
    issue.expected === JSON.stringify(key);
}

/** Options of a valibot object. `undefined` for another validator, or a schema of another kind. */
function entriesOf(schema: unknown): Readonly<Record<string, unknown>> | undefined {
  if (!isRecordLike(schema) || !isRecordLike(schema.entries)) return undefined;
  return schema.entries;
}

function isRecordLike(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}

/** A copy without the entry at `path`. The value itself if there is none to take out. */
function without(value: unknown, path: Path): unknown {
  const [key, ...rest] = path;
  if (key === undefined) return value;
  if (Array.isArray(value)) {
    const index = Number(key);
    if (rest.length === 0 || !(index in value)) return value;
    const inner = without(value[index], rest);
    return inner === value[index] ? value : value.with(index, inner);
  }
  if (!isRecord(value) || !Object.hasOwn(value, key)) return value;
  const others = Object.entries(value).filter(([name]) => name !== String(key));
  if (rest.length === 0) return Object.fromEntries(others);
  const inner = without(value[key], rest);
  return inner === value[key] ? value : Object.fromEntries(
    Object.entries(value).map(([name, own]) => [name, name === key ? inner : own]),
  );
}

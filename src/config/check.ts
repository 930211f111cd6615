/**
 * Checks a value against a schema and finds every issue, not only the first unknown key.
 *
 * @module
 */

import { display, type FaultList, isRecord, MOST_FAULTS, type Path } from "./faults.ts";
import type { Plugin } from "../contract/plugin.ts";
import type { StandardIssue, StandardSchema } from "../contract/standard_schema.ts";
import { suggestion } from "../base/suggest.ts";

/** One thing that is wrong with a value. */
export interface Issue {
  /** Where, below the value. */
  readonly path: Path;
  /** Says what is wrong and what is wanted. */
  readonly message: () => string;
  /** The key itself is wrong, rather than its value. */
  readonly at: "key" | "value";
}

/** Where a checked value is, and faults go. */
export interface Checked {
  /** Where it is. */
  readonly path: Path;
  /** Told of all that is wrong with it. */
  readonly faults: FaultList;
}

/** What lists of a pool are checked against. */
export interface CheckedInPool extends Checked {
  /** Names of the pool's lanes, those with faults too. */
  readonly lanes: ReadonlySet<string>;
  /** Names of its handlers, those with faults too; empty: there is only one. */
  readonly types: ReadonlySet<string>;
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
  const issues = allIssues(schema, (rest) => {
    const result = schema["~standard"].validate(rest);
    if (result instanceof Promise) throw new TypeError("Expected a schema that answers at once");
    output = result.value;
    return (result.issues ?? []).flatMap(ofObject);
  }, value);
  for (const issue of issues) {
    const at = isUnknownKey(issue) ? "key" : "value";
    faults.add([...path, ...pathOf(issue)], () => issue.message, { at });
  }
  return issues.length === 0 ? output : undefined;
}

/** What is wrong within an object, where only `false` might stand in its place. Else the issue as it is. */
function ofObject(issue: StandardIssue): readonly StandardIssue[] {
  if (!("type" in issue) || issue.type !== "union" || !("issues" in issue)) return [issue];
  const all: readonly (StandardIssue & { readonly type?: unknown })[] = Array.isArray(issue.issues)
    ? issue.issues
    : [];
  const within = all.filter(({ path = [] }) => path.length > 0);
  const isOnlyObject = all.every((one) => within.includes(one) || one.type === "literal");
  if (within.length === 0 || !isOnlyObject) return [issue];
  return within.map((one) => ({ ...one, path: [...issue.path ?? [], ...one.path ?? []] }));
}

/** Checks a value once. No issues: an empty list. */
export type Validate = (value: unknown) => readonly StandardIssue[];

/**
 * All issues of `value`. Valibot's strict objects name one unknown key only (open-circle/valibot,
 * `strictObject`): all that their schema does not name are taken out together, and the rest is checked again,
 * until nothing unknown is left.
 */
export function allIssues(
  schema: unknown,
  validate: Validate,
  value: unknown,
): readonly StandardIssue[] {
  const unknown: StandardIssue[] = [];
  let rest = value;
  for (let round = 0;; round++) {
    const issues = validate(rest);
    const strangers = issues.filter(isUnknownKey).flatMap((issue) =>
      strangersBeside(issue, schema)
    );
    unknown.push(...strangers.map(({ issue }) => issue));
    const isDone = strangers.length === 0 || round === MOST_FAULTS; // of a schema that says nothing of its keys
    const next = isDone ? rest : without(rest, strangers);
    if (Object.is(next, rest)) {
      return [...issues.filter((issue) => !isUnknownKey(issue)), ...unknown];
    }
    rest = next;
  }
}

/** A key that is not known. */
interface Stranger {
  readonly issue: StandardIssue;
  readonly key: string;
  /** What it is a key of, as it was checked. `undefined`: that is not known. */
  readonly owner: unknown;
}

/** The key of an issue, and all others of the same object that its schema does not know. */
function strangersBeside(issue: StandardIssue, schema: unknown): readonly Stranger[] {
  const path = pathOf(issue);
  const key = String(path.at(-1));
  const segment = issue.path?.at(-1);
  const owner = typeof segment === "object" && "input" in segment ? segment.input : undefined;
  const known = entriesAt(schema, path.slice(0, -1));
  const first = { issue, key, owner };
  if (!isRecord(owner) || known.length === 0) return [first];
  const others = Object.keys(owner).filter((name) =>
    name !== key && !known.some((entries) => Object.hasOwn(entries.entries, name))
  );
  const message = known[0]?.message;
  return [
    first,
    ...others.map((name) => {
      const like = {
        ...issue,
        input: name,
        path: [...issue.path?.slice(0, -1) ?? [], { key: name }],
      };
      return {
        key: name,
        owner,
        issue: typeof message !== "function" ? like : {
          ...like,
          get message() {
            return String(message(like)); // it is for the listed ones only: to guess what was meant takes time
          },
        },
      };
    }),
  ];
}

/** The objects that a schema of valibot allows at a path. Empty: that cannot be told. */
function entriesAt(schema: unknown, path: Path): readonly ObjectSchema[] {
  if (!isRecordLike(schema)) return [];
  if (Array.isArray(schema.options)) return schema.options.flatMap((one) => entriesAt(one, path));
  if (isRecordLike(schema.wrapped)) return entriesAt(schema.wrapped, path);
  const [key, ...below] = path;
  const { entries, message } = schema;
  if (!isRecordLike(entries)) {
    return key === undefined ? [] : entriesAt(schema.item ?? schema.value, below); // a list, or by name
  }
  return key === undefined ? [{ entries, message }] : entriesAt(entries[key], below);
}

/** As much of valibot's object schemas as is read here. */
interface ObjectSchema {
  readonly entries: Readonly<Record<string, unknown>>;
  readonly message?: unknown;
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
    const known = () => suggestion(key, Object.keys(entries ?? {}));
    const message = () => `"${plugin}" has no option ${display(path.join("."))}${known()}`;
    return { path, at: "key", message };
  }
  if (isMissingKey(issue, key)) {
    const option = entries?.[key];
    const kind = isRecordLike(option) && typeof option.expects === "string"
      ? ` (${option.expects.toLowerCase()})`
      : "";
    return {
      path,
      at: "value",
      message: () => `"${plugin}" needs the option "${path.join(".")}"${kind}`,
    };
  }
  return { path, at: "value", message: () => plain(issue, show) };
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

/** A copy without the keys. The value itself if there is none to take out. */
function without(value: unknown, strangers: readonly Stranger[]): unknown {
  const gone = Map.groupBy(strangers, ({ owner }) => owner);

  function copy(here: unknown): unknown {
    if (Array.isArray(here)) {
      const items = here.map(copy);
      return items.some((item, index) => item !== here[index]) ? items : here;
    }
    if (!isRecord(here)) return here;
    const keys = new Set(gone.get(here)?.map(({ key }) => key));
    const entries = Object.entries(here).filter(([key]) => !keys.has(key));
    const copies = entries.map(([key, item]) => [key, copy(item)] as const);
    const isSame = entries.length === Object.keys(here).length &&
      copies.every(([, item], index) => item === entries[index]?.[1]);
    return isSame ? here : Object.fromEntries(copies);
  }

  return copy(value);
}

/**
 * The parts that shapes are made of: schemas whose messages say what is wanted and what was given.
 *
 * @module
 */

import { URL_PATH } from "../base/url_path.ts";
import * as v from "valibot";
import { delayTooLong, LONGEST_DELAY_MS } from "../contract/job.ts";
import { display, isRecord, unknownKey } from "./faults.ts";

/** An object that says of each key what is wrong with it: missing, unknown, or not there yet. */
export function object<const Entries extends v.ObjectEntries>(
  entries: Entries,
  later: readonly string[] = [],
): v.StrictObjectSchema<Entries, (issue: v.StrictObjectIssue) => string> {
  return v.strictObject(entries, (issue) => {
    if (issue.expected === "never") {
      return unknownKey(String(issue.input), Object.keys(entries), later);
    }
    const key = Object.keys(entries).find((name) => issue.expected === `"${name}"`);
    if (key === undefined) return wants("an object")(issue);
    const said = v.getDescription(entries[key] ?? v.unknown()) ?? "";
    const [what] = /^.*?(?=\.( |$))|^.*$/.exec(said) ?? [""]; // the first sentence
    return `Expected the key "${key}" but it is missing: ${lowerFirst(what)}`;
  });
}

/** A schema with the description that editors show. */
export function described<const Schema extends v.GenericSchema>(
  schema: Schema,
  description: string,
): v.SchemaWithPipe<readonly [Schema, v.DescriptionAction<v.InferOutput<Schema>, string>]> {
  return v.pipe(schema, v.description(description));
}

function lowerFirst(text: string): string {
  return text.slice(0, 1).toLowerCase() + text.slice(1);
}

/** A message that says what is wanted and what was given. */
export function wants(what: string): (issue: v.BaseIssue<unknown>) => string {
  return ({ input }) => `Expected ${what} but received ${display(input)}`;
}

/** A whole number, at least `min`, at most `max`. */
export function whole(min: number, max = Infinity): v.GenericSchema<number> {
  const message = wants(`a whole number >= ${min}`);
  const least = v.pipe(v.number(message), v.integer(message), v.minValue(min, message));
  if (max === Infinity) return least;
  return v.pipe(least, v.maxValue(max, wants(`a whole number <= ${max}`)));
}

/** A port. */
export function port(): v.GenericSchema<number> {
  const message = wants("a whole number from 0 to 65535");
  return v.pipe(
    v.number(message),
    v.integer(message),
    v.minValue(0, message),
    v.maxValue(65_535, message),
  );
}

/** A finite number, at least `min`. */
export function atLeast(min: number): v.GenericSchema<number> {
  const message = wants(`a number >= ${min}`);
  return v.pipe(v.number(message), v.finite(message), v.minValue(min, message));
}

/** How long a job is deferred, ms. */
export function putOff(): v.GenericSchema<number> {
  return v.pipe(
    atLeast(0),
    v.maxValue(LONGEST_DELAY_MS, ({ input }) => delayTooLong("a wait", display(input))),
  );
}

/** How long a job may wait before it expires, ms. `Infinity` says in code that there is no limit. */
export function expiry(): v.GenericSchema<number> {
  return v.pipe(
    endless(),
    v.check(
      (ms) => ms === Infinity || ms <= LONGEST_DELAY_MS,
      ({ input }) => delayTooLong("a wait", display(input)),
    ),
  );
}

/** A finite number above `min`. */
export function above(min: number, what = `a number > ${min}`): v.GenericSchema<number> {
  const message = wants(what);
  return v.pipe(v.number(message), v.finite(message), v.gtValue(min, message));
}

/** A number above 0. `Infinity` says in code that there is no limit; JSON has no such number. */
export function endless(): v.GenericSchema<number> {
  const message = wants("a number > 0");
  return v.pipe(v.number(message), v.gtValue(0, message));
}

/** A number from `min` to `max`. */
export function between(min: number, max: number): v.GenericSchema<number> {
  const message = wants(`a number from ${min} to ${max}`);
  return v.pipe(v.number(message), v.minValue(min, message), v.maxValue(max, message));
}

/** True or false. */
export function flag(): v.GenericSchema<boolean> {
  return v.boolean(wants("true or false"));
}

/** A text that is not empty, of at most `longest` characters. */
export function text(longest = Infinity): v.GenericSchema<string> {
  const message = wants("a text that is not empty");
  const filled = v.pipe(v.string(message), v.minLength(1, message));
  return longest === Infinity ? filled : v.pipe(
    filled,
    v.maxLength(
      longest,
      ({ received }) => `Expected at most ${longest} characters but received ${received}`,
    ),
  );
}

/** A list of texts. */
export function texts(): v.GenericSchema<string[]> {
  return v.array(text(), wants("a list of texts"));
}

/** A path of addresses, or none. */
export function urlPath(): v.GenericSchema<string> {
  return v.pipe(
    v.string(wants('a path such as "/queue"')),
    v.regex(URL_PATH, wants('a path such as "/queue"')),
  );
}

/** An object with at least one key. */
export function filled(what: string): v.GenericSchema<Readonly<Record<string, unknown>>> {
  return v.custom((value) => isRecord(value) && Object.keys(value).length > 0, wants(what));
}

/**
 * Shapes of request bodies: what checks them. `wire.ts` says what their fields mean.
 *
 * @module
 */

import * as v from "valibot";
import { display } from "../../config/faults.ts";
import { suggestion } from "../../base/suggest.ts";
import type {
  AgainBody,
  BreakerBody,
  DrainBody,
  OperationRequest,
  OverrideBody,
  PauseBody,
} from "../http/wire.ts";
import type { WhatIfBody } from "../http/wire_what_if.ts";

/** Longest text that jobs are matched with, characters. */
const LONGEST_MATCH = 200;

/** Longest name of a group of failures, characters. */
export const LONGEST_GROUP = 500;

/** States that a bulk operation may ask for. */
const OPERABLE = ["delayed", "ready", "blocked", "done", "dead", "cancelled"] as const;

/** Longest `key` or `dedupeKey` of a job, characters. */
export const LONGEST_KEY = 1_024;

const lane = v.string(({ input }) => `Expected the name of a lane but received ${display(input)}`);

/** What a pause or resume takes. */
export const pauseShape: v.GenericSchema<PauseBody> = fields({ lane: v.optional(lane) });

/** What closing a circuit breaker takes. */
export const breakerShape: v.GenericSchema<BreakerBody> = fields({
  key: v.optional(
    v.pipe(
      v.string(({ input }) => `Expected a key of jobs but received ${display(input)}`),
      v.maxLength(LONGEST_KEY, `Expected a key of at most ${LONGEST_KEY} characters`),
    ),
  ),
});

/** What is to differ from a job that is enqueued again: the pool checks it as it checks a new job. */
export const againShape: v.GenericSchema<AgainBody> = fields({
  lane: v.optional(lane),
  type: v.optional(
    v.string(({ input }) => `Expected the type of a job but received ${display(input)}`),
  ),
  key: v.optional(
    v.nullable(v.string(({ input }) => `Expected a key or null but received ${display(input)}`)),
  ),
  payload: v.optional(v.unknown()),
});

/** What a drain takes. */
export const drainShape: v.GenericSchema<DrainBody> = fields({
  deadlineMs: v.optional(whole("deadlineMs", 0)),
});

/** What a question takes. */
export const whatIfShape: v.GenericSchema<WhatIfBody> = fields({
  changes: v.pipe(
    v.record(v.string(), v.unknown()),
    v.check(
      (changes) => Object.keys(changes).length > 0,
      'Expected a change, such as { "size.max": 30 }',
    ),
  ),
}, { changes: 'Say what to change: send changes, such as { "size.max": 30 }' });

/** What an override takes. */
export const overrideShape: v.GenericSchema<OverrideBody> = fields({
  min: v.optional(whole("min", 0)),
  max: v.optional(whole("max", 0)),
  target: v.optional(whole("target", 0)),
  expiresInMs: whole("expiresInMs", 0),
}, { expiresInMs: "Say when the override ends: send expiresInMs" });

/** What a bulk operation takes. */
export const operationShape: v.GenericSchema<OperationRequest> = v.pipe(
  fields({
    retry: v.optional(chosen("retry")),
    discard: v.optional(chosen("discard")),
    purge: v.optional(chosen("purge")),
    lane: v.optional(lane),
    state: v.optional(
      v.picklist(
        OPERABLE,
        ({ input }) =>
          `No bulk operation takes jobs in state ${display(input)}${
            suggestion(String(input), OPERABLE)
          }`,
      ),
    ),
    match: v.optional(text("match", LONGEST_MATCH)),
    group: v.optional(text("group", LONGEST_GROUP)),
  }),
  v.check(
    ({ retry, discard, purge }) => [retry, discard, purge].filter(Boolean).length === 1,
    "Say what to do: send one of retry, discard and purge as true",
  ),
);

type Message = (issue: v.StrictObjectIssue) => string;

/** An object of known fields. `missing` has the sentence for each field that must be there. */
function fields<const Entries extends v.ObjectEntries>(
  entries: Entries,
  missing: Readonly<Record<string, string>> = {},
): v.StrictObjectSchema<Entries, Message> {
  const names = Object.keys(entries);
  return v.strictObject(entries, (issue) => {
    if (issue.expected === "never") {
      return `No field is named ${display(issue.input)}${suggestion(String(issue.input), names)}`;
    }
    const name = names.find((name) => issue.expected === `"${name}"`);
    return missing[name ?? ""] ?? `Expected an object but received ${display(issue.input)}`;
  });
}

function whole(name: string, min: number): v.GenericSchema<number> {
  const message = ({ input }: v.BaseIssue<unknown>) =>
    `Expected ${name} to be a whole number >= ${min} but received ${display(input)}`;
  return v.pipe(v.number(message), v.safeInteger(message), v.minValue(min, message));
}

function chosen(name: string): v.GenericSchema<true> {
  const message = ({ input }: v.BaseIssue<unknown>) =>
    `Expected ${name} to be true but received ${display(input)}`;
  return v.literal(true, message);
}

function text(name: string, longest: number): v.GenericSchema<string> {
  const message = ({ input }: v.BaseIssue<unknown>) => {
    const given = typeof input === "string" && input.length > longest
      ? `${input.length} characters`
      : display(input);
    return `Expected ${name} to be a text of 1 to ${longest} characters but received ${given}`;
  };
  return v.pipe(v.string(message), v.minLength(1, message), v.maxLength(longest, message));
}

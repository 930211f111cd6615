/**
 * Shapes of request bodies: what checks them, and what the OpenAPI document says of them.
 *
 * @module
 */

import * as v from "valibot";
import { display } from "../../config/faults.ts";
import { delayTooLong, LONGEST_DELAY_MS } from "../../contract/job.ts";
import { suggestion } from "../../base/suggest.ts";

/** Longest text that jobs are matched with, characters. */
const LONGEST_MATCH = 200;

/** States that a bulk operation may ask for. */
const OPERABLE = ["delayed", "ready", "blocked", "done", "dead", "cancelled"] as const;

/** Longest `key` or `dedupeKey` of a job, characters. */
export const LONGEST_KEY = 1_024;

/**
 * What an enqueue takes. Hint: `isSubmitted` checks it, several times as fast and by the pool's own
 * lanes and types; a property test holds the two together.
 */
export const jobShape = fields({
  lane: lane("Name of a lane of the pool."),
  type: v.optional(
    v.pipe(v.string(), v.description("Which of the pool's handlers runs it; only with several.")),
  ),
  payload: v.pipe(v.unknown(), v.description("What the handler works on: any JSON value.")),
  key: v.optional(text("key", LONGEST_KEY, "Jobs of one key share the lane's maxRunningPerKey.")),
  delayMs: v.optional(waiting("delayMs", 0, "Not claimable before so many ms have passed.")),
  dedupeKey: v.optional(text(
    "dedupeKey",
    LONGEST_KEY,
    "While a job with it has not ended, another with the same is a duplicate of it.",
  )),
  ttlMs: v.optional(waiting("ttlMs", 1, "Not started once so many ms have passed.")),
});

/** What a reload takes. `reloadRoutes` checks it, the config with the rules of files. */
export const reloadShape = fields({
  config: v.optional(v.pipe(
    v.record(v.string(), v.unknown()),
    v.description("A config in place of the file; it may bring no code."),
  )),
});

/** What a pause or resume takes. */
export const pauseShape = fields({ lane: v.optional(lane("Only this lane; else the pool.")) });

/** What a drain takes. */
export const drainShape = fields({
  deadlineMs: v.optional(
    whole(
      "deadlineMs",
      0,
      "Jobs that have not ended by then go back. Default: the pool's drainMs.",
    ),
  ),
});

/** What an override takes. */
export const overrideShape = fields({
  min: v.optional(whole("min", 0, "Instead of size.min.")),
  max: v.optional(whole("max", 0, "Instead of size.max; at most that.")),
  target: v.optional(whole("target", 0, "Instead of what the controller asks for.")),
  expiresInMs: whole("expiresInMs", 0, "The config's bounds hold again after so many ms."),
}, { expiresInMs: "Say when the override ends: send expiresInMs" });

/** Which jobs a bulk operation takes by itself. */
const ALL = "all of the pool, unless lane and match choose";

/** What a bulk operation takes. */
export const operationShape = v.pipe(
  fields({
    retry: v.optional(chosen("retry", `Makes dead jobs ready again: ${ALL}.`)),
    discard: v.optional(
      chosen("discard", `Forgets ended jobs, dead ones unless state says which: ${ALL}.`),
    ),
    purge: v.optional(
      chosen(
        "purge",
        `Cancels jobs that wait, delayed, ready and blocked ones unless state says which: ${ALL}.`,
      ),
    ),
    lane: v.optional(lane("Only this lane.")),
    state: v.optional(
      v.picklist(
        OPERABLE,
        ({ input }) =>
          `No bulk operation takes jobs in state ${display(input)}${
            suggestion(String(input), OPERABLE)
          }`,
      ),
    ),
    match: v.optional(text(
      "match",
      LONGEST_MATCH,
      "Only jobs with this text in id, key, type, error or payload, in any case.",
    )),
  }),
  v.check(
    ({ retry, discard, purge }) => [retry, discard, purge].filter(Boolean).length === 1,
    "Say what to do: send one of retry, discard and purge as true",
  ),
);

/** What a login takes. */
export const loginShape = fields({
  token: v.pipe(v.string(), v.description("The admin or the viewer token.")),
}, { token: "Say who you are: send the token" });

/** What a bulk operation is to do. */
export type OperationBody = v.InferOutput<typeof operationShape>;

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

function lane(description: string): v.GenericSchema<string> {
  const message = ({ input }: v.BaseIssue<unknown>) =>
    `Expected the name of a lane but received ${display(input)}`;
  return v.pipe(v.string(message), v.description(description));
}

function whole(name: string, min: number, description: string): v.GenericSchema<number> {
  const message = ({ input }: v.BaseIssue<unknown>) =>
    `Expected ${name} to be a whole number >= ${min} but received ${display(input)}`;
  return v.pipe(
    v.number(message),
    v.safeInteger(message),
    v.minValue(min, message),
    v.description(description),
  );
}

/** How long a job is put off, or may wait, ms. */
function waiting(name: string, min: number, description: string): v.GenericSchema<number> {
  return v.pipe(
    whole(name, min, description),
    v.maxValue(LONGEST_DELAY_MS, ({ input }) => delayTooLong(name, display(input))),
  );
}

function chosen(name: string, description: string): v.GenericSchema<true> {
  const message = ({ input }: v.BaseIssue<unknown>) =>
    `Expected ${name} to be true but received ${display(input)}`;
  return v.pipe(v.literal(true, message), v.description(description));
}

function text(name: string, longest: number, description: string): v.GenericSchema<string> {
  const message = ({ input }: v.BaseIssue<unknown>) => {
    const given = typeof input === "string" && input.length > longest
      ? `${input.length} characters`
      : display(input);
    return `Expected ${name} to be a text of 1 to ${longest} characters but received ${given}`;
  };
  return v.pipe(
    v.string(message),
    v.minLength(1, message),
    v.maxLength(longest, message),
    v.description(description),
  );
}

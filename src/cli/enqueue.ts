/**
 * `sluice enqueue`: enqueue a job.
 *
 * @module
 */

import type { Command } from "commander";
import { type Accepted, LONGEST_WAIT_MS } from "../admin/http/wire.ts";
import type { NewJob } from "../contract/job.ts";
import { messageOf } from "../contract/errors.ts";
import { shellWord } from "../base/shell_word.ts";
import { call, type RemoteOptions, there } from "./client.ts";
import { enqueueMany } from "./enqueue_many.ts";
import { isTooDeep, TOO_DEEP } from "../config/source.ts";
import { CliError } from "./failure.ts";
import type { Io } from "./io.ts";
import { json, line } from "./print.ts";
import { delayMs, durationMs, type Tools, withRemote } from "./verb.ts";

interface EnqueueOptions extends RemoteOptions {
  readonly lane?: string;
  readonly payload?: string;
  readonly type?: string;
  readonly key?: string;
  readonly delay?: string;
  readonly runAt?: string;
  readonly dedupeKey?: string;
  readonly ttl?: string;
  readonly wait?: string;
}

/** Adds the verb. */
export function addEnqueue(program: Command, { io }: Tools): void {
  withRemote(program.command("enqueue").description("enqueue a job"))
    .argument("<pool>")
    .argument("[-]", "read the payload from standard input, or one a line")
    .option("--lane <lane>", "lane of the job; for a pool with routes they say which")
    .option("--payload <json>", "what the handler works on; - reads standard input", "null")
    .option("--type <type>", "job type: the handler that runs it, for a pool with several")
    .option("--key <key>", "jobs of one key share the lane's maxRunningPerKey")
    .option("--delay <duration>", "earliest start, from now; at most 100 years")
    .option("--run-at <time>", "earliest start, such as 2026-12-24T18:00:00Z")
    .option(
      "--dedupe-key <key>",
      "while a job with this key has not ended, others are duplicates of it",
    )
    .option("--ttl <duration>", "latest start, from now; at most 100 years")
    .option("--wait <duration>", "wait until the job is done, at most 60s; exits 1 if it is not")
    .action((pool: string, dash: string | undefined, options: EnqueueOptions) =>
      enqueue(io, pool, dash, options)
    );
}

async function enqueue(
  io: Io,
  pool: string,
  dash: string | undefined,
  options: EnqueueOptions,
): Promise<void> {
  if (dash !== undefined && dash !== "-") {
    throw new CliError(
      `Expected - after the pool but received "${dash}": pass the payload by --payload`,
      2,
    );
  }
  const given = dash === "-" ? "-" : options.payload;
  const payloads = await readPayloads(io, given ?? "null");
  const jobs = payloads.map(({ line, value }) => ({ line, body: bodyOf(value, options) }));
  if (jobs.length > 1) {
    if (options.wait !== undefined || options.dedupeKey !== undefined) {
      throw new CliError("--wait and --dedupe-key are for one job: leave them out for lines", 2);
    }
    return await enqueueMany(io, pool, jobs, options);
  }
  const waitMs = waitOf(options);
  const accepted = await call(io, options, "POST /api/pools/:pool/jobs", "id", {
    at: { pool },
    query: { waitMs },
    body: jobs[0]?.body as NewJob, // the API says what is wrong with it
  });
  if (options.json) json(io, accepted);
  else show(io, accepted, options);
  if (waitMs !== undefined && waitMs > 0) requireDone(accepted);
}

function waitOf({ wait }: EnqueueOptions): number | undefined {
  const waitMs = durationMs("--wait", wait);
  if (waitMs === undefined || waitMs <= LONGEST_WAIT_MS) return waitMs;
  throw new CliError(
    `Expected --wait to be at most 60s but received "${wait}": look later with "sluice jobs show"`,
    2,
  );
}

/** @throws {CliError} If the job that was waited for is not done. */
function requireDone({ outcome }: Accepted): void {
  if (outcome === undefined) {
    throw new CliError(
      "The job has not ended within --wait: it is stored and may still run, so do not send it again",
    );
  }
  const { state, error, reason } = outcome;
  if (state === "done") return;
  throw new CliError(
    state === "unfinished"
      ? "The job has not ended and its pool has stopped: a durable store keeps it for the next start"
      : `The job is ${state}: ${error ?? reason ?? "no reason is known"}`,
  );
}

function bodyOf(payload: unknown, options: EnqueueOptions): unknown {
  return {
    lane: options.lane,
    payload,
    type: options.type,
    key: options.key,
    delayMs: delayMs("--delay", options.delay),
    runAt: options.runAt,
    dedupeKey: options.dedupeKey,
    ttlMs: delayMs("--ttl", options.ttl),
  };
}

/** A payload, and the line that it is from. */
interface Payload {
  readonly line: number;
  readonly value: unknown;
}

/**
 * One payload; several, if the input is no JSON as a whole but each of its lines is.
 *
 * @throws {CliError} If it is no JSON.
 */
export async function readPayloads(io: Io, given: string): Promise<readonly Payload[]> {
  const text = given === "-" ? await io.readInput() : given;
  const from = given === "-" ? "standard input" : "--payload";
  try {
    return [{ line: 1, value: parse(text) }];
  } catch (thrown) {
    const lines = text.split("\n").map((text, index) => ({ line: index + 1, text: text.trim() }))
      .filter(({ text }) => text !== "");
    if (given === "-" && lines.length > 1 && isJson(lines[0]?.text ?? "")) {
      return lines.map(({ line, text }) => {
        return { line, value: parsed(text, `line ${line} of standard input`) };
      });
    }
    throw noJson(from, thrown);
  }
}

function parsed(text: string, from: string): unknown {
  try {
    return parse(text);
  } catch (thrown) {
    throw noJson(from, thrown);
  }
}

/** Numbers too large for JSON would be sent as null. */
function parse(text: string): unknown {
  if (isTooDeep(JSON.parse(text))) throw new RangeError(TOO_DEEP); // the walk below goes as deep as the text
  return JSON.parse(text, (_, value: unknown) => {
    if (value === Infinity || value === -Infinity) {
      throw new RangeError("Expected finite numbers but one is too large: send it as a string");
    }
    return value;
  });
}

function isJson(text: string): boolean {
  try {
    parse(text);
    return true;
  } catch {
    return false; // the whole is then told as what is no JSON
  }
}

function noJson(from: string, thrown: unknown): CliError {
  return new CliError(
    `Expected JSON from ${from} (a text in double quotes is JSON): ${messageOf(thrown)}`,
    2,
    { cause: thrown },
  );
}

function show(io: Io, accepted: Accepted, options: EnqueueOptions): void {
  const { id, duplicateOf, outcome } = accepted;
  if (outcome?.state === "done") {
    line(io, `Job ${id} is done: ${JSON.stringify(outcome.result) ?? "no result"}`);
  } else if (outcome === undefined && duplicateOf !== undefined) {
    line(io, `Job ${id} has the dedupeKey already: no second one was stored`);
  } else if (outcome === undefined) {
    const waited = options.wait === undefined ? "" : ", it has not ended yet";
    line(
      io,
      `Job ${id} is stored${waited}; "sluice jobs show ${shellWord(id)}${there(options)}" shows it`,
    );
  }
}

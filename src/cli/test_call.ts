/**
 * `sluice test-call`: runs the handler of a pool once, on one payload, without enqueuing a job.
 *
 * @module
 */

import type { Command } from "commander";
import { duration } from "../base/format.ts";
import { suggestion } from "../base/suggest.ts";
import { Redaction } from "../config/redaction.ts";
import type { PoolSettings } from "../config/settings.ts";
import { AbortedError } from "../contract/errors.ts";
import type { Job } from "../contract/job.ts";
import { prettyLogger } from "../runtime/log.ts";
import { readPayloads } from "./enqueue.ts";
import { CliError, INTERRUPTED } from "./failure.ts";
import { type Called, callHandler } from "./handler_call.ts";
import { onInterrupt } from "./interrupt.ts";
import { json, line } from "./print.ts";
import { type Tools, withJson } from "./verb.ts";

interface TestCallOptions {
  readonly payload: string;
  readonly lane?: string;
  readonly type?: string;
  readonly key?: string;
  readonly json?: boolean;
}

/** Adds the verb. */
export function addTestCall(program: Command, tools: Tools): void {
  withJson(
    program.command("test-call").description("run the handler of a pool once, and enqueue nothing"),
  )
    .argument("<file>", "the config")
    .argument("<pool>", "the pool")
    .option("--payload <json>", "what the handler works on; - reads standard input", "null")
    .option("--lane <lane>", "lane of the job (default: the first)")
    .option("--type <type>", "job type: the handler that runs it, for a pool with several")
    .option("--key <key>", "key of the job")
    .action((file: string, pool: string, options: TestCallOptions) =>
      testCall(file, pool, options, tools)
    );
}

async function testCall(
  file: string,
  pool: string,
  options: TestCallOptions,
  { io, resolve }: Tools,
): Promise<void> {
  const { pools, redact, shown } = await resolve(file);
  const redaction = new Redaction(redact, shown);
  const settings = found("pool", pool, new Map(pools.map((each) => [each.name, each])));
  const [given, ...more] = await readPayloads(io, options.payload);
  if (more.length > 0) throw new CliError("Expected one payload but received several lines", 2);
  const job = jobOf(settings, given?.value, options);
  const write = (text: string): void => io.err(`${text}\n`);
  const log = redaction.logger(prettyLogger({ write, color: io.color }), job.payload);
  const aborting = new AbortController();
  const unlisten = onInterrupt(io, () => {
    aborting.abort(new AbortedError("cancelled", "The call was interrupted"));
  });
  try {
    const called = await callHandler(settings, job, { log, aborting });
    if (aborting.signal.reason?.why === "cancelled") {
      throw new CliError("Interrupted", INTERRUPTED);
    }
    const hidden = redaction.show({ ...called }, job.payload) as Called; // the same, texts hidden
    if (options.json) json(io, hidden);
    else line(io, sentenceOf(hidden));
    if (called.end !== "done") throw new CliError(`The job would be ${ENDS[called.end]}`);
  } finally {
    unlisten();
  }
}

/** What an end means for a job. */
const ENDS: Readonly<Record<Called["end"], string>> = {
  done: "done",
  deferred: "deferred, without counting the attempt",
  failed: "tried again, while it has attempts left",
  dead: "dead at once",
};

/** @throws {CliError} If there is none of that name. */
function found<Value>(what: string, name: string, among: ReadonlyMap<string, Value>): Value {
  const value = among.get(name);
  if (value !== undefined) return value;
  throw new CliError(`No ${what} is named "${name}"${suggestion(name, among.keys())}`, 2);
}

/** @throws {CliError} If lane or type are none of the pool. */
function jobOf(
  { lanes, handlers }: PoolSettings,
  payload: unknown,
  { lane = lanes[0]?.name ?? "", type = "", key }: TestCallOptions,
): Job {
  found("lane", lane, new Map(lanes.map((each) => [each.name, each])));
  if (!handlers.has(type) && type === "") {
    throw new CliError(`Expected --type${suggestion(type, handlers.keys())}`, 2);
  }
  found("type", type, handlers);
  const id = `test-${crypto.randomUUID()}`; // a receiver that knows the key of another would do nothing
  return { id, lane, type, payload, key, createdAtMs: Date.now(), attempt: 1 };
}

function sentenceOf(
  { end, ms, result, resultError, error, retryAfterMs, overloaded }: Called,
): string {
  const took = `in ${duration(ms)}`;
  if (end === "done") {
    return `Done ${took}: ${resultError ?? JSON.stringify(result) ?? "no result"}`;
  }
  if (retryAfterMs === undefined) return `${end === "dead" ? "Fatal" : "Failed"} ${took}: ${error}`;
  const whose = overloaded ? `, as the receiver says "not now"` : "";
  return `Deferred by ${duration(retryAfterMs)}${whose}: ${error}`;
}

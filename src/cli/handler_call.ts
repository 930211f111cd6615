/**
 * One run of a handler outside of a pool.
 *
 * @module
 */

import { copyResult, Misfit } from "../base/payload.ts";
import type { PoolSettings } from "../config/settings.ts";
import { AbortedError, Fatal, messageOf, RetryLater } from "../contract/errors.ts";
import type { Job, JobContext, Logger } from "../contract/job.ts";
import type { Handler } from "../contract/plugin.ts";
import { checkPayload } from "../runtime/job_input.ts";
import { CliError } from "./failure.ts";

/** What a call came to. */
export interface Called {
  /** What would become of the job. */
  readonly end: "done" | "deferred" | "failed" | "dead";
  /** How long it took, ms. */
  readonly ms: number;
  /** What it returned, as far as it would be kept. */
  readonly result?: unknown;
  /** Why a result would not be kept. */
  readonly resultError?: string;
  /** What it threw. */
  readonly error?: string;
  /** For how long it would be deferred, ms. */
  readonly retryAfterMs?: number;
  /** True: the receiver said "not now". */
  readonly overloaded?: true;
}

/** Longest delay a platform timer takes, ms. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** What a call goes by. */
export interface Calling {
  /** Where it logs. */
  readonly log: Logger;
  /** Ends it: at its time limit, or when that is wanted. */
  readonly aborting: AbortController;
}

/**
 * Makes the handler of a job of the pool and runs it once, as a worker would.
 *
 * @throws {CliError} If the payload does not fit the handler.
 */
export async function callHandler(
  settings: PoolSettings,
  job: Job,
  calling: Calling,
): Promise<Called> {
  const { name, lanes, size, handlers, timeoutMsByType } = settings;
  const { log, aborting } = calling;
  const handler = handlers.get(job.type)?.create({
    pool: name,
    lanes: lanes.map((lane) => lane.name),
    size,
    random: Math.random,
    log,
  });
  if (handler === undefined) throw new CliError(`No handler is named "${job.type}"`, 2);
  const { payload: schema } = handler;
  const payload = schema === undefined ? job.payload : checkPayload(schema, job.payload);
  if (payload instanceof Misfit) throw new CliError(payload.fault, 2);
  const own = Object.hasOwn(timeoutMsByType, job.type) ? timeoutMsByType[job.type] : undefined;
  const lane = lanes.find((each) => each.name === job.lane);
  const timeoutMs = own ?? lane?.timeoutMs ?? settings.timeoutMs;
  const resource = await handler.start?.("test");
  const timer = timeoutMs > LONGEST_TIMER_MS ? undefined : setTimeout(() => {
    const message = `The job ran longer than timeoutMs (${timeoutMs})`;
    aborting.abort(new AbortedError("timeout", message));
  }, timeoutMs);
  try {
    return await run(handler, { ...job, payload }, resource, calling);
  } finally {
    clearTimeout(timer);
    await handler.stop?.(resource);
  }
}

async function run(
  handler: Handler,
  job: Job,
  resource: unknown,
  { log, aborting }: Calling,
): Promise<Called> {
  let overloaded = false;
  const context: JobContext = {
    signal: aborting.signal,
    fence: 1,
    idempotencyKey: job.id,
    resource,
    log,
    progress: (value) => Promise.resolve(log.info("progress", { progress: value })),
    overloaded: () => overloaded = true,
    used: () => {},
  };
  const fromMs = performance.now();
  const end = (end: Called["end"], more: Partial<Called>): Called => ({
    end,
    ms: Math.round(performance.now() - fromMs),
    ...more,
    ...(overloaded ? { overloaded } : {}),
  });
  try {
    const result = copyResult(await handler.run(job, context));
    return end("done", result instanceof Misfit ? { resultError: result.fault } : { result });
  } catch (thrown) {
    const error = messageOf(thrown);
    if (thrown instanceof Fatal) return end("dead", { error });
    if (!(thrown instanceof RetryLater)) return end("failed", { error });
    return end("deferred", { error, retryAfterMs: thrown.ms });
  }
}

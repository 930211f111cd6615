/**
 * The conformance check for handlers.
 *
 * @module
 */

import { AbortedError, messageOf } from "../contract/errors.ts";
import type { Job, JobContext } from "../contract/job.ts";
import type { Bound, Handler } from "../contract/plugin.ts";
import { bindSubject, fault, makeContext, show, type Subject } from "./subject.ts";

/** How a handler is checked. */
export interface CheckHandlerOptions {
  /** A payload that it takes. @default {null} */
  readonly payload?: unknown;
  /** How long a run may go on once its signal has aborted, ms of real time. @default {1000} */
  readonly abortMs?: number;
}

/**
 * Checks a handler by running it, for real: two workers start, each runs one job, one more job is
 * aborted at once, and both stop.
 *
 * What a run throws has to be an `Error`; what it returns has to be JSON; an aborted run has to end.
 *
 * @throws {AssertionError} If it does not hold.
 */
export async function checkHandler(
  subject: Subject<"handler">,
  { payload = null, abortMs = 1000 }: CheckHandlerOptions = {},
): Promise<void> {
  const bound = bindSubject(subject);
  const handler = bound.create(makeContext());
  if (typeof handler?.run !== "function") {
    throw fault(bound, `Expected a handler with run() but received ${show(handler)}`);
  }
  checkPayload(bound, handler, payload);
  const resources: unknown[] = [];
  for (const id of ["w1", "w2"]) resources.push(await handler.start?.(id));
  try {
    for (const resource of resources) {
      const { context } = makeRun(resource);
      checkResult(bound, await runOnce(bound, handler, payload, context));
    }
    await checkAbort(bound, handler, payload, { resource: resources[0], abortMs });
  } finally {
    for (const resource of resources) await handler.stop?.(resource);
  }
}

function checkPayload(bound: Bound, handler: Handler, payload: unknown): void {
  const result = handler.payload?.["~standard"].validate(payload);
  if (result instanceof Promise) {
    throw fault(bound, "Expected a payload schema that answers at once but received a promise");
  }
  if (result?.issues !== undefined) {
    const issues = result.issues.map((issue) => issue.message).join("; ");
    throw fault(bound, `Expected the payload given to fit its schema but: ${issues}`);
  }
}

async function runOnce(
  bound: Bound,
  handler: Handler,
  payload: unknown,
  context: JobContext,
): Promise<unknown> {
  try {
    return await handler.run(makeJob(payload), context);
  } catch (thrown) {
    if (thrown instanceof Error) return undefined;
    throw fault(bound, `Expected run() to throw an Error but it threw ${show(thrown)}`);
  }
}

function checkResult(bound: Bound, result: unknown): void {
  if (result === undefined) return;
  try {
    if (JSON.stringify(result) === undefined) {
      throw new TypeError("A function, a symbol or undefined has none");
    }
  } catch (thrown) {
    throw fault(bound, `Expected run() to return JSON but: ${messageOf(thrown)}`, thrown);
  }
}

async function checkAbort(
  bound: Bound,
  handler: Handler,
  payload: unknown,
  { resource, abortMs }: { readonly resource: unknown; readonly abortMs: number },
): Promise<void> {
  const { context, abort } = makeRun(resource);
  const ran = runOnce(bound, handler, payload, context);
  abort();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<"late">((resolve) => {
    timer = setTimeout(() => resolve("late"), abortMs);
  });
  const first = await Promise.race([ran, late]);
  clearTimeout(timer);
  if (first === "late") {
    throw fault(
      bound,
      `Expected an aborted run to end within ${abortMs} ms but it continues: stop when context.signal aborts`,
    );
  }
}

function makeJob(payload: unknown): Job {
  return { id: "job-1", lane: "urgent", type: "", payload, createdAtMs: 0, attempt: 1 };
}

function makeRun(resource: unknown): { readonly context: JobContext; readonly abort: () => void } {
  const controller = new AbortController();
  const { log } = makeContext();
  return {
    context: {
      signal: controller.signal,
      fence: 1,
      idempotencyKey: "job-1",
      resource,
      log,
      progress: () => Promise.resolve(),
      overloaded: () => {},
      used: () => {},
    },
    abort: () => controller.abort(new AbortedError("cancelled", "The job was cancelled")),
  };
}

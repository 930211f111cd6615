/**
 * A job as one attempt sees it.
 *
 * @module
 */

import { messageOf } from "../contract/errors.ts";
import type { Job } from "../contract/job.ts";
import { toPointer } from "../config/faults.ts";
import { copyJson, Misfit } from "../base/payload.ts";
import type { Handler } from "../contract/plugin.ts";
import type { StandardIssue, StandardSchema } from "../contract/standard_schema.ts";
import type { Leased } from "../contract/store.ts";

/** What a handler is given: a copy of the payload, so that no attempt sees what another changed. */
class JobInput implements Job {
  readonly payload: unknown;
  readonly #job: Leased;

  constructor(job: Leased, payload: unknown) {
    this.#job = job;
    this.payload = payload;
  }

  get id(): string {
    return this.#job.id;
  }
  get lane(): string {
    return this.#job.lane;
  }
  get type(): string {
    return this.#job.type;
  }
  get key(): string | undefined {
    return this.#job.key;
  }
  get createdAtMs(): number {
    return this.#job.createdAtMs;
  }
  get attempt(): number {
    return this.#job.attempt;
  }
  get cursor(): unknown {
    return this.#job.cursor;
  }
  get traceparent(): string | undefined {
    return this.#job.traceparent;
  }
}

/** The job for one attempt, or why its payload no longer fits the handler. */
export function jobInput(job: Leased, handler: Handler): Job | Misfit {
  const copied = copyJson(job.payload);
  if (copied instanceof Misfit) return copied;
  if (handler.payload === undefined) return new JobInput(job, copied);
  const checked = checkPayload(handler.payload, copied);
  return checked instanceof Misfit ? checked : new JobInput(job, checked);
}

/** Checks a payload against a handler's schema: what the schema makes of it, or a `Misfit`. */
export function checkPayload(schema: StandardSchema, payload: unknown): unknown {
  try {
    const result = schema["~standard"].validate(payload);
    if (result instanceof Promise) {
      result.catch(() => {}); // what is reported is that there is a promise at all
      return new Misfit("The payload schema is asynchronous: use one that answers at once");
    }
    if (result.issues === undefined) return result.value;
    return misfitOf(result.issues);
  } catch (thrown) {
    return new Misfit(`The payload schema failed: ${messageOf(thrown)}`);
  }
}

function misfitOf(issues: readonly StandardIssue[]): Misfit {
  const faults = issues.map(({ message, path }) => ({
    detail: message,
    keys: path?.map((part) => String(typeof part === "object" ? part.key : part)) ?? [],
  }));
  const parts = faults.map(({ detail, keys }) =>
    keys.length === 0 ? detail : `${keys.join(".")}: ${detail}`
  );
  return new Misfit(
    `The payload does not fit its handler: ${parts.join("; ")}`,
    faults.map(({ detail, keys }) => ({ pointer: toPointer(keys), detail })),
  );
}

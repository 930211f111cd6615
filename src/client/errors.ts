/**
 * What a client's calls throw besides `RejectedError`.
 *
 * @module
 */

/** One fault of a request. */
export interface RequestFault {
  /** JSON Pointer into the job, such as `/lane`; `?name` for a query parameter. Empty for the whole. */
  readonly pointer: string;
  /** What is wrong, what is wanted, what to do. */
  readonly detail: string;
}

/** The request was refused, and would be again: fix it. Nothing was stored. */
export class RequestError extends TypeError {
  /** Status of the answer. `undefined`: it is about one job of many. */
  readonly status: number | undefined;
  /** Each fault with its place. Empty: the message says all. */
  readonly errors: readonly RequestFault[];

  /** Says what is wrong and what to do. */
  constructor(
    message: string,
    status?: number,
    errors: readonly RequestFault[] = [],
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.name = "RequestError";
    this.status = status;
    this.errors = errors;
  }
}

/**
 * No answer came, or one that does not say what became of the request, as often as it was sent. It may
 * have arrived: to send it again later, give the same `idempotencyKey`.
 */
export class UnavailableError extends Error {
  /** Status of the last answer. `undefined`: none came. */
  readonly status: number | undefined;
  /** Key that the request was sent with. `undefined`: it changes nothing. */
  readonly idempotencyKey: string | undefined;
  /** When the server wants to be asked again, ms. `undefined`: it did not say. */
  readonly retryAfterMs: number | undefined;

  /** Says what came instead of an answer. */
  constructor(
    message: string,
    about: {
      readonly status?: number | undefined;
      readonly retryAfterMs?: number | undefined;
      readonly idempotencyKey?: string | undefined;
      readonly cause?: unknown;
    } = {},
  ) {
    super(message, { cause: about.cause });
    this.name = "UnavailableError";
    this.status = about.status;
    this.idempotencyKey = about.idempotencyKey;
    this.retryAfterMs = about.retryAfterMs;
  }
}

/** A job has not ended within the time that its caller had. The job goes on. */
export class DeadlineError extends Error {
  /** Id of the job: wait for it again by it. */
  readonly id: string;

  /** Says how long was waited. */
  constructor(id: string, waitedMs: number) {
    super(
      `The job "${id}" has not ended within ${waitedMs} ms: it continues, wait for it again by its id`,
    );
    this.name = "DeadlineError";
    this.id = id;
  }
}

/** The fault of an answer that a Sluice admin API would not give. `why` says what is wrong with it. */
export function foreignAnswer(url: string, why: string, status?: number): RequestError {
  const message = `What answers at ${url} is not a Sluice admin API: ${why}, check the address`;
  return new RequestError(message, status);
}

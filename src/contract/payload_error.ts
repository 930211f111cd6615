/**
 * What a payload is refused with.
 *
 * @module
 */

/** One fault of a payload. */
export interface PayloadFault {
  /** JSON Pointer into the job, such as `/payload/to`. */
  readonly pointer: string;
  /** What is wrong, what is wanted, what to do. */
  readonly detail: string;
}

/** The payload of a job is no JSON, or does not fit its handler. Nothing was stored; a retry does not help. */
export class PayloadError extends TypeError {
  /** Each fault with its place, at least one. */
  readonly errors: readonly PayloadFault[];

  /** Says what is wrong and where. */
  constructor(message: string, errors: readonly PayloadFault[]) {
    super(message);
    this.name = "PayloadError";
    this.errors = errors;
  }
}

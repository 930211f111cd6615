/**
 * Every error class of the package: what its calls throw, and what a handler may throw.
 *
 * @module
 */

export {
  type AbortCause,
  AbortedError,
  ConfigError,
  Fatal,
  type Fault,
  IdempotencyError,
  OptionError,
  RejectedError,
  RetryLater,
  StoreError,
} from "./errors.ts";
export type { DeadReason, Outcome } from "./job.ts";
export { JobError, type JobFailure } from "./job_error.ts";
export { PayloadError, type PayloadFault } from "./payload_error.ts";

/**
 * How a verb fails.
 *
 * @module
 */

/** Exit code of a process that a signal kept from its end. */
export const INTERRUPTED = 130;

/** A verb could not be done. Its message says what to do next. */
export class CliError extends Error {
  /** What the process ends with: 1 failed, 2 usage, config or a request with faults, 130 interrupted. */
  readonly exitCode: 1 | 2 | typeof INTERRUPTED;

  /** Says what failed. */
  constructor(message: string, exitCode: CliError["exitCode"] = 1, options?: ErrorOptions) {
    super(message, options);
    this.name = "CliError";
    this.exitCode = exitCode;
  }
}

/** Nobody knows whether a request that changes something has arrived. */
export class UnansweredError extends CliError {}

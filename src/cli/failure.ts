/**
 * How a verb fails.
 *
 * @module
 */

/** A verb could not be done. Its message says what to do next. */
export class CliError extends Error {
  /** What the process ends with: 1 failed, 2 usage or config. */
  readonly exitCode: 1 | 2;

  /** Says what failed. */
  constructor(message: string, exitCode: 1 | 2 = 1, options?: ErrorOptions) {
    super(message, options);
    this.name = "CliError";
    this.exitCode = exitCode;
  }
}

/**
 * What a lane does about jobs with the same `dedupeKey`, as a config has it.
 *
 * @module
 */

/**
 * What a job's `dedupeKey` does.
 *
 * @internal
 */
export interface DedupeInput {
  /**
   * "until-end": another job with the key is a duplicate until the first has ended; "until-start": until
   * it has started; "window": within `windowMs`; "replace": until it has started, and the latest payload runs;
   * "debounce": so too, `waitMs` after the latest.
   */
  readonly mode: "until-end" | "until-start" | "window" | "replace" | "debounce";
  /** Of "window": for so long after its enqueue the key is a job's, ended or not, ms, >= 1. @default {none} */
  readonly windowMs?: number | undefined;
  /** Of "debounce": a job is due so long after the latest with its key, ms, >= 1. @default {none} */
  readonly waitMs?: number | undefined;
  /** Of "debounce": but at the latest so long after the first, ms, >= `waitMs`. @default {none} */
  readonly maxMs?: number | undefined;
}

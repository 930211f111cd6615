/**
 * Decisions: what a pool did about its size, and why.
 *
 * @module
 */

/** What one strategy asked for. */
export interface DecisionPart {
  /** Name of the plugin. */
  readonly by: string;
  /** Its kind. */
  readonly kind: "controller" | "cap";
  /** Workers it asked for or allows. `Infinity`: no bound. */
  readonly workers: number;
  /** Its reason. */
  readonly reason: string;
}

/** The figures a decision was made on. */
export interface DecisionInputs {
  /** Claimable jobs, all lanes. */
  readonly ready: number;
  /** Due jobs held by a pause or a key limit. */
  readonly blocked: number;
  /** Wait of the oldest ready job, ms. */
  readonly oldestWaitMs: number;
  /** Live workers that run a job. */
  readonly busy: number;
  /** Workers that are neither starting, retiring nor stuck. */
  readonly live: number;
  /** Workers being started. */
  readonly starting: number;
  /** Workers that leave after their job. */
  readonly retiring: number;
  /** Workers whose handler ignores its abort. */
  readonly stuck: number;
}

/** One decision, as recorded. */
export interface Decision {
  /** When it was made first. */
  readonly atMs: number;
  /** Until when it was repeated unchanged. */
  readonly untilMs: number;
  /** Target before. */
  readonly from: number;
  /** Target now. */
  readonly to: number;
  /** The figures at `atMs`. */
  readonly inputs: DecisionInputs;
  /** What each strategy asked for. */
  readonly proposals: readonly DecisionPart[];
  /** What set the target: `controller`, `cap:NAME`, `size.min`, `size.max` or `override`. */
  readonly boundBy: string;
  /** Ids of workers told to leave. */
  readonly retire: readonly string[];
  /** All of it in one plain sentence. */
  readonly sentence: string;
  /** Why it still stood at `untilMs`, in one plain sentence. `undefined`: it was not repeated. */
  readonly latest?: string | undefined;
}

/**
 * Decisions: what a pool did about its size, and why.
 *
 * @module
 */

/** What one strategy asked for. */
export interface DecisionPart {
  /** Name of the plugin, or of the downstream that the cap is about. */
  readonly by: string;
  /** Its kind; `downstream`: a cap that several pools share. */
  readonly kind: "controller" | "cap" | "downstream";
  /** Workers it asked for or allows. `Infinity`: no bound. */
  readonly workers: number;
  /** Its reason. */
  readonly reason: string;
}

/** What a candidate controller that nobody follows would have done, beside the live one. */
export interface ShadowReport {
  /** Name of the candidate. */
  readonly controller: string;
  /** Ticks on which both were asked and answered, since it was configured. */
  readonly ticks: number;
  /** Ticks on which they differed. */
  readonly differed: number;
  /** `differed` over `ticks`, 0 to 1. */
  readonly share: number;
  /** Workers that it wanted more than the live one, on average; negative: fewer. */
  readonly meanDifference: number;
  /** The same where it was least, at most 0. */
  readonly leastDifference: number;
  /** The same where it was most, at least 0. */
  readonly mostDifference: number;
  /** Ticks on which it was not asked, because it had taken too long before. */
  readonly skipped: number;
  /** Ticks on which it threw, or answered something invalid. */
  readonly failed: number;
  /** Workers it wants, within size and caps. `undefined`: no tick was compared yet; so below. */
  readonly workers?: number | undefined;
  /** Workers that the live one wants, within size and caps. */
  readonly liveWorkers?: number | undefined;
  /** What it wants and why. */
  readonly sentence?: string | undefined;
  /** What the live one wants and why. */
  readonly liveSentence?: string | undefined;
  /** What it threw, or what is wrong with its answer. `undefined`: it works. */
  readonly error?: string | undefined;
}

/** The figures a decision was made on. */
export interface DecisionInputs {
  /** Jobs that may start now, all lanes. */
  readonly ready: number;
  /** Due jobs that no worker could start: blocked by their key, or in a paused lane. */
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
  /**
   * What set the target: `controller`, `cap:NAME`, `downstream:NAME`, `size.min`, `size.max`, `override`, or
   * `work`: jobs are ready, so there is one worker at least.
   */
  readonly boundBy: string;
  /** Ids of workers asked to stop. */
  readonly retire: readonly string[];
  /** All of it in one plain sentence. */
  readonly sentence: string;
  /** Why it still stood at `untilMs`, in one plain sentence. `undefined`: it was not repeated. */
  readonly latest?: string | undefined;
}

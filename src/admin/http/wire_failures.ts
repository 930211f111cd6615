/**
 * Why jobs are dead, on the wire.
 *
 * @module
 */

/** Dead jobs whose errors have the same in common. */
export interface FailureGroupJson {
  /** What that is: ids, numbers, addresses and quoted values are taken out. Give it as `?group=`. */
  readonly group: string;
  /** How many there are among those looked at. */
  readonly count: number;
  /** When the first of them ended. */
  readonly firstAtMs: number;
  /** When the last of them ended. */
  readonly lastAtMs: number;
  /** How many ended in each twelfth of the time from `fromMs` to `toMs`. */
  readonly series: readonly number[];
  /** How many there are of each pool. */
  readonly pools: Readonly<Record<string, number>>;
  /** The latest of them. */
  readonly example: {
    /** Its id. */
    readonly id: string;
    /** Its pool. */
    readonly pool: string;
    /** Its error as it is. Left out: it has none, such as one that expired. */
    readonly error?: string | undefined;
  };
}

/** Why jobs are dead. */
export interface FailuresJson {
  /** The groups with most jobs, at most 50. */
  readonly groups: readonly FailureGroupJson[];
  /** How many dead jobs were looked at: the latest of each pool. */
  readonly looked: number;
  /** How many of those are in groups that are not listed. */
  readonly others: number;
  /** True: there are older ones, which were not looked at. */
  readonly hasMore: boolean;
  /** When the first that was looked at ended. Left out: none was. */
  readonly fromMs?: number | undefined;
  /** When the last of them ended. */
  readonly toMs?: number | undefined;
}

/**
 * Permits of the caps that hold over several processes: the record that the processes share, and how
 * a cap is divided by what each of them wants.
 *
 * @module
 */

/** What one process holds of one cap, and would like to hold. */
export type PermitShare = readonly [has: number, wants: number];

/** One process in the record. */
export interface PermitEntry {
  /** Rises with each of its commits: shows that it lives. */
  readonly beat: number;
  /** Others may take what it holds once they have seen no change for so long, ms. */
  readonly staleMs: number;
  /** How long its starts count against a rate, ms. 0: there is no rate. */
  readonly coolMs: number;
  /** Name of its process, where others can look whether that still is. */
  readonly process?: string;
  /** True: it was the only one, and holds all of every cap. */
  readonly alone?: boolean;
  /** It has left: what it holds is free once others have seen it so for so long, ms. */
  readonly leftMs?: number;
  /** Its part of each cap, by the cap's name. */
  readonly parts: Readonly<Record<string, PermitShare>>;
}

/** Who holds what. The parts of a cap add up to no more than the cap. */
export interface PermitRecord {
  /** Number of the next process. */
  readonly next: number;
  /** Processes by number. */
  readonly holders: Readonly<Record<string, PermitEntry>>;
}

/** What a process needs of one cap. */
export interface Need {
  /** Permits that there are, whole, over all processes. */
  readonly cap: number;
  /** Permits that it would use, no slack. */
  readonly wants: number;
  /** True for starts: what is used stays so for a time, also when its process is gone. */
  readonly cools: boolean;
  /** Permits in use now: workers there are, starts that still count against the rate. */
  readonly used: () => number;
}

/**
 * Divides whole permits: the greatest least part (max-min fairness) up to what each wants, then what
 * nobody asked for evenly. The remainder goes to those who want least, then to those who came first.
 *
 * @returns Parts in the order of `wants`. They add up to `cap`.
 */
export function divide(cap: number, wants: readonly number[]): readonly number[] {
  const parts = wants.map(() => 0);
  let left = cap;
  const open = wants.map((_, index) => index).sort((a, b) => wants[a]! - wants[b]! || a - b);
  open.forEach((index, place) => {
    const fair = Math.ceil(left / (open.length - place));
    parts[index] = Math.min(wants[index]!, Math.min(fair, left));
    left -= parts[index];
  });
  if (left === 0 || wants.length === 0) return parts;
  const each = Math.floor(left / wants.length);
  const more = left % wants.length;
  return parts.map((part, index) => part + each + (index < more ? 1 : 0));
}

/** True if others should hear of another wish: it has changed by a quarter, and by 1 at least. */
export function isNews(before: number, now: number): boolean {
  return Math.abs(now - before) >= Math.max(1, before / 4);
}

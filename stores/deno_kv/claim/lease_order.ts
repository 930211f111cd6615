/**
 * The order of the jobs of a lease. Over a network its parts are not claimed by age: a process tries its own
 * before older ones of others, and of those the youngest first.
 *
 * @module
 */

import type { KvJob } from "../record/job.ts";
import type { Want } from "./take.ts";

/**
 * Lane by lane, oldest first, but none that has its last attempt is behind those that start at once: it was
 * claimed for a worker that waits, and an older one that was claimed ahead of its start can wait instead.
 */
export function inLeaseOrder(jobs: readonly KvJob[], wants: readonly Want[]): readonly KvJob[] {
  return wants.flatMap(([{ ordinal, attempts }, want, ahead]) => {
    if (want === 0) return [];
    const own = jobs.filter((job) => job.ordinal === ordinal).sort(byAge);
    const starting = want - ahead;
    if (own.length <= starting) return own;
    const isLast = ({ attempt }: KvJob): boolean => attempt >= attempts;
    let places = starting - own.filter(isLast).length;
    const first: KvJob[] = [];
    const behind: KvJob[] = [];
    for (const job of own) (isLast(job) || places-- > 0 ? first : behind).push(job);
    return first.concat(behind);
  });
}

/** Oldest first, as they stood in their lane. */
function byAge(a: KvJob, b: KvJob): number {
  const byPart = a.segment < b.segment ? -1 : Number(a.segment > b.segment);
  return a.dueMs - b.dueMs || byPart || a.index - b.index;
}

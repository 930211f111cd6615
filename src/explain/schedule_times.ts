/**
 * When a schedule comes, in words: the same on pages and on the command line.
 *
 * @module
 */

import { duration } from "../base/format.ts";

/** Its cron text, or `every 15 min`. */
export function timesText(
  { cron, everyMs = 0 }: {
    readonly cron?: string | undefined;
    readonly everyMs?: number | undefined;
  },
): string {
  return cron ?? `every ${duration(everyMs)}`;
}

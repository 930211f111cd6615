/**
 * What a shadow came to, in lines.
 *
 * @module
 */

import { counted } from "../base/format.ts";
import type { ShadowReport } from "../contract/decision.ts";
import type { Io } from "./io.ts";
import { bold, line } from "./print.ts";

/** Writes where a shadow differs from the live controller. */
export function showShadow(io: Io, shadow: ShadowReport): void {
  const { controller, ticks, differed, share, error, failed, skipped } = shadow;
  const { meanDifference, leastDifference, mostDifference } = shadow;
  const name = bold(`Shadow ${controller}`);
  if (ticks === 0) line(io, name, ` has not been compared yet`);
  else {
    line(
      io,
      name,
      ` differs on ${differed} of ${counted(ticks, "tick")} (${percent(share)} %): ` +
        `${signed(meanDifference)} workers on average, ` +
        `${signed(leastDifference)} to ${signed(mostDifference)}`,
    );
    line(io, `  ${shadow.sentence}`);
    line(io, `  ${shadow.liveSentence}`);
  }
  if (error !== undefined) line(io, `  It fails (${counted(failed, "tick")} so far): ${error}`);
  if (skipped > 0) line(io, `  It is slow: ${counted(skipped, "tick")} went by without it`);
}

function percent(share: number): string {
  return String(Number((share * 100).toFixed(1)));
}

function signed(value: number): string {
  return value > 0 ? `+${value}` : String(value);
}

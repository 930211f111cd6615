/**
 * Cells of the tables of pools and lanes.
 *
 * @module
 */

/** @jsxImportSource hono/jsx */

import type { FC } from "hono/jsx";
import { aimOf, isOverTarget } from "../../explain/diagnose.ts";
import { duration, rate } from "../../base/format.ts";
import type { LaneView, Summary, WindowStats } from "../../contract/view.ts";
import { WaitBar } from "./bars.tsx";

/** One figure with its name. */
export function Fact(
  { name, text, bad }: { name: string; text: string; bad?: boolean },
): ReturnType<FC> {
  return (
    <div class="fact">
      <dt>{name}</dt>
      <dd class={bad === true ? "late" : undefined}>{text}</dd>
    </div>
  );
}

/** The oldest wait of a lane against its target. */
export function OldestCell({ lane }: { lane: LaneView }): ReturnType<FC> {
  const late = isOverTarget(lane);
  const target = aimOf(lane) ?? "no target";
  return (
    <td class={late ? "late" : undefined}>
      {duration(lane.oldestWaitMs)}
      {late && ", over"}
      <span class="soft">
        {late || lane.targetWaitMs === null ? ` ${target}` : ` of ${target}`}
      </span>
      <WaitBar lane={lane} />
    </td>
  );
}

/** What came in, was done, failed and was shed, and how long it took: of the last window. */
export function WindowCells({ window }: { window: WindowStats }): ReturnType<FC> {
  return (
    <>
      <td>{rate(window.arrivalsPerSec)}</td>
      <td>{rate(window.completionsPerSec)}</td>
      <RateCell perSec={window.failuresPerSec} />
      <RateCell perSec={window.shedPerSec} />
      <td class="wide">{quantiles(window.waitMs)}</td>
      <td class="wide">{quantiles(window.serviceMs)}</td>
    </>
  );
}

const RateCell: FC<{ perSec: number }> = ({ perSec }) => (
  <td class={perSec > 0 ? "wide late" : "wide"}>{rate(perSec)}</td>
);

function quantiles(summary: Summary | undefined): string {
  return summary === undefined ? "-" : `${duration(summary.p50)} / ${duration(summary.p95)}`;
}

/**
 * Small pictures beside figures: bars of workers, and of a wait against its target. Drawn as SVG, since the
 * policy of the pages allows no style in elements. The figures beside them say the same.
 *
 * @module
 */

/** @jsxImportSource hono/jsx */

import type { FC } from "hono/jsx";
import type { PoolSnapshot } from "../../runtime/handles.ts";
import type { LaneView } from "../../contract/view.ts";

const WIDTH = 72;
const HEIGHT = 6;

/** Busy, live and allowed workers. */
export function WorkersBar({ pool }: { pool: PoolSnapshot }): ReturnType<FC> {
  const most = Math.max(pool.live, Number.isFinite(pool.limit) ? pool.limit : pool.size.max, 1);
  return (
    <Bar>
      <rect class="bar-live" width={part(pool.live, most)} height={HEIGHT} rx="2" />
      <rect class="bar-busy" width={part(pool.busy, most)} height={HEIGHT} rx="2" />
    </Bar>
  );
}

/** The oldest wait; the target is the tick two thirds of the way. */
export function WaitBar({ lane }: { lane: LaneView }): ReturnType<FC> {
  const { targetWaitMs, oldestWaitMs } = lane;
  if (targetWaitMs === null || targetWaitMs === 0) return <Bar />;
  const most = targetWaitMs * 1.5;
  const isOver = oldestWaitMs > targetWaitMs;
  return (
    <Bar>
      <rect
        class={isOver ? "bar-over" : "bar-wait"}
        width={part(Math.min(oldestWaitMs, most), most)}
        height={HEIGHT}
        rx="2"
      />
      <rect class="bar-target" x={part(targetWaitMs, most)} width="2" height={HEIGHT} />
    </Bar>
  );
}

const Bar: FC = ({ children }) => (
  <svg
    class="gauge"
    width={WIDTH}
    height={HEIGHT}
    viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
    aria-hidden="true"
  >
    <rect class="bar-room" width={WIDTH} height={HEIGHT} rx="2" />
    {children}
  </svg>
);

function part(value: number, most: number): string {
  return (WIDTH * value / most).toFixed(1);
}

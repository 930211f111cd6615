/**
 * What a pool does over time, in bounded memory.
 *
 * @module
 */

import { thousandths } from "../base/format.ts";
import { nice } from "./nice.ts";
import type { SeriesReport } from "./report.ts";

/** What is seen of one lane at the end of a stretch of time. */
export interface LanePoint {
  /** Jobs that arrived meanwhile. */
  readonly arrived: number;
  /** Jobs done meanwhile. */
  readonly done: number;
  /** Jobs that died meanwhile. */
  readonly dead: number;
  /** Jobs rejected or dropped meanwhile. */
  readonly shed: number;
  /** The longest wait of a ready job meanwhile, ms. `null`: no process saw it. */
  readonly ageMs: number | null;
}

/** What is seen of a pool at the end of a stretch of time. */
export interface SeriesPoint {
  /** Fewest workers allowed. `null`: no process is alive. */
  readonly min: number | null;
  /** Most workers allowed. `null`: no process is alive. */
  readonly limit: number | null;
  /** By lane, in config order. */
  readonly lanes: readonly LanePoint[];
}

/** About how many samples a run has that takes as long as planned. */
const USUAL = 240;

/** With this many, two become one. Even. */
const MOST = 480;

/** Stretches are not shorter, ms. */
const LEAST_MS = 10;

/** Keeps samples at equal distances, which double when there are too many. */
export class Series {
  #bucketMs: number;
  #samples: SeriesPoint[] = [];
  #untilMs = 0;

  /** @param spanMs How long the run is planned to take. */
  constructor(spanMs: number) {
    this.#bucketMs = Math.max(LEAST_MS, nice(spanMs / USUAL));
  }

  /** When the next sample is due, ms since the beginning. */
  get dueMs(): number {
    return (this.#samples.length + 1) * this.#bucketMs;
  }

  /** Takes a sample that is due. */
  add(sample: SeriesPoint): void {
    this.#untilMs = this.dueMs;
    this.#samples.push(sample);
    if (this.#samples.length < MOST) return;
    this.#samples = this.#samples.flatMap((second, index, all) =>
      index % 2 === 1 ? [merged(all[index - 1]!, second)] : []
    );
    this.#bucketMs *= 2;
  }

  /** Takes what came after the last sample: a shorter stretch, or the very end of that one. */
  finish(nowMs: number, sample: SeriesPoint): void {
    const last = nowMs > this.#untilMs ? undefined : this.#samples.pop();
    this.#samples.push(last === undefined ? sample : merged(last, sample));
    this.#untilMs = Math.max(nowMs, this.#untilMs);
  }

  /** All of it, a list for each figure. */
  report(
    lanes: readonly { readonly name: string; readonly targetWaitMs: number | null }[],
  ): SeriesReport {
    const samples = this.#samples;
    const byLane = lanes.map(({ name, targetWaitMs }, index) => {
      const own = samples.map((sample) => sample.lanes[index]!); // one of each lane
      return [name, {
        targetWaitMs,
        arrived: own.map(({ arrived }) => arrived),
        done: own.map(({ done }) => done),
        dead: own.map(({ dead }) => dead),
        shed: own.map(({ shed }) => shed),
        ageMs: own.map(({ ageMs }) => ageMs === null ? null : thousandths(ageMs)),
      }] as const;
    });
    return {
      bucketMs: this.#bucketMs,
      untilMs: thousandths(this.#untilMs),
      min: samples.map(({ min }) => min),
      limit: samples.map(({ limit }) => limit),
      lanes: Object.fromEntries(byLane),
    };
  }
}

function merged(first: SeriesPoint, second: SeriesPoint): SeriesPoint {
  return {
    min: second.min ?? first.min,
    limit: second.limit ?? first.limit,
    lanes: second.lanes.map((lane, index) => {
      const before = first.lanes[index]!; // both have all lanes
      return {
        arrived: before.arrived + lane.arrived,
        done: before.done + lane.done,
        dead: before.dead + lane.dead,
        shed: before.shed + lane.shed,
        ageMs: longest(before.ageMs, lane.ageMs),
      };
    }),
  };
}

function longest(a: number | null, b: number | null): number | null {
  return a === null || b === null ? a ?? b : Math.max(a, b);
}

/**
 * Load on a real pool on a virtual clock, for scenarios of the diagnosis.
 *
 * @module
 */

import type { Finding } from "../../../src/explain/diagnose.ts";
import { randomStream } from "../../../src/base/random.ts";
import { VirtualClock } from "../../../src/time/virtual_clock.ts";
import { type PoolParts, sleeper, type Virtual, withPool } from "../../_virtual.ts";

/** Jobs of one lane. */
export interface Stream {
  /** Name of the lane. */
  readonly lane: string;
  /** Jobs per second at a time, ms since the start. */
  readonly perSec: number | ((atMs: number) => number);
  /** Run time of the job that starts to wait at a time, ms. @default {20} */
  readonly serviceMs?: number | ((atMs: number, random: () => number) => number);
  /** Key of its jobs. Omitted: none. */
  readonly key?: string;
  /** Times between arrivals vary as at random. @default {false} */
  readonly poisson?: boolean;
}

/** What a scenario is. */
export interface Scenario {
  /** Parts of the pool: lanes `high` and `low` unless given. */
  readonly pool: PoolParts;
  /** Its jobs. */
  readonly streams: readonly Stream[];
  /** How long it lasts, ms. */
  readonly forMs: number;
  /** Jobs of 200 ms that stand in lane `low` from the start. @default {0} */
  readonly backlog?: number;
}

/** Plays a scenario on a real pool and answers what the pool says of itself at the end. */
export async function diagnosisOf(scenario: Scenario): Promise<readonly Finding[]> {
  let found: readonly Finding[] = [];
  await played(scenario, ({ pool }) => {
    found = pool.diagnosis();
  });
  return found;
}

/** Plays a scenario, then looks. */
export async function played(
  { pool: parts, streams, forMs, backlog = 0 }: Scenario,
  look: (virtual: Virtual) => void | Promise<void>,
): Promise<void> {
  const clock = new VirtualClock();
  const handler = sleeper(() => clock);
  await withPool({ handler, ...parts }, async (virtual) => {
    for (let count = 0; count < backlog; count++) virtual.pool.post({ lane: "low", payload: 200 });
    streams.forEach((stream, index) => arrive(virtual, { stream, index, forMs }));
    await clock.advance(forMs);
    await look(virtual);
  }, { clock });
}

/** Codes with their lanes, for comparison: `at-capacity` or `lane-starved low`. */
export function codesOf(findings: readonly Finding[]): readonly string[] {
  return findings.map(({ code, lane }) => lane === undefined ? code : `${code} ${lane}`);
}

function arrive(
  { clock, pool }: Virtual,
  { stream, index, forMs }: {
    readonly stream: Stream;
    readonly index: number;
    readonly forMs: number;
  },
): void {
  const { lane, perSec, serviceMs = 20, poisson = false, key } = stream;
  const keyed = key === undefined ? {} : { key };
  const random = randomStream(1, `load/${index}`);
  const startMs = clock.nowMs();
  const next = (afterMs: number): void => {
    const rate = typeof perSec === "number" ? perSec : perSec(afterMs);
    const gapMs = rate > 0 ? (poisson ? -Math.log(1 - random()) : 1) * 1000 / rate : 100;
    const atMs = afterMs + gapMs;
    if (atMs >= forMs) return;
    clock.at(startMs + atMs, () => {
      const payload = typeof serviceMs === "number" ? serviceMs : serviceMs(atMs, random);
      if (rate > 0) void pool.enqueue({ lane, payload, ...keyed }).catch(() => {}); // some are rejected
      next(atMs);
    });
  };
  next(0);
}

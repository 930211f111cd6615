/**
 * What a pool runs with: its numbers and its lanes', defaults filled in.
 *
 * @module
 */

/** @jsxImportSource hono/jsx */

import type { FC } from "hono/jsx";
import { duration } from "../../base/format.ts";
import type { LaneSettings, PoolSettings } from "../../config/settings.ts";

/** The numbers of a pool and of its lanes. Nothing without one. */
export function Effective(
  { settings }: { settings: PoolSettings | undefined },
): ReturnType<FC> {
  if (settings === undefined) return null;
  const { name, size, tickMs, leaseMs, timeoutMs, drainMs, keep, lanes } = settings;
  const numbers: readonly (readonly [string, string])[] = [
    ["size", `${size.min} to ${size.max}`],
    ["tickMs", time(tickMs)],
    ["timeoutMs", time(timeoutMs)],
    ["drainMs", time(drainMs)],
    ["leaseMs", time(leaseMs)],
    ["keep", `${count(keep.done)} done, ${count(keep.dead)} dead, for ${time(keep.forMs)}`],
  ];
  return (
    <>
      <dl class="numbers">
        {numbers.map(([key, text]) => (
          <div>
            <dt>{key}</dt>
            <dd>{text}</dd>
          </div>
        ))}
      </dl>
      <div class="scroll" tabindex={0} role="region" aria-label={`Lanes of pool ${name}`}>
        <table>
          <thead>
            <tr>
              <th scope="col">Lane</th>
              {Object.keys(COLUMNS).map((key) => <th scope="col">{key}</th>)}
            </tr>
          </thead>
          <tbody>
            {lanes.map((lane) => (
              <tr>
                <th scope="row">{lane.name}</th>
                {Object.values(COLUMNS).map((text) => <td>{text(lane)}</td>)}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}

/** Keys of a lane as the config has them, and their values in words: no key can be forgotten. */
const COLUMNS: Readonly<
  Record<keyof Omit<LaneSettings, "name" | "expect">, (lane: LaneSettings) => string>
> = {
  targetWaitMs: ({ targetWaitMs }) => targetWaitMs === null ? "no target" : time(targetWaitMs),
  deadlineMs: ({ deadlineMs }) => deadlineMs === undefined ? "none" : time(deadlineMs),
  maxDepth: ({ maxDepth }) => count(maxDepth),
  maxRunning: ({ maxRunning }) => count(maxRunning),
  maxRunningPerKey: ({ maxRunningPerKey }) => count(maxRunningPerKey),
  ttlMs: ({ ttlMs }) => time(ttlMs),
  attempts: ({ attempts }) => count(attempts),
  backoff: ({ backoff }) => `${time(backoff.baseMs)} to ${time(backoff.maxMs)}`,
  weight: ({ weight }) => String(weight),
  paused: ({ paused }) => paused ? "yes" : "no",
};

function time(ms: number): string {
  return Number.isFinite(ms) ? duration(ms) : "no limit";
}

function count(most: number): string {
  return Number.isFinite(most) ? String(most) : "no limit";
}

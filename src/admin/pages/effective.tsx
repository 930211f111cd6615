/**
 * What a pool runs with: its numbers and its lanes', defaults filled in.
 *
 * @module
 */

/** @jsxImportSource hono/jsx */

import type { FC } from "hono/jsx";
import { duration } from "../../base/format.ts";
import type { LaneSettings, PoolSettings } from "../../config/settings.ts";
import { laneShape } from "../../config/shape.ts";

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
    ...Object.entries(settings.timeoutMsByType).map(([type, ms]) =>
      [`timeoutMs of ${type}`, time(ms)] as const
    ),
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
              {COLUMNS.map((key) => <th scope="col">{key}</th>)}
            </tr>
          </thead>
          <tbody>
            {lanes.map((lane) => (
              <tr>
                <th scope="row">{lane.name}</th>
                {COLUMNS.map((key) => <td>{shown(key, lane[key])}</td>)}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}

/** Keys of a lane in the order of its shape. What only `check` reads is left out. */
const COLUMNS = Object.keys(laneShape.entries)
  .filter((key): key is Column => key !== "name" && key !== "expect");

type Column = Exclude<keyof LaneSettings, "name" | "expect">;

/** A value of a key in words. */
function shown(key: string, value: unknown): string {
  if (value === undefined) return key === "timeoutMs" ? "the pool's" : "none";
  if (value === null) return "no target"; // no other key may be null
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (typeof value === "number") return key.endsWith("Ms") ? time(value) : count(value);
  if (typeof value === "string") return value;
  if (Array.isArray(value)) return value.map((own) => shown(key, own)).join("; ");
  return Object.entries(value).map(([part, own]) => `${part} ${shown(part, own)}`).join(", ");
}

function time(ms: number): string {
  return Number.isFinite(ms) ? duration(ms) : "no limit";
}

function count(most: number): string {
  return Number.isFinite(most) ? String(most) : "no limit";
}

/**
 * The schedules of a pool: what is there, checked.
 *
 * @module
 */

import { isTimezone, readCron } from "../base/cron.ts";
import { messageOf } from "../contract/errors.ts";
import type { ScheduleSettings } from "./settings.ts";
import { quoted, suggestion } from "../base/suggest.ts";
import { type Checked, type CheckedInPool, checkShape } from "./check.ts";
import { display, isRecord } from "./faults.ts";
import { LONGEST_CRON, scheduleShape } from "./shape.ts";

/** Checks the schedules of a pool. Those with faults are left out. */
export function checkSchedules(raw: unknown, place: CheckedInPool): readonly ScheduleSettings[] {
  const { path, faults } = place;
  const seen = new Map<string, number>();
  return (Array.isArray(raw) ? raw : []).flatMap((given: unknown, index) => {
    const here = { ...place, path: [...path, index] };
    const shape = checkShape(scheduleShape, given, here);
    if (!isRecord(given)) return [];
    checkTimes(given, here);
    checkPlace(given, here);
    if (shape === undefined) return [];
    const { type = "", cron, everyMs } = shape;
    const schedule = { ...shape, type, cron, everyMs };
    const { lane, timezone, payload } = shape;
    const text = JSON.stringify([lane, type, cron ?? everyMs, timezone, payload]); // what tells them apart
    const first = seen.get(text);
    if (first === undefined) seen.set(text, index);
    else faults.add(here.path, `Expected a schedule of its own but schedule ${first} is the same`);
    return [schedule];
  });
}

function checkTimes(given: Readonly<Record<string, unknown>>, place: CheckedInPool): void {
  const { path, faults } = place;
  const { cron, everyMs } = given;
  if (cron === undefined && everyMs === undefined) {
    faults.add(path, 'Expected the key "cron" or "everyMs" but both are missing: when it comes');
  } else if (everyMs !== undefined && cron !== undefined) {
    const message = 'Expected either "cron" or "everyMs" but received both: remove one';
    faults.add([...path, "everyMs"], message, { at: "key" });
  } else if (everyMs !== undefined && given.timezone !== undefined) {
    const message = 'Expected no timezone beside "everyMs": an interval has none, so remove it';
    faults.add([...path, "timezone"], message, { at: "key" });
  }
  checkCron(given, place);
}

/** Checks a cron text, as far as it is one, and its time zone. */
export function checkCron(
  { cron, timezone = "UTC" }: Readonly<Record<string, unknown>>,
  { path, faults }: Checked,
): void {
  const isZone = typeof timezone === "string" && isTimezone(timezone);
  if (typeof timezone === "string" && timezone !== "" && !isZone) {
    const message = `Expected a time zone such as "UTC" or "Europe/Berlin" but received ${
      display(timezone)
    }`;
    faults.add([...path, "timezone"], message);
  }
  if (typeof cron !== "string" || cron === "" || cron.length > LONGEST_CRON) return;
  const at = [...path, "cron"];
  try {
    const first = readCron(cron, isZone ? timezone : "UTC").next(0);
    if (first !== undefined) return;
    faults.add(
      at,
      `Expected times that exist but received ${display(cron)}: there is no such date`,
    );
  } catch (thrown) {
    const why = messageOf(thrown);
    faults.add(
      at,
      `Expected a cron text such as "0 4 * * *" but received ${display(cron)}: ${why}`,
    );
  }
}

/** Checks that a job may go to that lane, with that type. */
export function checkPlace(
  { lane, type }: Readonly<Record<string, unknown>>,
  { path, faults, lanes, types }: CheckedInPool,
): void {
  if (typeof lane === "string" && lane !== "" && !lanes.has(lane)) {
    faults.add([...path, "lane"], () => `No lane is named "${lane}"${suggestion(lane, lanes)}`);
  }
  const isOnly = types.size === 0;
  if (isOnly && type !== undefined) {
    faults.add([...path, "type"], "Expected no type but the pool has one handler: remove it");
  } else if (!isOnly && (typeof type !== "string" || !types.has(type))) {
    const message = () =>
      type === undefined
        ? `Expected the key "type" but it is missing: one of ${quoted(types)}`
        : `No handler is named ${display(type)}${suggestion(String(type), types)}`;
    faults.add([...path, "type"], message);
  }
}

/**
 * Half a page on a pool for a chat: what is wrong, figures, decisions, errors, commands.
 *
 * @module
 */

import { duration, rate } from "../../base/format.ts";
import { shellWord } from "../../base/shell_word.ts";
import { visible } from "../../base/escape.ts";
import type { Decision } from "../../contract/decision.ts";
import { whyOf } from "../../explain/reason.ts";
import type { PoolHandle } from "../../runtime/handles.ts";
import { isoTime } from "../../time/iso_time.ts";
import type { FailureGroupJson, FailuresJson } from "../http/wire_failures.ts";
import type { PoolJson } from "../http/wire.ts";
import type { AdminContext } from "./context.ts";
import { poolJson } from "./pools.ts";

/** Decisions that a report has. */
export const REPORTED = 5;

/** Errors that it has. */
const ERRORS = 3;

/** The report of a pool: Markdown, times in UTC. */
export async function reportOf(handle: PoolHandle, context: AdminContext): Promise<string> {
  const failures = await context.failures.soon(handle, context.sluice.pools.length);
  return reportText(poolJson(handle), handle.explain(REPORTED), failures);
}

/** The report of a pool. `failures` undefined: why jobs are dead is not known in time. */
export function reportText(
  pool: PoolJson,
  decisions: readonly Decision[],
  failures: FailuresJson | undefined,
): string {
  const codes = [...new Set(pool.diagnosis.map(({ code }) => code))];
  const state = pool.stopped ? "stopped" : codes.join(", ") || "nothing is wrong";
  const errors = failures?.groups.slice(0, ERRORS) ?? [];
  return [
    `### ${plain(pool.pool)}: ${state}`,
    `${isoTime(pool.nowMs)}. ${plain(whyOf(pool))}.`,
    ...pool.diagnosis.map(({ code, saw, change }) =>
      `- **${code}**: ${plain(saw)}. Change: ${plain(change)}.`
    ),
    "",
    figuresOf(pool),
    "",
    "Last decisions:",
    ...decisions.map(({ atMs, from, to, boundBy, sentence }) =>
      `- ${isoTime(atMs)} ${from} -> ${to}, bound by ${plain(boundBy)}: ${plain(sentence)}`
    ),
    ...(errors.length === 0 ? [] : ["", "Top errors of dead jobs:", ...errors.map(errorLine)]),
    "",
    "```sh",
    ...["explain", "doctor", "jobs ls", "dlq ls"].map((verb) =>
      `sluice ${verb} ${shellWord(pool.pool)}`
    ),
    "```",
    "",
  ].join("\n");
}

function figuresOf({ busy, live, limit, target, size, lanes, window, jobs }: PoolJson): string {
  const oldest = Math.max(0, ...lanes.map(({ oldestWaitMs }) => oldestWaitMs));
  const dead = jobs.dead === undefined ? "" : `, ${jobs.dead} dead`;
  return [
    `Workers ${busy}/${live}${limit === null ? "" : ` of ${limit}`}`,
    `target ${target} (${size.min} to ${size.max})`,
    `${jobs.ready} ready${dead}`,
    `oldest wait ${duration(oldest)}`,
    `in ${rate(window.arrivalsPerSec)}/s`,
    `done ${rate(window.completionsPerSec)}/s`,
    `failed ${rate(window.failuresPerSec)}/s`,
    `shed ${rate(window.shedPerSec)}/s`,
  ].join(" · ");
}

function errorLine({ group, count, firstAtMs, lastAtMs }: FailureGroupJson): string {
  return `- ${count}x \`${plain(group)}\`, ${isoTime(firstAtMs)} to ${isoTime(lastAtMs)}`;
}

/** A text within a line of Markdown. */
function plain(text: string): string {
  return visible(text).replaceAll(/\s+/g, " ").replaceAll("`", "'");
}

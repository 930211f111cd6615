/**
 * What a reload changes, in lines to read.
 *
 * @module
 */

import { counted } from "../base/format.ts";
import type { ConfigChange } from "../contract/event.ts";
import type { ReloadReport } from "../runtime/handles.ts";
import type { Io } from "./io.ts";
import { bold, line, red } from "./print.ts";

/** Writes what has changed, or would, slot by slot. */
export function printChanges(io: Io, { changes, stale, dryRun }: ReloadReport): void {
  const refused = changes.filter((change) => change.refused);
  if (changes.length === 0) line(io, dryRun ? "Nothing would change" : "Nothing has changed");
  else line(io, `${counted(changes.length, "change")}${summaryOf(refused.length, dryRun)}`);
  for (const change of changes) {
    const kind = change.refused ? red("refused") : change.change;
    line(io, "  ", kind, " ", bold(change.pointer), detailsOf(change));
    line(io, `    ${change.effect}`);
  }
  for (const module of stale) {
    line(
      io,
      `The file of "${module}" has changed, but modules are loaded once: restart to run the new code`,
    );
  }
}

function summaryOf(refused: number, dryRun: boolean): string {
  if (!dryRun) return "";
  if (refused === 0) return ", none made: this is what a reload would do";
  return `, none made: a reload would be refused for ${refused} of them`;
}

function detailsOf({ change, lane, from, to }: ConfigChange): string {
  const about = lane === undefined ? "" : ` (lane "${lane}")`;
  if (change === "renewed") return `${about}: ${shown(to)}`;
  if (change === "moved") return `${about}: place ${shown(from)} -> ${shown(to)}`;
  if (from === undefined && to === undefined) return about;
  if (change === "added") return `${about}: ${shown(to)}`;
  if (change === "removed") return `${about}: ${shown(from)}`;
  return `${about}: ${shown(from)} -> ${shown(to)}`;
}

function shown(value: unknown): string {
  if (value === undefined) return "none";
  return typeof value === "string" ? value : JSON.stringify(value);
}

/**
 * Output: tables, times, JSON.
 *
 * @module
 */

import { grouped } from "../figures.ts";
import { visible } from "../visible.ts";
import type { Io } from "./io.ts";

/** Writes one line. What a terminal would obey is shown instead, but for the styles of this file. */
export function line(io: Io, text = ""): void {
  const parts = io.color ? text.split(STYLES) : [text];
  io.out(`${parts.map((part) => STYLES.test(part) ? part : visible(part)).join("")}\n`);
}

/** What `bold` and `red` write. */
// deno-lint-ignore no-control-regex -- the escapes are its own
const STYLES = /(\x1b\[(?:1|22|31|39)m)/;

/** Writes a value as JSON. */
export function json(io: Io, value: unknown): void {
  line(io, JSON.stringify(value, null, 2));
}

/** Writes rows below a head, columns aligned: text to the left, figures to the right. */
export function table(io: Io, head: readonly string[], rows: readonly (readonly Cell[])[]): void {
  const [title = "", ...lines] = tableLines(head, rows);
  line(io, bold(io, title));
  for (const text of lines) line(io, text);
}

/** The lines of a table, its head first. */
export function tableLines(
  head: readonly string[],
  rows: readonly (readonly Cell[])[],
): readonly string[] {
  const texts = rows.map((row) =>
    row.map((cell) => typeof cell === "number" ? grouped(cell) : visible(cell))
  );
  const widths = head.map((title, column) =>
    Math.max(title.length, ...texts.map((row) => row[column]?.length ?? 0))
  );
  const isFigure = head.map((_, column) =>
    rows.every((row) => typeof row[column] === "number" || row[column] === "-")
  );
  const render = (row: readonly string[]): string =>
    row.map((text, column) => {
      const width = widths[column] ?? 0;
      return isFigure[column] ? text.padStart(width) : text.padEnd(width);
    }).join("  ").trimEnd();
  return [head, ...texts].map(render);
}

/** What stands in a table. */
export type Cell = string | number;

/** Bold, where colors are allowed. */
export function bold(io: Io, text: string): string {
  return io.color ? `\x1b[1m${text}\x1b[22m` : text;
}

/** Red, where colors are allowed. */
export function red(io: Io, text: string): string {
  return io.color ? `\x1b[31m${text}\x1b[39m` : text;
}

/** Latest time that a date can say, ms. A store may hold a later one. */
const LAST_MS = 8.64e15;

/** A time as ISO text. */
export function time(atMs: number): string {
  return atMs > LAST_MS ? "never" : new Date(atMs).toISOString();
}

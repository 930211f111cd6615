/**
 * Output: tables, times, JSON.
 *
 * @module
 */

import { grouped } from "../base/format.ts";
import { visible } from "../base/escape.ts";
import type { Io } from "./io.ts";

/** An emphasized part of a line, where colors are allowed. */
export interface Styled {
  /** What is there. */
  readonly text: string;
  /** How it is shown. */
  readonly style: "bold" | "dim" | "red" | "yellow" | "green" | "inverse";
}

/** What begins and ends a style. */
const STYLES: Readonly<Record<Styled["style"], readonly [string, string]>> = {
  bold: ["\x1b[1m", "\x1b[22m"],
  dim: ["\x1b[2m", "\x1b[22m"],
  red: ["\x1b[31m", "\x1b[39m"],
  yellow: ["\x1b[33m", "\x1b[39m"],
  green: ["\x1b[32m", "\x1b[39m"],
  inverse: ["\x1b[7m", "\x1b[27m"],
};

/** Writes one line. What a terminal would obey is shown instead. */
export function line(io: Io, ...parts: readonly (string | Styled)[]): void {
  io.out(`${parts.map((part) => shown(io, part)).join("")}\n`);
}

/** Writes one line to standard error, as `line` does. */
export function note(io: Io, text: string): void {
  io.err(`${visible(text)}\n`);
}

/** Writes a text that is a file of its own, such as a scenario. In JSON it means the same. */
export function whole(io: Io, text: string): void {
  io.out(visible(text));
}

/** A part as it is written. */
export function shown(io: Io, part: string | Styled): string {
  if (typeof part === "string") return visible(part);
  const [begin, end] = io.color ? STYLES[part.style] : ["", ""];
  return `${begin}${visible(part.text)}${end}`;
}

/** Writes a value as JSON. */
export function json(io: Io, value: unknown): void {
  line(io, JSON.stringify(value, null, 2));
}

/** Writes rows below a head, columns aligned: text to the left, figures to the right. */
export function table(io: Io, head: readonly string[], rows: readonly (readonly Cell[])[]): void {
  const [title = "", ...lines] = tableLines(head, rows);
  line(io, bold(title));
  for (const text of lines) line(io, text);
}

/** The lines of a table, its head first. */
function tableLines(
  head: readonly string[],
  rows: readonly (readonly Cell[])[],
): readonly string[] {
  return tableCells(head, rows).map((row) => row.join("  ").trimEnd());
}

/** The cells of a table, its head first: those of a column are of one length. */
export function tableCells(
  head: readonly string[],
  rows: readonly (readonly Cell[])[],
): readonly (readonly string[])[] {
  const texts = rows.map((row) =>
    row.map((cell) => typeof cell === "number" ? grouped(cell) : inLine(cell))
  );
  const widths = head.map((title, column) =>
    Math.max(title.length, ...texts.map((row) => row[column]?.length ?? 0))
  );
  const isFigure = head.map((_, column) =>
    rows.every((row) => typeof row[column] === "number" || row[column] === "-")
  );
  return [head, ...texts].map((row) =>
    row.map((text, column) => {
      const width = widths[column] ?? 0;
      return isFigure[column] ? text.padStart(width) : text.padEnd(width);
    })
  );
}

/** What is in a table. */
export type Cell = string | number;

/** A text without anything that would break its line. */
export function inLine(text: string): string {
  return visible(text).replace(/[\n\t]+/g, " ");
}

/** Bold, where colors are allowed. */
export function bold(text: string): Styled {
  return { text, style: "bold" };
}

/** Red, where colors are allowed. */
export function red(text: string): Styled {
  return { text, style: "red" };
}

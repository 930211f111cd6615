/**
 * Tables that fit a width: columns that matter least are left out, then names are shortened.
 *
 * @module
 */

import { middleOut } from "../base/middle_out.ts";
import type { Io } from "./io.ts";
import { bold, type Cell, inLine, line, type Styled, tableCells } from "./print.ts";

/** A column of a table. */
export interface Column<Row> {
  /** Its head. */
  readonly title: string;
  /** The higher, the sooner it is left out. 0: it stays. */
  readonly rank: number;
  /** What it says of a row. */
  cell(row: Row): Cell;
  /** The same in fewer characters, for where the width is short. @default {as it is} */
  short?(row: Row): Cell;
  /** True: where the width is short, what it says is on lines of its own below the row. @default {false} */
  readonly below?: true;
  /** How that is shown. @default {as it is} */
  style?(row: Row): Styled["style"] | undefined;
}

/** A table that fits. */
export interface Folded {
  /** Its head. */
  readonly head: string;
  /** Its rows, in parts. */
  readonly rows: readonly (readonly (string | Styled)[])[];
  /** Heads of columns that were left out. */
  readonly left: readonly string[];
}

/** Fewest characters that a name in the first column is shortened to. */
const LEAST_NAME = 8;

const GAP = "  ";

/** Lays rows out within a width, in characters. `Infinity`: as wide as they are. */
export function fold<Row>(
  all: readonly Column<Row>[],
  given: readonly Row[],
  width = Infinity,
): Folded {
  let columns = all;
  let cells = cellsOf(columns, given);
  if (widthOf(cells) > width) {
    columns = all.map((column) => ({ ...column, cell: column.short ?? column.cell }));
    cells = cellsOf(columns, given);
  }
  while (widthOf(cells) > width) {
    const rank = Math.max(...columns.map((column) => column.rank));
    if (rank === 0) break;
    const last = columns.findLastIndex((column) => column.rank === rank);
    columns = columns.toSpliced(last, 1);
    cells = cellsOf(columns, given);
  }
  const over = widthOf(cells) - width;
  if (over > 0) {
    const most = Math.max(LEAST_NAME, (cells[0]?.[0]?.length ?? 0) - over);
    cells = cellsOf(columns, given, most);
  }
  const [head = [], ...rows] = cells;
  return {
    head: head.join(GAP).trimEnd(),
    rows: rows.map((row, index) => partsOf(row, columns, given[index]!)), // one for each
    left: all.map(({ title }) => title).filter((title) =>
      !columns.some((column) => column.title === title)
    ),
  };
}

/** Prints a table, folded to the terminal. */
export function showTable<Row>(
  io: Io,
  columns: readonly Column<Row>[],
  rows: readonly Row[],
): void {
  const width = io.columns();
  const isWide = widthOf(cellsOf(columns, rows)) <= width;
  const below = isWide ? [] : columns.filter((column) => column.below);
  const beside = columns.filter((column) => !below.includes(column));
  const { head, rows: lines, left } = fold(beside, rows, width);
  line(io, bold(head));
  lines.forEach((parts, index) => {
    line(io, ...parts);
    for (const { cell } of below) prose(io, `  ${cell(rows[index]!)}`); // there is a line for each
  });
  if (left.length > 0) {
    line(io, { text: `Left out for the width: ${left.join(", ")}`, style: "dim" });
  }
}

/** Writes a text within the terminal, broken at spaces. */
export function prose(io: Io, text: string): void {
  if (text.trim() === "") return;
  const indent = " ".repeat(text.search(/\S/) + 2);
  for (const part of wrap(text, io.columns(), indent)) line(io, part);
}

/** A text in lines of a width: at spaces, all but the first behind an indent. */
export function wrap(text: string, width: number, indent = "  "): readonly string[] {
  const lines: string[] = [];
  const whole = inLine(text);
  let line = /^ */.exec(whole)?.[0] ?? "";
  for (const word of whole.trimStart().split(" ")) {
    const longer = line.trim() === "" ? line + word : `${line} ${word}`;
    if (longer.length > width && line.trim() !== "") {
      lines.push(line);
      line = indent + word;
    } else line = longer;
  }
  return [...lines, line];
}

function cellsOf<Row>(
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  mostOfFirst = Infinity,
): readonly (readonly string[])[] {
  return tableCells(
    columns.map(({ title }) => title),
    rows.map((row) =>
      columns.map(({ cell }, index) => {
        const value = cell(row);
        return index > 0 || typeof value === "number"
          ? value
          : middleOut(inLine(value), mostOfFirst);
      })
    ),
  );
}

function widthOf([head = []]: readonly (readonly string[])[]): number {
  return head.reduce((sum, text) => sum + text.length, 0) + GAP.length * (head.length - 1);
}

function partsOf<Row>(
  cells: readonly string[],
  columns: readonly Column<Row>[],
  row: Row,
): readonly (string | Styled)[] {
  return cells.flatMap((text, index) => {
    const gap = index === 0 ? [] : [GAP];
    const style = columns[index]?.style?.(row);
    const shown = index === cells.length - 1 ? text.trimEnd() : text;
    return [...gap, style === undefined ? shown : { text: shown, style }];
  });
}

/**
 * Reads the README's parts, for the tests that hold it to the code.
 *
 * @module
 */

import { ROOT } from "./_source.ts";

/** A block of code. */
export interface Block {
  /** What stands after the opening fence: `ts`, `ts ignore`, `json`, … */
  readonly info: string;
  /** Its text. */
  readonly text: string;
}

/** The README as it is. */
export const README: string = await Deno.readTextFile(new URL("README.md", ROOT));

/** What stands below a heading, up to the next one. @throws {RangeError} If there is no such heading. */
export function section(heading: string): string {
  const lines = README.split("\n");
  const start = lines.findIndex((line) => line.startsWith("#") && plain(line) === heading);
  if (start < 0) throw new RangeError(`The README has no heading "${heading}"`);
  const rest = lines.slice(start + 1);
  let isCode = false;
  const end = rest.findIndex((line) => {
    if (line.startsWith("```")) isCode = !isCode;
    return !isCode && /^#+ /.test(line);
  });
  return (end < 0 ? rest : rest.slice(0, end)).join("\n");
}

/** Rows of the tables in a text, without heads. Cells are trimmed. */
export function rowsIn(text: string): readonly (readonly string[])[] {
  const rows = text.split("\n").filter((line) => line.startsWith("|"))
    .map((line) => line.slice(1, line.lastIndexOf("|")).split("|").map((cell) => cell.trim()));
  return rows.filter((_, index) => !isRule(rows[index]) && !isRule(rows[index + 1]) // a head stands above its rule
  );
}

/** All code between single backticks in a text. */
export function codesIn(text: string): readonly string[] {
  return [...text.matchAll(/`([^`]+)`/g)].map(([, code = ""]) => code);
}

/** All blocks of code in a text. */
export function blocksIn(text: string): readonly Block[] {
  return [...text.matchAll(/^```(\S.*)\n([^]*?)^```$/gm)]
    .map(([, info = "", body = ""]) => ({ info, text: body }));
}

function isRule(row: readonly string[] | undefined): boolean {
  return row !== undefined && row.every((cell) => /^-+$/.test(cell));
}

function plain(heading: string): string {
  return heading.replace(/^#+ /, "").replaceAll("`", "");
}

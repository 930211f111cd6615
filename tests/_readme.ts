/**
 * Reads the README and the pages below `docs/`, for the tests that hold them to the code.
 *
 * @module
 */

import { ROOT } from "./_source.ts";

/** A page for users. */
export interface Page {
  /** Path below the repository: `README.md`, `docs/config.md`, … */
  readonly path: string;
  /** Its text. */
  readonly text: string;
}

/** A block of code. */
export interface Block {
  /** What follows the opening fence: `ts`, `ts ignore`, `json`, … */
  readonly info: string;
  /** Its text. */
  readonly text: string;
}

/** The README, then the pages below `docs/` by name. */
export const PAGES: readonly Page[] = await readPages();

/** The README as it is. */
export const README: string = page("README.md");

/**
 * What is below a heading of a page, up to the next one.
 *
 * @throws {RangeError} If there is no such page, or no such heading on it.
 */
export function section(path: string, heading: string): string {
  const text = page(path);
  const headings = headingsIn(text);
  const index = headings.findIndex((one) => one.text === heading);
  const [found, next] = index < 0 ? [] : headings.slice(index);
  if (found === undefined) throw new RangeError(`${path} has no heading "${heading}"`);
  return text.split("\n").slice(found.line + 1, next?.line).join("\n");
}

/** A heading of a page. */
export interface Heading {
  /** Line, from 0. */
  readonly line: number;
  /** Its text, without backticks. */
  readonly text: string;
}

/** All headings of a text; what looks like one in a block of code is none. */
export function headingsIn(text: string): readonly Heading[] {
  let isCode = false;
  return text.split("\n").flatMap((line, index) => {
    if (/^\s*```/.test(line)) isCode = !isCode;
    const [, heading] = isCode ? [] : /^#+ (.+)$/.exec(line) ?? [];
    return heading === undefined ? [] : [{ line: index, text: heading.replaceAll("`", "") }];
  });
}

/** Rows of the tables in a text, without heads. Cells are trimmed. */
export function rowsIn(text: string): readonly (readonly string[])[] {
  const rows = text.split("\n").filter((line) => line.startsWith("|"))
    .map((line) => line.slice(1, line.lastIndexOf("|")).split("|").map((cell) => cell.trim()));
  return rows.filter((_, index) => !isRule(rows[index]) && !isRule(rows[index + 1]) // a head is above its rule
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

function page(path: string): string {
  const found = PAGES.find((one) => one.path === path);
  if (found === undefined) throw new RangeError(`There is no page ${path}`);
  return found.text;
}

async function readPages(): Promise<readonly Page[]> {
  const names: string[] = [];
  for await (const { name } of Deno.readDir(new URL("docs/", ROOT))) names.push(`docs/${name}`);
  return await Promise.all(["README.md", ...names.toSorted()].map(async (path) => ({
    path,
    text: await Deno.readTextFile(new URL(path, ROOT)),
  })));
}

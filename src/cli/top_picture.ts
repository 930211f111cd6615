/**
 * The picture of `sluice top`: its head, the pools that fit, one of them in detail, the keys.
 *
 * @module
 */

import type { DecisionJson, PoolJson } from "../admin/http/wire.ts";
import { rate } from "../base/format.ts";
import { middleOut } from "../base/middle_out.ts";
import { toneOf } from "./pool_rows.ts";
import type { Prompt } from "./top_prompt.ts";
import { poolPart, poolTable, type TopLine, TREND_LENGTH, type Trends } from "./top_view.ts";

/** What is to be shown. */
export interface TopPicture {
  /** Where the system is. */
  readonly host: string;
  /** When it answered last. */
  readonly readAtMs: number;
  /** Why it does not answer. `undefined`: it does. */
  readonly trouble: string | undefined;
  /** All pools. */
  readonly pools: readonly PoolJson[];
  /** Those that the filter lets pass, in order. */
  readonly shown: readonly PoolJson[];
  /** Name of the chosen one. */
  readonly selected: string | undefined;
  /** Latest decisions by pool. */
  readonly decisions: ReadonlyMap<string, readonly DecisionJson[]>;
  /** Latest waits by pool. */
  readonly trends: Trends;
  /** Text that names have in them. Empty: all pools are shown. */
  readonly filter: string;
  /** What is being typed. */
  readonly prompt: Prompt | undefined;
  /** What came of the last action. */
  readonly said: { readonly text: string; readonly bad: boolean } | undefined;
  /** A page instead of the pools. */
  readonly opened: { readonly title: string; readonly lines: readonly TopLine[] } | undefined;
  /** The first of the shown pools that was drawn before. */
  readonly from: number;
}

/** How large a picture is. */
interface Size {
  readonly columns: number;
  readonly rows: number;
}

const KEYS = "p pause  o override  j jobs  d dead  e explain  / filter  ? help  q quit";
const PAGE_KEYS = "up and down scroll  esc back  ctrl-C quit";

/** Bars of a spark on a narrow screen, and the width from which there are more. */
const FEW_BARS = 8;
const WIDE = 120;

/** Fewest characters of an address. */
const LEAST_HOST = 8;

/** Fewest pools of a list. */
const LEAST_POOLS = 3;

/** Lines of a picture, and the first of the pools in it. */
export function pictureOf(
  picture: TopPicture,
  size: Size,
): { readonly lines: readonly TopLine[]; readonly from: number } {
  const { opened, from } = picture;
  const head = headOf(picture, size);
  if (opened !== undefined) {
    const body = [[{ text: opened.title, style: "bold" } as const], ...opened.lines];
    return { lines: filled([...head, ...body], picture, size, PAGE_KEYS), from };
  }
  const list = listOf(picture, { ...size, rows: size.rows - head.length - 1 });
  return { lines: filled([...head, ...list.lines], picture, size, KEYS), from: list.from };
}

function headOf(
  { host, readAtMs, pools, trouble }: TopPicture,
  { columns }: Size,
): readonly TopLine[] {
  const at = new Date(readAtMs).toISOString().slice(11, 19);
  const sum = (value: (pool: PoolJson) => number): string =>
    rate(pools.reduce((total, pool) => total + value(pool), 0));
  const bad = pools.filter((pool) => toneOf(pool) === "bad").length;
  const need = bad === 0 ? `${pools.length} well` : `${bad} of ${pools.length} in trouble`;
  const flow = `${sum(({ window }) => window.arrivalsPerSec)} in ${
    sum(({ window }) => window.completionsPerSec)
  } done ${sum(({ window }) => window.failuresPerSec)} failed/s`;
  const room = columns - `sluice top    ${at}  ${need}  ${flow}`.length;
  const title: TopLine = [
    { text: `sluice top  ${middleOut(host, Math.max(LEAST_HOST, room))}  ${at}  `, style: "bold" },
    { text: need, style: bad === 0 ? "green" : "red" },
    `  ${flow}`,
  ];
  if (trouble === undefined) return [title];
  return [title, [{ text: `Last update ${at}; trying again. ${trouble}`, style: "red" }]];
}

/** The pools that fit, then the chosen one in detail. `rows`: what there is for both. */
function listOf(
  { shown, pools, selected, decisions, trends, filter, from }: TopPicture,
  { rows, columns }: Size,
): { readonly lines: readonly TopLine[]; readonly from: number } {
  if (shown.length === 0) {
    const none = pools.length === 0 ? "No pools" : `No pool has "${filter}" in its name`;
    return { lines: [[none]], from: 0 };
  }
  const at = Math.max(0, shown.findIndex(({ pool }) => pool === selected));
  const chosen = shown[at]!; // it is within
  const detail = poolPart(chosen, decisions.get(chosen.pool), columns);
  const room = rows - 2; // the head of the table, the line below it
  const wanted = Math.max(LEAST_POOLS, room - Math.min(detail.length, Math.ceil(room / 2)));
  const count = Math.max(1, Math.min(shown.length, wanted, room));
  const first = Math.max(0, Math.min(from, at, shown.length - count), at - count + 1);
  const sparks = columns < WIDE ? FEW_BARS : TREND_LENGTH;
  // All are laid out, so that columns stay where they are while one scrolls.
  const [head = [], ...all] = poolTable(shown, { trends, width: columns - 2, sparks });
  const lines = all.slice(first, first + count).map((line, index): TopLine =>
    first + index === at ? [{ text: "> ", style: "bold" }, ...line] : ["  ", ...line]
  );
  const range = count < shown.length ? `${first + 1} to ${first + count} of ${shown.length}` : "";
  const only = filter === "" ? "" : `with "${filter}" in the name`;
  const below = [range, only].filter((text) => text !== "").join(" ");
  return {
    lines: [["  ", ...head], ...lines, [{ text: below, style: "dim" }], ...detail],
    from: first,
  };
}

/** A picture as high as the screen: what is typed, said or may be typed is its last line. */
function filled(
  lines: readonly TopLine[],
  { prompt, said }: TopPicture,
  { rows }: Size,
  keys: string,
): readonly TopLine[] {
  const body = Math.max(0, rows - 1);
  const empty = Array.from({ length: Math.max(0, body - lines.length) }, (): TopLine => []);
  const last: TopLine = prompt !== undefined
    ? [{ text: prompt.label, style: "bold" }, prompt.text, { text: " ", style: "inverse" }]
    : said !== undefined
    ? [said.bad ? { text: said.text, style: "red" } : said.text]
    : [{ text: keys, style: "dim" }];
  return [...lines.slice(0, body), ...empty, last];
}

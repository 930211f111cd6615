/**
 * A picture of one report, or of several, as one SVG file.
 *
 * @module
 */

import type { PoolReport } from "../report.ts";
import { drawPool, scalesOf } from "./drawing.ts";
import { Markup, markup } from "./markup.ts";
import { poolNames, type Shown } from "./shown.ts";
import { DRAWING_STYLE } from "./style.ts";
import { verdictsOf, workersSentence } from "./verdict.ts";

/** Width of the file. */
const WIDTH = 960;
const TITLE = 56;

/** What over-target areas are filled with. */
export const HATCH: Markup =
  markup`<pattern id="over" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><path class="over-hatch" d="M0 0V6"/></pattern>`;

/** Draws all pools of one report, or of several on the same scenario, one below the other. */
export function toSvg(shown: readonly Shown[]): string {
  const names = poolNames(shown);
  const parts: Markup[] = [];
  const words: string[] = [];
  let top = 0;
  for (const name of names) {
    const scales = scalesOf(shown.flatMap(({ report }) => report.pools[name] ?? []));
    for (const { name: config, report } of shown) {
      const pool = report.pools[name];
      if (pool === undefined) continue;
      const title = shown.length > 1 ? `Pool ${name} of ${config}` : `Pool ${name}`;
      const { height, content } = drawPool(pool, WIDTH, scales);
      parts.push(titled(title, workersSentence(pool), top), moved(content, top + TITLE));
      words.push(`${title}: ${described(pool)}`);
      top += TITLE + height;
    }
  }
  return markup`<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${top}" viewBox="0 0 ${WIDTH} ${top}" role="img" aria-label="${
    words.join(" ")
  }"><style>${new Markup(
    DRAWING_STYLE,
  )}</style><defs>${HATCH}</defs><path class="ground" d="M0 0H${WIDTH}V${top}H0Z"/>${parts}</svg>
`.text;
}

function titled(title: string, sentence: string, top: number): Markup {
  return markup`<text class="title" x="4" y="${top + 24}">${title}</text><text x="4" y="${
    top + 46
  }">${sentence}</text>`;
}

function moved(content: Markup, top: number): Markup {
  return markup`<g transform="translate(0 ${top})">${content}</g>`;
}

/** The picture in words. */
function described(pool: PoolReport): string {
  const lanes = verdictsOf(pool).map(({ sentence }) => sentence);
  return [workersSentence(pool), ...lanes].join(" ");
}

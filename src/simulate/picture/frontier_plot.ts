/**
 * Draws what a search found: worker time against changes of the worker count, a dot for each config.
 *
 * @module
 */

import { nice } from "../nice.ts";
import type { Judged, TuneReport } from "../tune/report.ts";
import { Markup, markup } from "./markup.ts";
import { grid, type Plot, ticks, x, y } from "./plot.ts";
import { DRAWING_STYLE } from "./style.ts";
import { short } from "./words.ts";

const WIDTH = 640;
const HEIGHT = 360;
const STYLE = `
svg .kept { fill: var(--green); }
svg .now { fill: none; stroke: var(--ink); stroke-width: 2; }
svg .missed { fill: var(--red); }
`;

/** Draws the frontier as one SVG file, numbered as its table is. */
export function frontierSvg({ base, frontier, nearest }: TuneReport, goal: string): string {
  const found = frontier.length > 0 ? frontier : nearest === null ? [] : [nearest];
  const all = [base, ...found];
  const most = (read: (one: Judged) => number): number => {
    const highest = Math.max(1, ...all.map(read));
    return nice(highest / 5) * Math.ceil(highest * 1.1 / nice(highest / 5));
  };
  const plot: Plot = {
    left: 56,
    right: WIDTH - 24,
    top: 48,
    bottom: HEIGHT - 48,
    untilMs: most(({ workerSeconds }) => workerSeconds), // the axis below is worker time here
    most: most(({ changesPerMin }) => changesPerMin),
  };
  const axis = ticks(plot.untilMs, 6).map((figure) =>
    markup`<text class="tick" x="${x(plot, figure)}" y="${plot.bottom + 18}" text-anchor="middle">${
      short(figure)
    }</text>`
  );
  const dots = found.map((one, index) => dot(plot, one, String(index + 1)));
  return markup`<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${HEIGHT}" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="Configs that keep ${goal}"><style>${new Markup(
    DRAWING_STYLE + STYLE,
  )}</style><path class="ground" d="M0 0H${WIDTH}V${HEIGHT}H0Z"/><text class="title" x="8" y="24">${goal}</text><text class="note" x="8" y="42">changes of the worker count a minute</text>${
    grid(plot, 4)
  }${axis}<text class="note" x="${plot.right}" y="${
    HEIGHT - 10
  }" text-anchor="end">worker-seconds</text>${nowDot(plot, base)}${dots}</svg>
`.text;
}

function dot(plot: Plot, { workerSeconds, changesPerMin, misses }: Judged, label: string): Markup {
  const [left, top] = [x(plot, workerSeconds), y(plot, changesPerMin)];
  return markup`<circle class="${
    misses.length === 0 ? "kept" : "missed"
  }" cx="${left}" cy="${top}" r="5"/><text x="${left + 9}" y="${top + 5}">${label}</text>`;
}

function nowDot(plot: Plot, { workerSeconds, changesPerMin }: Judged): Markup {
  const [left, top] = [x(plot, workerSeconds), y(plot, changesPerMin)];
  return markup`<circle class="now" cx="${left}" cy="${top}" r="9"/><text class="note" x="${left}" y="${
    top - 13
  }" text-anchor="middle">now</text>`;
}

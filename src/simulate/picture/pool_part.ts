/**
 * What a page shows of one pool: sentences, the drawing, findings, the table, decisions.
 *
 * @module
 */

import { duration } from "../../base/format.ts";
import type { LaneReport, PoolReport } from "../report.ts";
import { changesOf, type TargetChange } from "./changes.ts";
import { failuresOf } from "./failures.ts";
import { drawPool, type Scales } from "./drawing.ts";
import { type Markup, markup } from "./markup.ts";
import { verdictsOf, workersSentence } from "./verdict.ts";
import { listed, short } from "./words.ts";

/** All of it. */
export function poolPart(pool: PoolReport, scales: Scales): Markup {
  return markup`
<p>${workersSentence(pool)}</p>
<ul class="verdicts">
${
    verdictsOf(pool).map(({ kind, word, sentence }) =>
      markup`<li class="${kind}"><b>${word}</b> ${sentence}</li>
`
    )
  }</ul>
<figure>${WIDTHS.map((width) => drawing(pool, scales, width))}</figure>
${findings(pool)}${table(pool)}${decisions(pool)}`;
}

/** The same drawing for each width of screen, so that its texts keep their size. */
const WIDTHS = [["narrow", 380], ["middle", 620], ["wide", 960]] as const;

function drawing(
  pool: PoolReport,
  scales: Scales,
  [name, width]: (typeof WIDTHS)[number],
): Markup {
  const { height, content } = drawPool(pool, width, scales);
  return markup`<svg class="${name}" viewBox="0 0 ${width} ${height}" role="img" aria-label="${
    label(pool)
  }">${content}</svg>`;
}

/** What is drawn; what it shows is in the sentences around it. */
function label({ workers, lanes, series }: PoolReport): string {
  return `Over ${duration(series.untilMs)}: workers, from ${workers.min} to ${workers.peak}; ` +
    `the age of ${listed(Object.keys(lanes))}; jobs per second`;
}

function findings(pool: PoolReport): Markup {
  const { diagnosis } = pool;
  const failures = failuresOf(pool).map(({ saw, change }) =>
    markup`<div class="finding"><b>${saw}</b><p>Change: ${change}</p></div>
`
  );
  if (diagnosis.length === 0) {
    return markup`${failures}<p>The diagnosis at the end finds nothing wrong.</p>`;
  }
  return markup`${failures}<h3>Diagnosis at the end</h3>
${
    diagnosis.map(({ code, saw, change, process }) =>
      markup`<div class="finding"><b>${code}</b>${
        process === undefined ? undefined : ` in process ${process}`
      }<p>${saw}</p><p>Change: ${change}</p></div>
`
    )
  }`;
}

const HEAD = ["Lane", "Arrived", "Done", "Failed", "Shed", "Left", "Per sec"] as const;
const QUANTILES = ["p50", "p95", "p99", "max"] as const;

function table({ lanes }: PoolReport): Markup {
  return markup`<h3>Lanes</h3>
<div class="scroll" role="region" aria-label="Lanes" tabindex="0"><table>
<thead>
<tr>${
    HEAD.map((name) => markup`<th scope="col" rowspan="2">${name}</th>`)
  }<th scope="colgroup" colspan="4">Wait</th><th scope="colgroup" colspan="4">Sojourn</th></tr>
<tr>${[...QUANTILES, ...QUANTILES].map((name) => markup`<th scope="col">${name}</th>`)}</tr>
</thead>
<tbody>
${Object.entries(lanes).map(([name, lane]) => row(name, lane))}</tbody>
</table></div>
`;
}

function row(name: string, lane: LaneReport): Markup {
  const { arrived, done, dead, shed, left, perSec, waitMs, sojournMs } = lane;
  const times = [waitMs, sojournMs].flatMap((quantiles) =>
    QUANTILES.map((which) => quantiles === null ? "–" : duration(quantiles[which]))
  );
  const cells = [...[arrived, done, dead, shed, left, perSec].map(short), ...times];
  return markup`<tr><th scope="row">${name}</th>${
    cells.map((cell) => markup`<td>${cell}</td>`)
  }</tr>
`;
}

/** More are behind a click. */
const OPEN = 12;

function decisions(pool: PoolReport): Markup {
  const changes = changesOf(pool);
  if (changes.length === 0) {
    return markup`<h3>Decisions</h3>
<p>None changed the number of workers.</p>
`;
  }
  const list = (some: readonly TargetChange[]): Markup =>
    markup`<ol class="decisions">
${some.map(decision)}</ol>
`;
  const rest = changes.slice(OPEN);
  return markup`<h3>Decisions that changed the number of workers</h3>
${list(changes.slice(0, OPEN))}${
    rest.length === 0 ? undefined : markup`<details><summary>${short(rest.length)} more</summary>
${list(rest)}</details>
`
  }`;
}

function decision({ fromMs, from, to, steps, sentence, process }: TargetChange): Markup {
  const where = process === undefined ? "" : `Process ${process}: `;
  const before = steps === 1 ? "" : `In ${steps} steps, the last: `;
  return markup`<li><time>${duration(fromMs)}</time><b>${
    to > from ? "▲" : "▼"
  } ${from} to ${to}</b><span>${where + before + sentence}</span></li>
`;
}

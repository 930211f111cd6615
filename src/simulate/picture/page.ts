/**
 * A picture of one report, or of two side by side, as one HTML file: no script, nothing from elsewhere.
 *
 * @module
 */

import { duration } from "../../base/format.ts";
import { compare, sentencesOf } from "../compare.ts";
import { type Scales, scalesOf } from "./drawing.ts";
import { Markup, markup } from "./markup.ts";
import { poolPart } from "./pool_part.ts";
import { poolNames, type Shown } from "./shown.ts";
import { DRAWING_STYLE, PAGE_STYLE } from "./style.ts";
import { HATCH } from "./svg.ts";

/** A page on one report, or on several on the same scenario. */
export function toHtml(shown: readonly Shown[], scenario: string): string {
  const [first, second] = shown;
  const pools = poolNames(shown).map((name) => {
    const scales = scalesOf(shown.flatMap(({ report }) => report.pools[name] ?? []));
    return poolSection(name, scales, shown);
  });
  const seed = first?.report.seed ?? 0;
  const title = `${shown.map(({ name }) => name).join(" and ")} under ${scenario}`;
  return markup`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<style>
${new Markup(DRAWING_STYLE)}${new Markup(PAGE_STYLE)}</style>
</head>
<body class="${second === undefined ? "one" : "two"}">
<svg width="0" height="0" aria-hidden="true" style="position:absolute"><defs>${HATCH}</defs></svg>
<header>
<h1>${title}</h1>
<p class="soft">Simulated: ${duration(first?.report.durationMs ?? 0)} of load, seed ${
    String(seed)
  }${shown.some(({ report }) => report.interrupted) ? ", interrupted" : ""}.</p>
</header>
<main>
${first && second ? comparison(first, second) : undefined}${pools}</main>
</body>
</html>
`.text;
}

function comparison(first: Shown, second: Shown): Markup {
  return markup`<section aria-label="Comparison">
<h2>${second.name} against ${first.name}</h2>
${
    sentencesOf(compare(first.report, second.report)).map((sentence) =>
      markup`<p>${sentence}</p>
`
    )
  }</section>
`;
}

function poolSection(name: string, scales: Scales, shown: readonly Shown[]): Markup {
  const two = shown.length > 1;
  return markup`<section aria-label="Pool ${name}">
<h2>Pool ${name}</h2>
<div class="side">
${
    shown.map(({ name: config, report }) => {
      const pool = report.pools[name];
      if (pool === undefined) return markup`<p>${config} has no such pool.</p>`;
      return markup`<article aria-label="${config}">${
        two ? markup`<h3>${config}</h3>` : undefined
      }${poolPart(pool, scales)}</article>
`;
    })
  }</div>
</section>
`;
}

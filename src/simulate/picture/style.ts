/**
 * Styles of pictures, light and dark. Lines differ in stroke and dashes too, not in color alone.
 *
 * @module
 */

/** Styles of drawings. */
export const DRAWING_STYLE = `
:root { color-scheme: light dark; --ink: #1b1f24; --soft: #57606a; --line: #d8dee4; --ground: #ffffff; --card: #f6f8fa;
  --blue: #0b62c4; --blue-soft: #cfe3fa; --band: #eef1f4; --violet: #7a3fb8; --violet-soft: #e9dcf7; --red: #b3261e; --green: #1a6e36; --gray: #a5afba; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e8eb; --soft: #9aa4af; --line: #2f363e; --ground: #14181d; --card: #1b2027;
  --blue: #6cb2ff; --blue-soft: #1d3a5c; --band: #20262e; --violet: #c49cf2; --violet-soft: #3a2c52; --red: #ff8f87; --green: #6fd08c; --gray: #56616d; } }
svg { font: 13px system-ui, sans-serif; }
svg text { fill: var(--ink); }
svg .tick, svg .note { font-size: 12px; fill: var(--soft); }
svg .title { font-size: 16px; font-weight: 600; }
svg path { fill: none; stroke-width: 1.5; stroke-linejoin: round; }
svg .ground { fill: var(--ground); }
svg .grid { stroke: var(--line); stroke-width: 1; }
svg .axis { stroke: var(--soft); stroke-width: 1; }
svg .band { fill: var(--band); }
svg .limit { stroke: var(--ink); stroke-dasharray: 7 4; }
svg .workers-area { fill: var(--blue-soft); }
svg .workers { stroke: var(--blue); stroke-width: 2; }
svg .mark { fill: var(--ink); stroke: none; }
svg .age-area { fill: var(--violet-soft); }
svg .age { stroke: var(--violet); }
svg .over { fill: url(#over); }
svg .over-hatch { stroke: var(--red); stroke-width: 2; }
svg .target { stroke: var(--ink); stroke-width: 1.25; stroke-dasharray: 2 3; }
svg .arrived { fill: var(--gray); }
svg .done { stroke: var(--green); stroke-width: 2; }
svg .shed { stroke: var(--red); stroke-width: 2; stroke-dasharray: 5 3; }
svg .dead { stroke: var(--ink); stroke-width: 2; stroke-dasharray: 1 4; stroke-linecap: round; }
`.trimStart();

/** Styles of pages around them. */
export const PAGE_STYLE = `
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 62rem; padding: 1.25rem 1rem 3rem; background: var(--ground); color: var(--ink); font: 16px/1.5 system-ui, sans-serif; }
body.two { max-width: 100rem; }
h1 { font-size: 1.4rem; margin: 0; }
h2 { font-size: 1.2rem; margin: 1.75rem 0 .25rem; }
h3 { font-size: 1rem; margin: 1.25rem 0 .25rem; }
p, ul, ol { margin: .4rem 0; }
.soft { color: var(--soft); }
.side { display: grid; gap: 0 2rem; grid-template-columns: minmax(0, 1fr); }
figure { margin: .75rem 0 0; }
figure svg { display: none; width: 100%; height: auto; }
figure svg.narrow { display: block; }
.verdicts { list-style: none; padding: 0; }
.verdicts b { display: inline-block; min-width: 3.6rem; }
.late b, .finding b { color: var(--red); }
.met b { color: var(--green); }
.finding { border-left: 4px solid var(--red); padding-left: .75rem; margin: .6rem 0; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: .9rem; }
th, td { text-align: right; padding: .25rem .5rem; border-top: 1px solid var(--line); white-space: nowrap; }
thead th { border-top: 0; color: var(--soft); font-weight: 500; }
th:first-child, td:first-child { text-align: left; padding-left: 0; }
th[scope=row] { font-weight: 600; }
.decisions { list-style: none; padding: 0; }
.decisions li { display: grid; grid-template-columns: 4.5rem 6.5rem minmax(0, 1fr); gap: 0 .75rem; padding: .15rem 0; border-top: 1px solid var(--line); }
.decisions time { color: var(--soft); font-variant-numeric: tabular-nums; }
summary { cursor: pointer; padding: .25rem 0; }
thead th[colspan] { text-align: center; border-bottom: 1px solid var(--line); }
@media (max-width: 40rem) { .decisions li { grid-template-columns: 4.5rem minmax(0, 1fr); } .decisions li span { grid-column: 1 / -1; } }
@media (min-width: 30rem) { figure svg.narrow { display: none; } figure svg.middle { display: block; } }
@media (min-width: 54rem) { .one figure svg.middle { display: none; } .one figure svg.wide { display: block; } }
@media (min-width: 70rem) { .two .side { grid-template-columns: repeat(2, minmax(0, 1fr)); } }
`.trimStart();

import assert from "node:assert/strict";
import { toHtml } from "../../../src/simulate/picture/page.ts";
import { toSvg } from "../../../src/simulate/picture/svg.ts";
import { decision, lane, pool, report } from "./_report.ts";
import { openTags } from "./_tags.ts";

const SHOWN = [{ name: "pools.json", report: report() }];
const HOSTILE = "</style><script>alert(1)</script>";

Deno.test("toHtml() says what became of the pool before it shows it", () => {
  const html = toHtml(SHOWN, "spike.json");

  const order = ["<h1>pools.json under spike.json", "2 to 6 workers", "✓ met</b> urgent", "✗ late"]
    .concat("<figure>", "<thead>", "▲ 2 to 6", "▼ 6 to 2").map((text) => html.indexOf(text));
  assert(order.every((place) => place > 0), `${order}`);
  assert.deepEqual(order, order.toSorted((a, b) => a - b));
  assert.match(html, /In 2 steps, the last: Grew from 4 to 6: &#60;age-scaler&#62; wants 6/);
});

Deno.test("toHtml() needs no script and nothing from elsewhere", () => {
  const html = toHtml(SHOWN, "spike.json");

  assert.doesNotMatch(html, /<script|<link|<img|@import|https?:|url\((?!#)/);
});

Deno.test("toHtml() and toSvg() close what they open, whatever lanes and pools are called", () => {
  const named = pool({
    lanes: { [HOSTILE]: lane() },
    decisions: [{ ...decision(0, 1, 2), sentence: HOSTILE }],
    diagnosis: [{ code: "stalled", lane: undefined, saw: HOSTILE, change: HOSTILE, numbers: {} }],
    series: { ...pool().series, lanes: { [HOSTILE]: pool().series.lanes["urgent"]! } },
  });
  const shown = [{ name: HOSTILE, report: { ...report(), pools: { [HOSTILE]: named } } }];

  for (const text of [toHtml(shown, HOSTILE), toSvg(shown), toHtml(SHOWN, "s"), toSvg(SHOWN)]) {
    assert.deepEqual(openTags(text), []);
    assert(!text.includes(HOSTILE));
    assert(!text.includes("undefined") && !text.includes("NaN") && !text.includes("Infinity"));
  }
});

Deno.test("toHtml() has the drawing for three widths, each with a name for screen readers", () => {
  const html = toHtml(SHOWN, "spike.json");

  const drawings = [...html.matchAll(/<svg class="(\w+)" .*? role="img" aria-label="([^"]+)"/g)];
  assert.deepEqual(drawings.map(([, name]) => name), ["narrow", "middle", "wide"]);
  for (const [, , label] of drawings) {
    assert.equal(
      label,
      "Over 3 s: workers, from 2 to 6; the age of urgent and batch; jobs per second",
    );
  }
});

Deno.test("toHtml() and toSvg() are readable light and dark", () => {
  for (const text of [toHtml(SHOWN, "spike.json"), toSvg(SHOWN)]) {
    const [light = "", dark = ""] = text.split("@media (prefers-color-scheme: dark)");
    const colorsIn = (css: string): readonly string[] =>
      [...(css.match(/--[\w-]+(?=: #)/g) ?? [])].toSorted();
    assert(colorsIn(light).length > 10);
    assert.deepEqual(colorsIn(dark), colorsIn(light));
  }
});

Deno.test("toHtml() shows findings and what to change", () => {
  const finding = {
    code: "at-capacity",
    lane: undefined,
    saw: "For 60 s 2 workers",
    change: "Send less",
    numbers: {},
  } as const;

  const html = toHtml(
    [{ name: "pools.json", report: report({ diagnosis: [finding] }) }],
    "spike.json",
  );

  assert.match(html, /<b>at-capacity<\/b><p>For 60 s 2 workers<\/p><p>Change: Send less<\/p>/);
});

Deno.test("toHtml() says which strategies failed, once for all processes", () => {
  const error = "Expected Proposal workers >= 0 but received NaN";
  const failing = [0, 1].map((process) => ({ process, plugin: "mine", error, atMs: 50 }));

  const html = toHtml([{ name: "pools.json", report: report({ failing }) }], "spike.json");

  assert.equal(html.split("mine&#34; failed, first at 50 ms: Expected Proposal").length, 2);
  assert.match(
    html,
    /Change: Fix it: the pool ran without it, so these are not its figures/,
  );
});

Deno.test("toHtml() keeps many decisions behind a click", () => {
  const decisions = Array.from(
    { length: 40 },
    (_, index) => index % 2 === 0 ? decision(index * 50, 1, 2) : decision(index * 50, 2, 1),
  );

  const html = toHtml([{ name: "pools.json", report: report({ decisions }) }], "spike.json");

  assert.match(html, /<details><summary>28 more<\/summary>/);
  assert.equal(html.match(/<li><time>/g)?.length, 40);
});

Deno.test("toHtml() puts two reports side by side, with what is better and worse", () => {
  const other = report({ lanes: { ...pool().lanes, batch: lane({ done: 60 }) } });
  const alone = { ...report(), pools: { other: pool() } };

  const two = toHtml([...SHOWN, { name: "other.json", report: other }], "spike.json");
  const apart = toHtml([...SHOWN, { name: "other.json", report: alone }], "spike.json");

  assert.match(two, /<h1>pools\.json and other\.json under spike\.json/);
  assert.match(
    two,
    /other\.json against pools\.json<\/h2>\n<p>Better: mail\/batch 60 done instead of 50/,
  );
  assert.equal(two.match(/<article/g)?.length, 2);
  assert.match(apart, /other\.json has no such pool\./);
});

Deno.test("toSvg() is one file with the figures in words", () => {
  const svg = toSvg(SHOWN);
  const two = toSvg([...SHOWN, { name: "other.json", report: report() }]);

  assert.match(
    svg,
    /^<svg xmlns="[^"]+" width="960" height="\d+" .* role="img" aria-label="Pool mail: 2 to 6/,
  );
  assert.match(svg, /<text class="title"[^>]*>Pool mail<\/text>/);
  assert.match(two, />Pool mail of pools\.json<.*>Pool mail of other\.json</s);
});

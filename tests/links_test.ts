/**
 * Holds the pages together: every link leads somewhere, and every page is one click away.
 *
 * @module
 */

import assert from "node:assert/strict";
import { dirname, join } from "node:path/posix";
import config from "../deno.json" with { type: "json" };
import { blocksIn, headingsIn, type Page, PAGES, README } from "./_readme.ts";
import { ROOT } from "./_source.ts";

/** Links of a text within this repository, as written. Blocks of code and code in a line have none. */
function linksIn(text: string): readonly string[] {
  const prose = text.replaceAll(/^\s*```[^]*?^\s*```$/gm, "").replaceAll(/`[^`\n]+`/g, "code");
  return [...prose.matchAll(/\]\(\s*([^)\s]+)/g)].map(([, link = ""]) => link)
    .filter((link) => !/^[a-z]+:/.test(link));
}

/** Anchors of a text's headings, as GitHub makes them. */
function anchorsIn(text: string): readonly string[] {
  const counts = new Map<string, number>();
  return headingsIn(text).map(({ text: heading }) => {
    const anchor = heading.replaceAll(/\[([^\]]+)\]\([^)]*\)/g, "$1").toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "").replaceAll(" ", "-");
    const count = counts.get(anchor) ?? 0;
    counts.set(anchor, count + 1);
    return count === 0 ? anchor : `${anchor}-${count}`;
  });
}

/** Links of a page that lead nowhere. */
async function brokenIn({ path, text }: Page): Promise<readonly string[]> {
  const broken: string[] = [];
  for (const link of linksIn(text)) {
    const [file = "", anchor] = link.split("#");
    const target = file === "" ? path : join(dirname(path), file);
    const anchors = target === path ? anchorsIn(text) : await anchorsOf(target);
    const isThere = anchors !== undefined && (anchor === undefined || anchors.includes(anchor));
    if (!isThere) broken.push(`${path}: ${link}`);
  }
  return broken;
}

/** Anchors of a file: `undefined` if there is no such file, none of one that is no page. */
async function anchorsOf(path: string): Promise<readonly string[] | undefined> {
  const url = new URL(path, ROOT);
  if (path.endsWith(".md")) {
    return await Deno.readTextFile(url).then(anchorsIn, () => undefined);
  }
  return await Deno.stat(url).then(() => [], () => undefined);
}

Deno.test("every link of every page leads to a file, and to a heading of it", async () => {
  const others = await Promise.all(
    ["CONTRIBUTING.md", "CHANGELOG.md", "bench/README.md", "tests/cases/README.md"].map(
      async (path) => ({ path, text: await Deno.readTextFile(new URL(path, ROOT)) }),
    ),
  );
  const pages = [...PAGES, ...others];
  assert.ok(pages.flatMap(({ text }) => linksIn(text)).length > 100);

  const broken = (await Promise.all(pages.map(brokenIn))).flat();

  assert.deepEqual(broken, []);
});

Deno.test("brokenIn() finds what is planted", async () => {
  const text = [
    "# One & two",
    "[a](#one--two) [b](#three) [c](config.md#a-pool) [d](config.md#a-pond) [e](gone.md)",
    "[f](../README.md#try-it) [g](../LICENSE) [h](../mod.ts#1) [i](https://example.com/x#y)",
    "`[j](gone.md)`",
    "```sh",
    "# three",
    "[k](gone.md)",
    "```",
    "# One & two",
    "[l](#one--two-1) [m](#one--two-2)",
  ].join("\n");

  const broken = await brokenIn({ path: "docs/planted.md", text });

  assert.deepEqual(
    broken.map((link) => link.replace("docs/planted.md: ", "")),
    ["#three", "config.md#a-pond", "gone.md", "../mod.ts#1", "#one--two-2"],
  );
});

Deno.test("the README is at most 250 lines long", () => {
  assert.ok(README.trimEnd().split("\n").length <= 250);
});

Deno.test("every page of docs/ is linked from the README, says what it is for, and links back", () => {
  const linked = linksIn(README);
  for (const { path, text } of PAGES.slice(1)) {
    assert.match(path, /^docs\/[a-z-]+\.md$/);
    assert.ok(linked.includes(path), `README.md links ${path}`);
    assert.match(text, /^# .+\n\n[^|]+\s\[Back to Sluice\]\(\.\.\/README\.md\)\n/, path);
  }
});

Deno.test("a page that has three parts or more lists them in its first lines", () => {
  for (const { path, text } of PAGES.slice(1)) {
    const [, ...parts] = headingsIn(text);
    if (parts.length < 3) continue;
    const contents = /^Contents:\s[^]*?\n\n/m.exec(text)?.[0] ?? "";
    assert.deepEqual(linksIn(contents), anchorsIn(text).slice(1).map((one) => `#${one}`), path);
  }
});

Deno.test("the README, docs/ and the entry that init writes are published", () => {
  for (const path of ["README.md", "docs", "examples/deploy.ts"]) {
    assert.ok(config.publish.include.includes(path), path);
  }
});

Deno.test("no snippet of a page is left unrun, unless it stands in examples/, which is tested", async () => {
  const examples: string[] = [];
  for await (const { name } of Deno.readDir(new URL("examples/", ROOT))) {
    examples.push(await Deno.readTextFile(new URL(`examples/${name}`, ROOT)));
  }
  const blocks = PAGES.flatMap(({ text }) => blocksIn(text))
    .filter(({ info }) => /^(ts|tsx|js|jsx|typescript|javascript)\b/.test(info));
  assert.ok(blocks.length > 10);

  const unrun = blocks.filter(({ info, text }) => info !== "ts" && !examples.includes(text));

  assert.deepEqual(unrun, []);
});

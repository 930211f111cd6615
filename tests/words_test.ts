/**
 * Plain English: words and turns of phrase that are gone from what users read, and from comments, stay
 * gone. Add one once no text has it any more.
 *
 * @module
 */

import assert from "node:assert/strict";
import { findIn, ROOT, type SourceFile, sourceFiles } from "./_source.ts";

/** Beside each what to say instead. */
const GONE: Readonly<Record<string, string>> = {
  "amiss": "wrong",
  "anew": "again",
  "are told": "are reported, shown or asked",
  "as good as": "almost",
  "as is due": "when it is due",
  "comes to be": "becomes",
  "for ever": "forever, without end",
  "hangs on": "depends on",
  "heeds?|heeded": "follow, watch",
  "in force": "current",
  "is told": "is reported, shown or asked",
  "lately": "recently",
  "mend|mends|mended": "fix",
  "nobody can": "cannot be",
  "puts? right": "corrects",
  "put off": "deferred",
  "reckons?|reckoned": "computes",
  "so many": "this many, or the unit alone",
  "somebody": "someone, a user",
  "stands": "is",
  "taken in": "accepted",
  "takes in that": "updates, ends",
  "turn(s|ed)? away": "rejected",
  "whoever": "anyone who",
  "whom": "which",
};

const WORDS = new RegExp(`\\b(?:${Object.keys(GONE).join("|")})\\b`, "i");

/** Calls in a text have names of parameters in them. */
const CALLS = /`[\w.]+\([^`]*\)`/g;

const ALL_WORDS = new RegExp(WORDS, "gi");

/** Texts of a source file that users may read: strings and what pages show. Comments are not among them. */
function textsOf(file: SourceFile): readonly string[] {
  return findIn(file, (report) => ({
    Literal: (node) => {
      const isText = typeof node.value === "string" && node.value.includes(" ");
      if (isText && WORDS.test(node.value)) report(node, node.value);
    },
    TemplateElement: (node) => {
      if (WORDS.test(node.cooked)) report(node, node.cooked);
    },
    JSXText: (node) => {
      if (WORDS.test(node.value)) report(node, node.value);
    },
  }));
}

async function scripts(folder: string): Promise<readonly SourceFile[]> {
  const files: SourceFile[] = [];
  for await (const { name } of Deno.readDir(new URL(folder, ROOT))) {
    if (!name.endsWith(".js")) continue;
    const path = `${folder}${name}`;
    files.push({ path, text: await Deno.readTextFile(new URL(path, ROOT)) });
  }
  return files;
}

async function pages(): Promise<readonly string[]> {
  const paths = [
    "README.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "pools.schema.json",
    "scenario.schema.json",
    "src/admin/openapi/openapi.json",
  ];
  for await (const { name } of Deno.readDir(new URL("docs/", ROOT))) paths.push(`docs/${name}`);
  return paths.filter((path) => /\.(md|json)$/.test(path)).sort();
}

Deno.test("messages, help and pages have none of the words that are gone", async () => {
  const sources = await sourceFiles("mod.ts", "src", "plugins", "stores");
  const files = [...sources, ...await scripts("src/admin/assets/")];

  const found = files.flatMap((file) => textsOf(file).map((text) => `${file.path}:${text}`));

  assert.deepEqual(found, [], `In their place: ${JSON.stringify(GONE, undefined, 2)}`);
});

Deno.test("the pages of the documentation have none of the words that are gone", async () => {
  const found: string[] = [];
  for (const path of await pages()) {
    const text = await Deno.readTextFile(new URL(path, ROOT));
    const prose = text.replaceAll("\n", " ").replaceAll(CALLS, (call) => " ".repeat(call.length));
    for (const { 0: word, index } of prose.matchAll(ALL_WORDS)) {
      found.push(`${path}:${text.slice(0, index).split("\n").length}: ${word}`);
    }
  }

  assert.deepEqual(found, [], `In their place: ${JSON.stringify(GONE, undefined, 2)}`);
});

/** Comments, and names of parameters and code in them. */
const COMMENTS = /\/\*[^]*?\*\/|(?<![:"'`\w])\/\/[^\n]*/g;
const CODE = /`[^`\n]*`|@param \w+/g;

Deno.test("comments have none of the words that are gone", async () => {
  const code = ["mod.ts", "src", "plugins", "stores", "examples", "tests", "tools", "bench"];
  const found = (await sourceFiles(...code))
    .flatMap(({ path, text }) =>
      [...text.matchAll(COMMENTS)].flatMap(({ 0: comment }) => {
        const word = WORDS.exec(comment.replaceAll(CODE, "").replaceAll(/\n\s*\*/g, " "))?.[0];
        return word === undefined ? [] : [`${path}: ${word}: ${comment}`];
      })
    );

  assert.deepEqual(found, [], `In their place: ${JSON.stringify(GONE, undefined, 2)}`);
});

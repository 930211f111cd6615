/**
 * House style, as far as a test can judge it.
 *
 * @module
 */

import assert from "node:assert/strict";
import { isPlugin, type Kind } from "../src/contract/plugin.ts";
import { findIn, ROOT, type SourceFile, sourceFiles } from "./_source.ts";

const LONGEST_FILE = 400;
const LONGEST_PLUGIN = 150;

const CODE = ["mod.ts", "src", "plugins", "stores"] as const;
const ALL = [...CODE, "tests", "examples", "bench", "tools"] as const;

/** Errors whose first argument is a message that users see. */
const MESSAGE_FIRST = /^(Error|TypeError|RangeError|SyntaxError)$/;

Deno.test("no file is longer than 400 lines, no plugin than 150", async () => {
  const tooLong = (await sourceFiles(...ALL)).filter(({ path, text }) => {
    const isOneFilePlugin = /^plugins\/\w+\/[a-z]/.test(path);
    return text.split("\n").length - 1 > (isOneFilePlugin ? LONGEST_PLUGIN : LONGEST_FILE);
  });

  assert.deepEqual(tooLong.map((file) => file.path), []);
});

Deno.test("files are named in snake_case, and none index.ts", async () => {
  const misnamed = (await sourceFiles(...ALL)).filter(({ path }) =>
    !path.split("/").every((part) => /^_?[a-z0-9]+(_[a-z0-9]+)*(\.tsx?)?$/.test(part)) ||
    /(^|\/)index\.tsx?$/.test(path)
  );

  assert.deepEqual(misnamed.map((file) => file.path), []);
});

Deno.test("every file of ours begins with a module doc", async () => {
  const without = (await sourceFiles(...CODE)).filter(({ text }) =>
    !/^(#!.*\n)?\/\*\*(?:(?!\*\/)[^])*@module\n \*\/\n/.test(text)
  );

  assert.deepEqual(without.map((file) => file.path), []);
});

// A package that is linked, not installed, is compiled under the options of its user.
Deno.test("every tsx file says itself where its JSX comes from", async () => {
  const without = (await sourceFiles(...CODE)).filter(({ path, text }) =>
    path.endsWith(".tsx") && !text.includes("\n/** @jsxImportSource hono/jsx */\n")
  );

  assert.deepEqual(without.map((file) => file.path), []);
});

Deno.test("no file of ours has a default export or an `any`", async () => {
  const found = (await sourceFiles(...CODE)).flatMap((file) =>
    findIn(file, (report) => ({
      ExportDefaultDeclaration: (node) => report(node, "default export"),
      TSAnyKeyword: (node) => report(node, "any"),
    })).map((what) => `${file.path}:${what}`)
  );

  assert.deepEqual(found, []);
});

Deno.test("error messages begin in upper case, end without a period and use no contractions", async () => {
  const found = (await sourceFiles(...CODE)).flatMap((file) =>
    messageFaultsIn(file).map((what) => `${file.path}:${what}`)
  );

  assert.deepEqual(found, []);
});

Deno.test("messageFaultsIn() finds what is planted", () => {
  const text = [
    'throw new TypeError("no lane is named so");',
    'throw new RangeError("Expected 1 but received 2.");',
    "throw new Error(`Lane ${name} can't be served`);",
    'throw new Error("No lane is named so");',
    "throw new Error(`${name} answered 404`);",
  ].join("\n");

  assert.deepEqual(messageFaultsIn({ path: "planted.ts", text }).map((what) => what.slice(0, 2)), [
    "1:",
    "2:",
    "3:",
  ]);
});

const PLURAL =
  /\$\{(figure\([^{}]*\)|rate\([^{}]*\)|[a-z][\w.]*)\} (jobs|workers|attempts|reversals|changes|ticks)\b/g;

/** What is no count there, or more than one. */
const NO_COUNTS = ["action", "what", "attempts"];

Deno.test("texts have no plural after a count that may be one: `counted` is there for it", async () => {
  const found = (await sourceFiles("src", "plugins", "stores")).flatMap(({ path, text }) =>
    path.startsWith("src/testing/")
      ? []
      : text.split("\n").flatMap((line, index) =>
        [...line.matchAll(PLURAL)]
          .filter(([, count = ""]) => !NO_COUNTS.includes(count) && !line.includes("=== 1 ?"))
          .map(([what]) => `${path}:${index + 1}: ${what}`)
      )
  );

  assert.deepEqual(found, []);
});

Deno.test("each plugin's folder, file, export and name agree", async () => {
  const files = (await sourceFiles("plugins", "stores")).filter(({ path }) =>
    /^(plugins\/\w+\/[a-z]\w*|stores\/\w+\/mod)\.ts$/.test(path)
  );
  assert.ok(files.length > 0);
  for (const { path } of files) {
    const [folder = "", file = ""] = path.startsWith("stores/")
      ? ["store", path.split("/")[1]]
      : path.replace(".ts", "").split("/").slice(1);
    const kind = folder.replaceAll("_", "-") as Kind; // a folder that is no kind has no plugin of it
    const exports: Record<string, unknown> = await import(new URL(path, ROOT).href);

    const plugins = Object.entries(exports).filter(([, value]) => isPlugin(value, kind));

    assert.deepEqual(
      plugins.map(([key, value]) => [key, isPlugin(value, kind) && value.name]),
      [[camelCase(file), file.replaceAll("_", "-")]],
      `${path} exports one plugin of its kind, named after the file`,
    );
  }
});

Deno.test("every path that CONTRIBUTING.md names exists", async () => {
  const text = await Deno.readTextFile(new URL("CONTRIBUTING.md", ROOT));
  const paths = [
    ...text.matchAll(/`((?:src|plugins|stores|tests|docs|examples)\/[\w/.]*|mod\.ts|deno\.json)`/g),
  ]
    .map(([, path = ""]) => path);
  assert.ok(paths.length > 0);

  for (const path of paths) await assert.doesNotReject(Deno.stat(new URL(path, ROOT)), path);
});

function messageFaultsIn(file: SourceFile): readonly string[] {
  return findIn(file, (report) => ({
    NewExpression(node): void {
      const [message] = node.arguments;
      if (message === undefined || node.callee.type !== "Identifier") return;
      if (!MESSAGE_FIRST.test(node.callee.name)) return;
      const text = textOf(message);
      const fault = text === undefined ? undefined : faultOf(text);
      if (fault !== undefined) report(node, `${fault}: ${text}`);
    },
  }));
}

/** A message as written, with `…` for what is put in. */
function textOf(node: Deno.lint.Node): string | undefined {
  if (node.type === "Literal" && typeof node.value === "string") return node.value;
  if (node.type !== "TemplateLiteral") return undefined;
  return node.quasis.map((part) => part.cooked).join("…");
}

function faultOf(message: string): string | undefined {
  if (/^[a-z]/.test(message)) return "begins in lower case";
  if (message.endsWith(".")) return "ends with a period";
  return /\w('t|'re|'ll|'ve|n't)\b/.test(message) ? "has a contraction" : undefined;
}

function camelCase(snake: string): string {
  return snake.replaceAll(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

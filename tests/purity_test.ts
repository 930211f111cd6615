/**
 * Strategies and the pure floor read no clock, set no timer, draw no chance of their own, reach
 * nothing outside and never wait: time is `view.nowMs`, chance is `context.random`, the outside
 * world is `view.signals`.
 *
 * @module
 */

import assert from "node:assert/strict";
import { findIn, importsOf, resolveImport, type SourceFile, sourceFiles } from "./_source.ts";

const STRATEGIES = ["controller", "lane_policy", "cap", "retirement", "admission"];
const PURE = [
  "base/answers",
  "base/estimates",
  "base/format",
  "base/heap",
  "base/holds",
  "base/random",
  "base/run_times",
  "base/stats",
  "base/windowed_rate",
  "contract/errors",
  "contract/plugin",
  "contract/standard_schema",
  "planning/planner",
];

/** What is refused by name, wherever it is used as a value. */
const IMPURE: ReadonlySet<string> = new Set([
  ...["Date", "performance", "Temporal", "Intl"],
  ...["setTimeout", "setInterval", "setImmediate", "queueMicrotask", "Atomics"],
  ...["Deno", "process", "globalThis", "self", "window", "navigator", "eval", "Function"],
  ...["fetch", "WebSocket", "EventSource", "Worker", "BroadcastChannel", "caches", "localStorage"],
  ...["crypto", "console", "alert", "confirm", "prompt"],
]);

/** What in a file is not pure, as `line: what`. */
function impuritiesIn(file: SourceFile): readonly string[] {
  return findIn(file, (report) => {
    const refuseAsync = (node: Deno.lint.Node & { readonly async: boolean }): void => {
      if (node.async) report(node, "async");
    };
    return {
      Identifier(node): void {
        if (!namesValue(node)) return;
        if (IMPURE.has(node.name)) report(node, node.name);
        if (node.name === "Math" && readsChance(node)) report(node, "Math.random");
      },
      AwaitExpression: (node) => report(node, "await"),
      ForOfStatement: (node) => node.await && report(node, "for await"),
      FunctionDeclaration: refuseAsync,
      FunctionExpression: refuseAsync,
      ArrowFunctionExpression: refuseAsync,
      ImportExpression: (node) => report(node, "import()"),
    };
  });
}

/** False for names of properties, such as `view.fetch` or `{ fetch: 1 }`. */
function namesValue(node: Deno.lint.Identifier): boolean {
  const { parent } = node;
  if (parent.type === "MemberExpression") return parent.object === node || parent.computed;
  if (parent.type === "Property") {
    return parent.value === node || parent.computed || parent.shorthand;
  }
  return !["MethodDefinition", "PropertyDefinition", "TSPropertySignature", "TSMethodSignature"]
    .includes(parent.type);
}

/** `Math` may only be used as `Math.name`: taken apart or indexed, it may give its chance away. */
function readsChance(node: Deno.lint.Identifier): boolean {
  const { parent } = node;
  if (parent.type !== "MemberExpression" || parent.object !== node || parent.computed) return true;
  return parent.property.type === "Identifier" && parent.property.name === "random";
}

Deno.test("strategies and the pure floor read no clock, timer, chance or outside, and never wait", async () => {
  const files = await sourceFiles(
    ...STRATEGIES.map((kind) => `plugins/${kind}`),
    ...PURE.map((name) => `src/${name}.ts`),
  );

  const found = files.flatMap((file) => impuritiesIn(file).map((what) => `${file.path}:${what}`));

  assert.ok(files.length > PURE.length);
  assert.deepEqual(found, []);
});

Deno.test("strategies import nothing but words, pure files, their own folder and valibot", async () => {
  const files = await sourceFiles(...STRATEGIES.map((kind) => `plugins/${kind}`));
  const words = ["contract/view", "contract/strategy", "contract/job"];
  const allowed = new Set(["valibot", ...[...words, ...PURE].map((name) => `src/${name}.ts`)]);

  const found = files.flatMap(({ path, text }) =>
    importsOf({ path, text })
      .map((specifier) => resolveImport(path, specifier))
      .filter((target) => !allowed.has(target) && !target.startsWith("plugins/"))
      .map((target) => `${path} imports ${target}`)
  );

  assert.deepEqual(found, []);
});

Deno.test("impuritiesIn() finds every kind of breach that is planted", () => {
  const planted = [
    ["const now = Date.now();", "Date"],
    ["const now: Date = view.at;", "Date"],
    ["performance.now();", "performance"],
    ["setTimeout(run, 5);", "setTimeout"],
    ["const chance = Math.random();", "Math.random"],
    ['const chance = Math["random"]();', "Math.random"],
    ["const { random } = Math;", "Math.random"],
    ["const { fetch: get } = globalThis;", "globalThis"],
    ["const all = { fetch };", "fetch"],
    ["const file = Deno.readTextFileSync(path);", "Deno"],
    ["console.log(1);", "console"],
    ["crypto.randomUUID();", "crypto"],
    ["async function later() {}", "async"],
    ["const later = async () => {};", "async"],
    ["const plugin = { async create() {} };", "async"],
    ["await later;", "await"],
    ["for await (const one of all) use(one);", "for await"],
    ['import("./other.ts");', "import()"],
  ] as const;
  for (const [text, what] of planted) {
    const found = impuritiesIn({ path: "planted.ts", text: `\n${text}` });

    assert.ok(found.includes(`2: ${what}`), `${text} gave ${JSON.stringify(found)}`);
  }
});

Deno.test("impuritiesIn() lets pass what only looks like a breach", () => {
  const text = `
    // Date.now() and setTimeout() are not for strategies; await nothing.
    const reason = "Date.now() in a string" + \`fetch \${Math.max(1, 2)}\`;
    const lane = view.fetch.Date + view.lanes[0].performance;
    const plugin = { console: 1, create(view) { return Math.ceil(view.nowMs); } };
    interface Timing { readonly performance: number; fetch(): void }
    class Meter { crypto = 1; process(): void {} }
  `;

  assert.deepEqual(impuritiesIn({ path: "clean.ts", text }), []);
});

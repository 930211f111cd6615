/**
 * The map of the code: which floor each file is on, and what each floor may import.
 *
 * A file imports from its own floor or below. Nothing below the roots names a built-in.
 *
 * @module
 */

import assert from "node:assert/strict";
import { builtins } from "../plugins/mod.ts";
import { importsOf, resolveImport, sourceFiles } from "./_source.ts";

/** Floors from the ground up. A path ending in `/` is a folder; the longest match counts. */
const FLOORS: Readonly<Record<string, readonly string[]>> = {
  contract: ["src/contract/"],
  base: ["src/base/"],
  planning: ["src/planning/"],
  explain: ["src/explain/"],
  plugins: ["plugins/", "stores/"],
  config: ["src/config/"],
  runtime: ["src/time/", "src/runtime/"],
  edges: ["src/"], // every other folder looks in from outside
  roots: [
    "mod.ts",
    "plugins/mod.ts",
    "src/cli/main.ts",
    "src/simulate/mod.ts",
    "src/simulate/what_if_worker.ts",
  ],
};

/** Where a package may be imported: floors, or one folder or file. */
const PACKAGES: Readonly<Record<string, readonly string[]>> = {
  "valibot": ["plugins", "config", "edges"],
  "@valibot/to-json-schema": ["config", "src/simulate/", "src/admin/"],
  "jsonc-parser": ["config"],
  "@std/async": ["src/base/async.ts"],
  "croner": ["src/base/cron.ts"],
  "hono": ["src/admin/"],
  "@opentelemetry/api": ["src/telemetry/"],
  "commander": ["src/cli/"],
  "node:": ["config", "runtime", "edges", "roots", "plugins/handler/", "stores/deno_kv/doctor/"],
};

const NAMES = Object.keys(FLOORS);

/** The floor that a file is on. `undefined`: none. */
function floorOf(path: string): string | undefined {
  let best: { readonly floor: string; readonly length: number } | undefined;
  for (const [floor, places] of Object.entries(FLOORS)) {
    for (const place of places.filter((place) => isWithin(path, place))) {
      if (place.length > (best?.length ?? 0)) best = { floor, length: place.length };
    }
  }
  return best?.floor;
}

function isWithin(path: string, place: string): boolean {
  return place.endsWith("/") ? path.startsWith(place) : path === place;
}

/** Why a file may not import this. `undefined`: it may. */
function breachOf(from: string, specifier: string): string | undefined {
  const floor = floorOf(from);
  if (floor === undefined) return `${from} stands on no floor: add it to FLOORS`;
  const target = resolveImport(from, specifier);
  const why = specifier.startsWith(".")
    ? whyNotFile(from, floor, target)
    : whyNotPackage(from, floor, specifier);
  return why === undefined ? undefined : `${from} (${floor}) imports ${target}: ${why}`;
}

function whyNotFile(from: string, floor: string, target: string): string | undefined {
  if (target === "deno.json") return floor === "roots" ? undefined : "it is only for roots";
  const targetFloor = floorOf(target);
  if (targetFloor === undefined) return "that file stands on no floor";
  if (NAMES.indexOf(targetFloor) > NAMES.indexOf(floor)) return `${targetFloor} is a floor above`;
  if (targetFloor === "plugins" && floor !== "roots" && kindOf(from) !== kindOf(target)) {
    return "nothing below the roots names a built-in, and a plugin knows only its own kind";
  }
  const isPrivate = target.includes("/_");
  if (isPrivate && folderOf(from) !== folderOf(target)) return "it is private to its own folder";
}

function whyNotPackage(from: string, floor: string, specifier: string): string | undefined {
  const name = Object.keys(PACKAGES).findLast((name) =>
    specifier === name || specifier.startsWith(name.endsWith(":") ? name : `${name}/`)
  );
  if (name === undefined) return "only packages listed in PACKAGES in this test are used";
  const places = PACKAGES[name] ?? [];
  const allowed = places.some((place) => place === floor || isWithin(from, place));
  return allowed ? undefined : `${name} is only for ${places.join(", ")}`;
}

function folderOf(path: string): string {
  return path.slice(0, path.lastIndexOf("/"));
}

/** `plugins/cap` of any file of that kind. */
function kindOf(path: string): string {
  return path.split("/").slice(0, 2).join("/");
}

Deno.test("every file stands on a floor and imports only from there or below", async () => {
  const files = await sourceFiles("mod.ts", "src", "plugins", "stores");

  const homeless = files.filter((file) =>
    floorOf(file.path) === undefined || /^src\/[^/]+$/.test(file.path)
  );
  const breaches = files.flatMap((file) =>
    importsOf(file).map((specifier) => breachOf(file.path, specifier))
  );

  assert.deepEqual(homeless.map((file) => `${file.path} stands in no folder that is a floor`), []);
  assert.deepEqual(breaches.filter((breach) => breach !== undefined), []);
});

Deno.test("no text in src/ is the name of a built-in: traits of the plugin say what it is", async () => {
  const names = builtins.map(({ name }) => `"${name}"`);
  // "fixed" is a duration there, "http" a scheme; init writes configs.
  const others = ["src/simulate/", "src/admin/openapi/", "src/cli/init_files.ts"];
  const files = (await sourceFiles("src")).filter(({ path }) =>
    !others.some((place) => path.startsWith(place))
  );

  const found = files.flatMap(({ path, text }) => {
    const code = text.replaceAll(/^\s*(?:\/\*)?\*.*$|\/\/ .*$/gm, "");
    return names.filter((name) => code.includes(name)).map((name) => `${path} says ${name}`);
  });

  assert.deepEqual(found, []);
});

Deno.test("every file named in FLOORS exists", async () => {
  const paths = (await sourceFiles("mod.ts", "src", "plugins", "stores")).map((file) => file.path);

  const missing = Object.values(FLOORS).flat().filter((place) =>
    !paths.some((path) => isWithin(path, place))
  );

  assert.deepEqual(missing, []);
});

Deno.test("breachOf() finds each kind of breach, with the rule that it breaks", () => {
  const cases = [
    ["src/contract/view.ts", "../time/clock.ts", "runtime is a floor above"],
    [
      "src/runtime/worker.ts",
      "../../plugins/cap/fixed_cap.ts",
      "nothing below the roots names a built-in",
    ],
    ["plugins/cap/fixed_cap.ts", "../controller/fixed.ts", "a plugin knows only its own kind"],
    ["plugins/cap/fixed_cap.ts", "../../src/config/settings.ts", "config is a floor above"],
    ["plugins/mod.ts", "./handler/_send.ts", "private to its own folder"],
    ["src/runtime/worker.ts", "hono", "hono is only for src/admin/"],
    ["src/admin/mod.ts", "commander", "commander is only for src/cli/"],
    [
      "src/base/random.ts",
      "node:crypto",
      "node: is only for config, runtime, edges, roots, plugins/handler/, stores/deno_kv/doctor/",
    ],
    ["src/runtime/worker.ts", "https://example.com/x.ts", "only packages listed"],
    ["src/admin/mod.ts", "../../deno.json", "it is only for roots"],
    ["novel/view.ts", "./view.ts", "novel/view.ts stands on no floor"],
    ["src/base/heap.ts", "../planning/planner.ts", "planning is a floor above"],
    ["src/contract/view.ts", "../base/heap.ts", "base is a floor above"],
  ] as const;
  for (const [from, specifier, rule] of cases) {
    assert.ok(breachOf(from, specifier)?.includes(rule), `${from} ${specifier}`);
  }
});

Deno.test("breachOf() lets pass what the floors allow", () => {
  const cases = [
    ["src/runtime/worker.ts", "../contract/view.ts"],
    ["src/admin/mod.ts", "hono/cors"],
    ["plugins/mod.ts", "./handler/http.ts"],
    ["plugins/handler/http.ts", "./_send.ts"],
    ["mod.ts", "./plugins/mod.ts"],
    ["src/cli/main.ts", "../../deno.json"],
    ["src/base/async.ts", "@std/async"],
  ] as const;
  for (const [from, specifier] of cases) assert.equal(breachOf(from, specifier), undefined);
});

Deno.test("importsOf() reads imports of any form, and none from comments and strings", () => {
  const text = `
    import { a } from "./a.ts";
    import type { B } from "./b.ts";
    export * from "./c.ts";
    export { d } from "./d.ts";
    const e = await import("./e.ts");
    type F = import("./f.ts").F;
    // import "./comment.ts";
    const string = 'import "./string.ts"';
  `;

  assert.deepEqual(importsOf({ path: "x.ts", text }), [
    "./a.ts",
    "./b.ts",
    "./c.ts",
    "./d.ts",
    "./e.ts",
    "./f.ts",
  ]);
});

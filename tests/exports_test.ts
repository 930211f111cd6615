/**
 * What the entries of the package export.
 *
 * @module
 */

import assert from "node:assert/strict";
import { ROOT } from "./_source.ts";

/** Most names of `mod.ts`: what users of `start` need. */
const MOST_OF_ROOT = 95;

interface Documented {
  readonly name: string;
  readonly declarations: readonly { readonly kind: string }[];
}

const { exports }: { readonly exports: Readonly<Record<string, string>> } = JSON.parse(
  await Deno.readTextFile(new URL("deno.json", ROOT)),
);

/** What each entry exports, types included, as `deno doc` has it. */
async function documentedBy(paths: readonly string[]): Promise<ReadonlyMap<string, Documented[]>> {
  const { stdout, success } = await new Deno.Command(Deno.execPath(), {
    args: ["doc", "--json", ...paths],
    cwd: ROOT,
    stderr: "inherit",
  }).output();
  assert.ok(success);
  const { nodes }: {
    readonly nodes: Readonly<Record<string, { readonly symbols: Documented[] }>>;
  } = JSON.parse(new TextDecoder().decode(stdout));
  return new Map(Object.entries(nodes).map(([url, { symbols }]) => [url, symbols]));
}

const documented = await documentedBy(Object.values(exports));

/** What an entry exports. */
function namesOf(path: string): readonly Documented[] {
  const found = documented.get(new URL(path, ROOT).href);
  assert.ok(found !== undefined, path);
  return found;
}

Deno.test(`mod.ts exports at most ${MOST_OF_ROOT} names`, () => {
  const names = namesOf("mod.ts").map(({ name }) => name);

  assert.ok(names.length <= MOST_OF_ROOT, `${names.length}: ${names.join(", ")}`);
});

Deno.test("the entry for stores exports what the contract of a store speaks of", () => {
  const names = new Set(namesOf(exports["./store"]!).map(({ name }) => name));

  const needed = ["Store", "Queue", "QueueListener", "JobRecord", "StoreError", "defineStore"];
  assert.deepEqual(needed.filter((name) => !names.has(name)), []);
});

// `export type *` of a file with values documents them, and code that uses one does not compile.
Deno.test("what is documented as a value can be used as one", async () => {
  const broken: string[] = [];
  for (const path of Object.values(exports)) {
    const values: Readonly<Record<string, unknown>> = await import(new URL(path, ROOT).href);
    for (const { name, declarations } of namesOf(path)) {
      const isValue = declarations.some(({ kind }) => /^(variable|function|class)$/.test(kind));
      if (isValue && !(name in values)) broken.push(`${name} of ${path}`);
    }
  }

  assert.deepEqual(broken, []);
});

import assert from "node:assert/strict";
import bench from "../bench/deno.json" with { type: "json" };
import root from "../deno.json" with { type: "json" };
import tests from "./deno.json" with { type: "json" };
import { importsOf, ROOT, sourceFiles } from "./_source.ts";

// `deno run` and `deno publish` fetch all that the lock file beside the map names, used or not. So
// what only the tests or only the benches need has a map and a lock file of its own.

interface ImportMap {
  readonly imports: Readonly<Record<string, string>>;
  readonly lock: { readonly path: string; readonly frozen: boolean };
  readonly compilerOptions: unknown;
  readonly unstable: readonly string[];
}

const MAPS: Readonly<Record<string, ImportMap>> = {
  "": root,
  "tests/": tests,
  "bench/": bench,
};

/** Whose imports by name each map is for. */
const FOLDERS: Readonly<Record<string, readonly string[]>> = {
  "": ["mod.ts", "src", "plugins", "stores"],
  "tests/": ["tests"],
  "bench/": ["bench"],
};

/** A package that is no import of ours: bullmq wants it from its users. */
const PEER_DEPENDENCIES: readonly string[] = ["ioredis"];

Deno.test("the map of the root has what the package imports, and nothing else", async () => {
  assert.deepEqual(
    Object.keys(root.imports).sort(),
    await importedBy(FOLDERS[""]!, root),
  );
});

for (const [folder, extra] of [["tests/", tests], ["bench/", bench]] as const) {
  Deno.test(`the map of ${folder} has that of the root and what only its files import`, async () => {
    const own = Object.entries<string>(extra.imports)
      .filter(([name, target]) => !(name in root.imports) && !target.startsWith("../"))
      .map(([name]) => name);
    const imported = await importedBy(FOLDERS[folder]!, extra);

    assert.partialDeepStrictEqual(extra.imports, root.imports);
    assert.deepEqual(
      own.filter((name) => !PEER_DEPENDENCIES.includes(name)),
      imported.filter((name) => own.includes(name)),
    );
  });
}

Deno.test("the map of the tests has every export of the package under its name", () => {
  const names = Object.fromEntries(
    Object.entries<string>(tests.imports).filter(([, target]) => target.startsWith("../")),
  );

  assert.deepEqual(
    names,
    Object.fromEntries(
      Object.entries(root.exports).map((
        [name, target],
      ) => [`${root.name}${name.slice(1)}`, `.${target}`]),
    ),
  );
});

Deno.test("tests and benches are compiled, formatted and linted as the package is", () => {
  for (const map of [tests, bench]) {
    assert.deepEqual(map.compilerOptions, root.compilerOptions);
    assert.deepEqual(map.unstable, root.unstable);
    assert.deepEqual([map.fmt, map.lint], [root.fmt, root.lint]);
  }
});

Deno.test("every lock file is frozen, names no host and has the package's versions", async () => {
  const locks = await Promise.all(
    Object.entries(MAPS).map(async ([folder, { lock }]) => {
      const text = await Deno.readTextFile(new URL(`${folder}deno.lock`, ROOT));
      assert.deepEqual(lock, { path: "./deno.lock", frozen: true });
      assert.doesNotMatch(text, /https?:/, `${folder}deno.lock`);
      return JSON.parse(text);
    }),
  );

  const [own, ...others] = locks;
  for (const other of others) assert.partialDeepStrictEqual(other.npm, own.npm);
});

/** Names in the map that files of these folders import, in order. */
async function importedBy(
  folders: readonly string[],
  map: ImportMap,
): Promise<readonly string[]> {
  const names = Object.keys(map.imports);
  const files = await sourceFiles(...folders);
  const used = files.flatMap(importsOf).map((specifier) =>
    names.find((name) => specifier === name || specifier.startsWith(`${name}/`))
  );
  return [...new Set(used.filter((name) => name !== undefined))].sort();
}

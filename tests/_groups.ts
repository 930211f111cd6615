/**
 * Which test files load together. The runner gives each file that it is named an isolate, and each
 * isolate loads the modules under test again: done for every file, that was a quarter of the
 * processor time of all tests. So `deno task test` names the files of `tests/groups/`, each of which
 * loads a group; a test file that is named runs alone, as ever.
 *
 * @module
 */

import { ROOT } from "./_source.ts";

/** Test files by their path, or one of several equal shares of them. */
interface Group {
  readonly paths: RegExp;
  readonly share?: readonly [nth: number, shares: number];
}

/** By the name of its file in `tests/groups/`. The figures of the quick folders are apart. */
export const GROUPS: Readonly<Record<string, Group>> = {
  admin_1: { paths: /^tests\/admin\//, share: [1, 2] },
  admin_2: { paths: /^tests\/admin\//, share: [2, 2] },
  base: {
    paths: /^tests\/(base|client|config|lint|planning|stores\/memory|telemetry|testing|time)\//,
  },
  browser: { paths: /^tests\/browser\// },
  cases: { paths: /^tests\/(cases|explain)\// },
  cli_1: { paths: /^tests\/cli\//, share: [1, 2] },
  cli_2: { paths: /^tests\/cli\//, share: [2, 2] },
  deno_kv_1: { paths: /^tests\/stores\/(deno_kv\/|\w+_test)/, share: [1, 3] },
  deno_kv_2: { paths: /^tests\/stores\/(deno_kv\/|\w+_test)/, share: [2, 3] },
  deno_kv_3: { paths: /^tests\/stores\/(deno_kv\/|\w+_test)/, share: [3, 3] },
  examples: { paths: /^(examples|tests\/examples)\// },
  figures: { paths: /^tests\/(plugins|adaptive)\/.*_figures_test/ },
  plugins: { paths: /^tests\/plugins\/(?!.*_figures_test)/ },
  price: { paths: /^tests\/price\// },
  runtime_1: { paths: /^tests\/runtime\//, share: [1, 2] },
  runtime_2: { paths: /^tests\/runtime\//, share: [2, 2] },
  simulate: { paths: /^tests\/simulate\// },
  whole_1: { paths: /^tests\/\w+_test/, share: [1, 2] },
  whole_2: { paths: /^tests\/\w+_test/, share: [2, 2] },
};

/** Loads the test files of a group, which registers their tests. */
export async function load(name: keyof typeof GROUPS): Promise<void> {
  for (const path of filesOf(name, await testFiles())) await import(new URL(path, ROOT).href);
}

/** Those files that are of a group. */
export function filesOf(name: string, files: readonly string[]): readonly string[] {
  const { paths, share: [nth, shares] = [1, 1] } = GROUPS[name]!;
  return files.filter((path) => paths.test(path)).filter((_, index) => index % shares === nth - 1);
}

/** All test files, in order of their paths. */
export async function testFiles(): Promise<readonly string[]> {
  const found: string[] = [];
  for (const folder of ["tests", "examples"]) await collect(folder, found);
  return found.sort();
}

async function collect(folder: string, found: string[]): Promise<void> {
  for await (const { name, isDirectory } of Deno.readDir(new URL(`${folder}/`, ROOT))) {
    const path = `${folder}/${name}`;
    if (isDirectory) await collect(path, found);
    else if (/_test\.tsx?$/.test(name)) found.push(path);
  }
}

/**
 * Measures of the house: how the tree is cut, how often one thing is written, and through how many
 * files a job goes. `deno task measures` prints them; a change that makes one of them worse says why.
 *
 * @module
 */

import { sourceFiles } from "../tests/_source.ts";

/** Jobs of the two walks that are compared: what differs is done for each job. */
const [FEW, MANY] = [2, 12] as const;

/** A type that a file exports. */
const TYPE = /^export (?:declare |abstract )*(?:interface|type|class|enum) (\w+)/gm;

/** Files that describe endpoints. */
const ENDPOINTS =
  /^src\/admin\/(openapi\/|http\/(wire|endpoints|hc)\.ts|api\/(shape|endpoints?)|endpoints?)/;

/** Calls of each function in a run, by file. */
type Calls = ReadonlyMap<string, readonly number[]>;

interface RawCoverage {
  readonly url: string;
  readonly functions: readonly { readonly ranges: readonly { readonly count: number }[] }[];
}

const files = await sourceFiles("mod.ts", "src", "plugins", "stores");
const scripts = await linesOf("src", /\.(js|css)$/);
const lines = (test: (path: string) => boolean): number =>
  files.filter(({ path }) => test(path)).reduce((sum, { text }) => sum + countLines(text), 0);

say("loose files in src/", files.filter(({ path }) => /^src\/[^/]+$/.test(path)).length);
say("entries of the floor list", await floorEntries());
say("exported type names with two meanings", doubles());
say("names exported by mod.ts", await exportedNames());
say("source files of a lane key, lint apart (maxDepth)", filesOf("maxDepth"));
say("source files of a lane's view field (timedMs)", filesOf("timedMs"));
say("lines: deno-kv", lines((path) => path.startsWith("stores/deno_kv/")));
say("lines: endpoint descriptions", lines((path) => ENDPOINTS.test(path)));
say("lines: product in all", lines(() => true) + scripts);
for (const store of ["memory", "deno-kv"]) {
  const walk = await walkOf(store);
  const own = [...walk.keys()].filter((path) => path.startsWith("stores/deno_kv/"));
  say(`files a job enters over HTTP, ${store}`, walk.size);
  if (store === "deno-kv") say("  of them in deno-kv", own.length);
  say("  calls a job", Math.round([...walk.values()].reduce((sum, calls) => sum + calls, 0)));
  const prefetch = [...walk].filter(([path]) => path.includes("prefetch"));
  say("  calls of prefetch", Math.round(prefetch.reduce((sum, [, calls]) => sum + calls, 0)));
}

/** Files of ours that one more job enters, with its calls in each. */
async function walkOf(store: string): Promise<ReadonlyMap<string, number>> {
  const [few, many] = [await callsOf(store, FEW), await callsOf(store, MANY)];
  const walk = new Map<string, number>();
  for (const [path, calls] of many) {
    // What comes less than once a job belongs to a timer.
    const more = calls.map((count, index) => (count - (few.get(path)?.[index] ?? 0)) / (MANY - FEW))
      .filter((perJob) => perJob >= 0.95);
    if (more.length > 0) walk.set(path, more.reduce((sum, perJob) => sum + perJob, 0));
  }
  return walk;
}

async function callsOf(store: string, jobs: number): Promise<Calls> {
  const folder = await Deno.makeTempDir();
  try {
    const script = new URL("_walk.ts", import.meta.url).pathname;
    const { success, stderr } = await new Deno.Command(Deno.execPath(), {
      args: ["run", "-A", "--unstable-kv", `--coverage=${folder}`, script, store, `${jobs}`],
    }).output();
    if (!success) throw new Error(new TextDecoder().decode(stderr));
    const calls = new Map<string, readonly number[]>();
    const root = new URL("../", import.meta.url).href;
    for await (const { name } of Deno.readDir(folder)) {
      if (!name.endsWith(".json")) continue;
      const { url, functions }: RawCoverage = JSON.parse(
        await Deno.readTextFile(`${folder}/${name}`),
      );
      if (!url.startsWith(root) || !/\/(src|stores|plugins|mod\.ts)/.test(url)) continue;
      calls.set(url.slice(root.length), functions.map(({ ranges }) => ranges[0]?.count ?? 0));
    }
    return calls;
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

function doubles(): number {
  const found = new Map<string, Set<string>>();
  for (const { path, text } of files) {
    for (const [, name = ""] of text.matchAll(TYPE)) {
      found.set(name, (found.get(name) ?? new Set()).add(path));
    }
  }
  return [...found.values()].filter((paths) => paths.size > 1).length;
}

/** Files that declare a property, or read it of an object; what only takes objects apart is left out. */
function filesOf(property: string): string {
  const pattern = new RegExp(`(?<![\`\\w])${property}\\??:|\\.${property}\\b`);
  const found = files.filter(({ path, text }) => path.startsWith("src/") && pattern.test(text));
  return `${found.length}: ${found.map(({ path }) => path.slice("src/".length)).join(", ")}`;
}

async function floorEntries(): Promise<number> {
  const text = await Deno.readTextFile(new URL("../tests/layers_test.ts", import.meta.url));
  const list = text.slice(text.indexOf("FLOORS:"), text.indexOf("};"));
  return [...list.matchAll(/"[\w/.]+"/g)].length;
}

async function exportedNames(): Promise<number> {
  const { stdout } = await new Deno.Command(Deno.execPath(), {
    args: ["doc", "--json", new URL("../mod.ts", import.meta.url).pathname],
  }).output();
  const doc: { readonly nodes: unknown } = JSON.parse(new TextDecoder().decode(stdout));
  const names = new Set<string>();
  JSON.stringify(doc.nodes, (key, value) => {
    if (key === "symbols") { for (const { name } of value) names.add(name); }
    return value;
  });
  return names.size;
}

async function linesOf(folder: string, kind: RegExp): Promise<number> {
  let sum = 0;
  for await (
    const { name, isDirectory } of Deno.readDir(new URL(`../${folder}`, import.meta.url))
  ) {
    const path = `${folder}/${name}`;
    if (isDirectory) sum += await linesOf(path, kind);
    else if (kind.test(name)) {
      sum += countLines(await Deno.readTextFile(new URL(`../${path}`, import.meta.url)));
    }
  }
  return sum;
}

function countLines(text: string): number {
  return text.split("\n").length - 1;
}

function say(what: string, figure: number | string): void {
  Deno.stdout.writeSync(new TextEncoder().encode(`${what.padEnd(64)} ${figure}\n`));
}

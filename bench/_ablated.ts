/**
 * Has a benchmark run on sources of which one part is switched off: edited copies of its files stand in
 * for them by an import map, so that the product needs no switch for it.
 *
 * @module
 */

import config from "./deno.json" with { type: "json" };
import type { Figures } from "./_bench.ts";

/** A text of a file, and what is there instead. */
export interface Edit {
  /** Path below the repository. */
  readonly file: string;
  /** What is there: once. */
  readonly from: string;
  /** What is to be there. */
  readonly to: string;
}

const ROOT = new URL("../", import.meta.url);

/**
 * Measures one case of a benchmark on edited sources, in processes of its own.
 *
 * @throws {Error} If a text is not where an edit wants it: the part has changed, and so must its edit.
 */
export async function measureEdited(
  bench: string,
  of: string,
  edits: readonly Edit[],
): Promise<Figures> {
  const folder = await Deno.makeTempDir();
  try {
    const path = await writeConfig(folder, edits);
    const main = new URL("main.ts", import.meta.url).pathname;
    const { success, stdout } = await new Deno.Command(Deno.execPath(), {
      args: ["run", "--no-prompt", "-A", `--config=${path}`, main, bench, "--case", of],
      env: { BENCH_CONFIG: path },
      stderr: "inherit",
    }).output();
    if (!success) throw new Error(`Case "${of}" of ${bench} failed: see above`);
    return JSON.parse(new TextDecoder().decode(stdout));
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** Writes the edited copies and the config that puts them in place. Its path. */
async function writeConfig(folder: string, edits: readonly Edit[]): Promise<string> {
  const texts = new Map<string, string>();
  for (const { file, from, to } of edits) {
    const text = texts.get(file) ?? await Deno.readTextFile(new URL(file, ROOT));
    if (text.split(from).length !== 2) throw new Error(`Not once in ${file}: ${from}`);
    texts.set(file, text.replace(from, () => to));
  }
  const imports: Record<string, string> = { ...config.imports };
  for (const [file, text] of texts) {
    const url = new URL(file, ROOT);
    const copy = `${folder}/${file.replaceAll("/", "-")}`;
    const absolute = text.replaceAll(
      /from "(\.[^"]+)"/g,
      (_, path) => `from "${new URL(path, url)}"`,
    );
    await Deno.writeTextFile(copy, absolute);
    imports[url.href] = `file://${copy}`;
  }
  await Deno.copyFile(new URL("deno.lock", import.meta.url), `${folder}/deno.lock`);
  const path = `${folder}/deno.json`;
  const lock = { path: "./deno.lock", frozen: false }; // the copies are not in it
  await Deno.writeTextFile(path, JSON.stringify({ ...config, imports, lock }));
  return path;
}

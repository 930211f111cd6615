/**
 * Writes the client as a package of npm: one file, its types, no dependency. `deno task client` runs it.
 *
 * @module
 */

const ENTRY = "src/client/mod.ts";
const ROOT = new URL("../", import.meta.url);

/** Writes the package into a folder, which is made if it does not exist. */
export async function writePackage(folder: string): Promise<void> {
  const { version, license }: { readonly version: string; readonly license: string } = JSON.parse(
    await Deno.readTextFile(new URL("deno.json", ROOT)),
  );
  await Deno.mkdir(folder, { recursive: true });
  await bundle(["--minify", ENTRY, "-o", `${folder}/mod.js`]);
  await writeTypes(`${folder}/types`);
  const manifest = {
    name: "@sluice/client",
    version,
    license,
    description: "Enqueues jobs into Sluice over HTTP and waits for their outcomes",
    type: "module",
    exports: { ".": { types: "./types/client/mod.d.ts", default: "./mod.js" } },
    files: ["mod.js", "types"],
    sideEffects: false,
    engines: { node: ">=20" },
  };
  await Deno.writeTextFile(`${folder}/package.json`, JSON.stringify(manifest, undefined, 2));
  await Deno.copyFile(new URL("LICENSE", ROOT), `${folder}/LICENSE`);
}

/** Writes the declarations of the entry, and of each file that it is made of. */
async function writeTypes(folder: string): Promise<void> {
  const files = new Set([ENTRY]);
  for (const file of files) { // grows while it is read
    const text = await Deno.readTextFile(new URL(file, ROOT));
    for (const [, specifier] of text.matchAll(/ from "(\.[^"]+)"/g)) {
      files.add(new URL(specifier!, new URL(file, ROOT)).href.slice(ROOT.href.length));
    }
  }
  const byFolder = Map.groupBy(files, (file) => file.slice("src/".length, file.lastIndexOf("/")));
  const scratch = await Deno.makeTempDir();
  try {
    for (const [name, group] of byFolder) { // a folder at a time: all declarations of one are put in one place
      await bundle(["--declaration", "--outdir", `${scratch}/${name}`, ...group]);
      await Deno.mkdir(`${folder}/${name}`, { recursive: true });
      for await (const { name: file } of Deno.readDir(`${scratch}/${name}`)) {
        if (!file.endsWith(".d.ts")) continue;
        const text = await Deno.readTextFile(`${scratch}/${name}/${file}`);
        const asBuilt = text.replaceAll(/( from "\.[^"]+)\.ts"/g, '$1.js"');
        await Deno.writeTextFile(`${folder}/${name}/${file}`, asBuilt);
      }
    }
  } finally {
    await Deno.remove(scratch, { recursive: true });
  }
}

/** Hint: with the compiler options of the package Deno cannot declare types: those of Node break them. */
async function bundle(args: readonly string[]): Promise<void> {
  const { success, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["bundle", "--quiet", "--no-config", ...args],
    cwd: ROOT,
    stdout: "null",
  }).output();
  if (!success) throw new Error(`deno bundle failed: ${new TextDecoder().decode(stderr)}`);
}

if (import.meta.main) await writePackage(Deno.args[0] ?? "dist/client");

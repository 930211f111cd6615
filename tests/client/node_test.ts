/**
 * The client off Deno: in Node as it is installed here, and by what it imports.
 *
 * @module
 */

import assert from "node:assert/strict";
import { stripTypeScriptTypes } from "node:module";
import { start } from "../../mod.ts";
import { findIn, importsOf, resolveImport, ROOT, sourceFiles } from "../_source.ts";

/** The files that a program loads which imports the client. */
async function loaded() {
  const files = await sourceFiles("src");
  const found = new Set(["src/client/mod.ts"]);
  for (const path of found) { // grows while it is read
    const file = files.find((file) => file.path === path);
    assert.ok(file !== undefined, path);
    for (const specifier of importsOf(file)) found.add(resolveImport(path, specifier));
  }
  return files.filter(({ path }) => found.has(path));
}

Deno.test("the client imports only its own files and words, no package, no Deno and no Node", async () => {
  const files = await loaded();

  const paths = files.map(({ path }) => path);
  assert.deepEqual(paths.filter((path) => !path.startsWith("src/client")), [
    "src/contract/errors.ts",
    "src/contract/job.ts",
    "src/contract/outcome.ts",
  ]);
  const foreign = files.flatMap((file) =>
    findIn(file, (report) => ({
      Identifier(node): void {
        if (["Deno", "process", "Buffer", "require", "window"].includes(node.name)) {
          report(node, node.name);
        }
      },
    }))
  );
  assert.deepEqual(foreign, []);
});

const PROGRAM = `
import { connect, DeadlineError, RejectedError, RequestError } from "./src/client/mod.mjs";
const client = connect(process.argv[2], { token: process.env.TOKEN });
const { id, ...outcome } = await client.run("mail", { lane: "urgent", payload: { to: "ann" } });
const many = await client.enqueueAll("mail", [{ lane: "urgent", payload: 1 }, { lane: "none", payload: 2 }]);
const full = { lane: "full", payload: 1 };
await client.enqueue("mail", full);
const rejected = await client.enqueue("mail", full, { deadlineMs: 0 }).catch((error) => error);
const late = await client.wait(id, { signal: AbortSignal.abort("gone") }).catch((error) => error);
console.log(JSON.stringify([
  outcome, many[0].duplicate, many[1] instanceof RequestError,
  rejected instanceof RejectedError, late, process.release.name,
]));
`;

Deno.test("the client works in Node", { ignore: await nodeVersion() === undefined }, async () => {
  const folder = await Deno.makeTempDir();
  try {
    for (const { path } of await loaded()) {
      const text = await Deno.readTextFile(new URL(path, ROOT));
      const file = `${folder}/${path.replace(/\.ts$/, ".mjs")}`;
      await Deno.mkdir(file.slice(0, file.lastIndexOf("/")), { recursive: true });
      const plain = stripTypeScriptTypes(text).replace(/(from "\.[^"]*)\.ts"/g, '$1.mjs"');
      await Deno.writeTextFile(file, plain);
    }
    await Deno.writeTextFile(`${folder}/program.mjs`, PROGRAM);
    await using sluice = await start({
      admin: { port: 0 },
      pools: {
        mail: {
          handler: () => "sent",
          size: { min: 1, max: 2 },
          lanes: [{ name: "urgent" }, { name: "full", paused: true, maxDepth: 1 }],
        },
      },
    });

    const { code, stdout, stderr } = await new Deno.Command("node", {
      args: [`${folder}/program.mjs`, sluice.adminUrl!],
      env: { TOKEN: "of no use without tokens" },
    }).output();

    assert.equal(new TextDecoder().decode(stderr), "");
    assert.equal(code, 0);
    assert.deepEqual(JSON.parse(new TextDecoder().decode(stdout)), [
      { state: "done", result: "sent" },
      false,
      true,
      true,
      "gone",
      "node",
    ]);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

/** Version of the Node that is installed. `undefined`: none is. */
async function nodeVersion(): Promise<string | undefined> {
  try {
    const { stdout } = await new Deno.Command("node", { args: ["--version"] }).output();
    return new TextDecoder().decode(stdout).trim();
  } catch (thrown) {
    if (thrown instanceof Deno.errors.NotFound) return undefined;
    throw thrown;
  }
}

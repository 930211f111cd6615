/**
 * The client as a package of npm, packed and installed into a project of Node.
 *
 * @module
 */

import assert from "node:assert/strict";
import { start } from "../../mod.ts";
import { writePackage } from "../../tools/client_package.ts";

/** Largest file that a program loads, bytes: 8 KB. */
const LARGEST = 8192;

const PROGRAM = `
import { connect, type Outcome, RejectedError, type RemoteJob } from "@sluice/client";
type Pools = { mail: RemoteJob<{ to: string }, "urgent"> };
const client = connect<Pools>("ADDRESS");
const ended: Outcome & { readonly id: string } = await client.run("mail", {
  lane: "urgent",
  payload: { to: "ann" },
});
// @ts-expect-error there is no lane of that name
const refused: unknown = await client.enqueue("mail", { lane: "urgnt", payload: { to: "bob" } })
  .catch((error) => error);
console.log(JSON.stringify([ended.state, ended.result, refused instanceof RejectedError]));
`;

/** Runs a program that is to succeed: what it wrote. */
async function run(program: string, args: readonly string[], cwd: string): Promise<string> {
  const { success, stdout, stderr } = await new Deno.Command(program, { args: [...args], cwd })
    .output();
  assert.ok(success, new TextDecoder().decode(stderr));
  return new TextDecoder().decode(stdout).trim();
}

async function hasNpm(): Promise<boolean> {
  try {
    return (await new Deno.Command("npm", { args: ["--version"], stdout: "null" }).output())
      .success;
  } catch (thrown) {
    if (thrown instanceof Deno.errors.NotFound) return false;
    throw thrown;
  }
}

Deno.test("the client is packed, installed and typed in a project of Node, in less than 8 KB", {
  ignore: !await hasNpm(),
}, async () => {
  const folder = await Deno.makeTempDir();
  try {
    await writePackage(`${folder}/client`);
    const { size } = await Deno.stat(`${folder}/client/mod.js`);
    assert.ok(size < LARGEST, `${size} bytes`);

    const packed = await run("npm", ["pack", "--silent", "./client"], folder);
    const project = `${folder}/project`;
    await Deno.mkdir(project);
    await Deno.writeTextFile(`${project}/package.json`, '{ "type": "module" }');
    await run("npm", ["install", "--offline", "--no-audit", `../${packed}`], project);
    await using sluice = await start({
      admin: { port: 0 },
      pools: {
        mail: { handler: () => "sent", size: { min: 1, max: 2 }, lanes: [{ name: "urgent" }] },
      },
    });
    const program = PROGRAM.replace("ADDRESS", sluice.adminUrl!);
    await Deno.writeTextFile(`${project}/program.ts`, program);
    await run(Deno.execPath(), ["check", "--node-modules-dir=manual", "program.ts"], project);
    await run(Deno.execPath(), ["transpile", "program.ts", "-o", "program.js"], project);

    const written = await run("node", ["program.js"], project);

    assert.deepEqual(JSON.parse(written), ["done", "sent", false]);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

import assert from "node:assert/strict";
import { temporaryFolder } from "./_io.ts";

const MAIN = new URL("../../src/cli/main.ts", import.meta.url).pathname;

/** Runs `sluice enqueue` with a standard input of its own; nothing listens at its address. */
async function enqueued(input: Uint8Array<ArrayBuffer>): Promise<{ code: number; err: string }> {
  const enqueue = ["enqueue", "mail", "-", "--lane", "batch", "--url", "http://127.0.0.1:1"];
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "--no-prompt", "--no-check", "--allow-net", "--allow-env", MAIN, ...enqueue],
    cwd: new URL("../../", import.meta.url),
    stdin: "piped",
    stdout: "null",
    stderr: "piped",
  }).spawn();
  await new Blob([input]).stream().pipeTo(child.stdin);
  const { code, stderr } = await child.output();
  return { code, err: new TextDecoder().decode(stderr) };
}

Deno.test("enqueue exits 2, when standard input is not UTF-8, and sends nothing", async () => {
  const latin1 = await enqueued(new Uint8Array([0x22, 0x4a, 0xfc, 0x72, 0x67, 0x22])); // "Jürg"
  const utf8 = await enqueued(new TextEncoder().encode('"Jürg \ufffd"'));

  assert.deepEqual([latin1.code, latin1.err], [
    2,
    "Expected UTF-8 from standard input: convert it, for example with iconv, and send binary data as base64\n",
  ]);
  assert.equal(utf8.code, 1);
  assert.match(utf8.err, /^Nothing answers at /);
});

Deno.test({
  name: "pools drain asks on the terminal, when its output goes into a file",
  ignore: Deno.build.os !== "linux", // others have no `script` that takes a command
  fn: async () => {
    await using folder = await temporaryFolder();
    const file = `${folder.path}/out`;
    const drained = async (answer: string): Promise<readonly [code: number, seen: string]> => {
      const drain = `pools drain mail --json --url http://127.0.0.1:1 > ${file}`;
      const run = `${Deno.execPath()} run --no-prompt --no-check --allow-net --allow-env`;
      const child = new Deno.Command("script", {
        args: ["-qec", `${run} ${MAIN} ${drain}`, "/dev/null"],
        cwd: new URL("../../", import.meta.url),
        stdin: "piped",
        stdout: "piped",
        stderr: "null",
      }).spawn();
      await new Blob([`${answer}\n`]).stream().pipeTo(child.stdin);
      const { code, stdout } = await child.output();
      return [code, new TextDecoder().decode(stdout)];
    };

    const [yes, no] = [await drained("y"), await drained("")];

    const question = 'Drain pool "mail"? It accepts no more jobs until the process restarts [y/N] ';
    for (const [code, seen] of [yes, no]) assert.ok(code === 1 && seen.includes(question), seen);
    assert.match(yes[1], /Nothing answers at http/);
    assert.match(no[1], /Nothing was changed/);
    assert.equal(await Deno.readTextFile(file), "");
  },
});

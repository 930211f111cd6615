import assert from "node:assert/strict";

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
    "Expected UTF-8 from standard input: convert it, such as by iconv, and send what is no text as base64\n",
  ]);
  assert.equal(utf8.code, 1);
  assert.match(utf8.err, /^Nothing answers at /);
});

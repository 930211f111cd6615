import assert from "node:assert/strict";
import { ROOT } from "../_source.ts";

/** What an example says to an option that it has not. */
async function refuse(example: string): Promise<readonly [code: number, err: string]> {
  const args = ["run", "--no-prompt", "--allow-read", `examples/${example}.ts`, "--laod"];
  const env = { NO_COLOR: "1" };
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), { args, env, cwd: ROOT })
    .output();
  const decoder = new TextDecoder();
  return [code, decoder.decode(stdout) + decoder.decode(stderr)];
}

Deno.test("deno task load says which options it has, without a stack", async () => {
  assert.deepEqual(await refuse("load"), [
    1,
    "Unknown option '--laod'\nUsage: deno task load [--url URL] [--pool NAME] " +
    "[--phases 50x5,200x10] [--lanes urgent=1,batch=4]\n",
  ]);
});

Deno.test("deno task start says which option it does not know, without a stack", async () => {
  assert.deepEqual(await refuse("start"), [1, "Unknown option '--laod'\n"]);
});

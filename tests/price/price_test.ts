/**
 * What hostile input costs: four times as much of it at most six times the time and the memory, and
 * never a 500 or a stack trace. Measured in a process of its own, by what the processor did for it.
 *
 * @module
 */

import assert from "node:assert/strict";

for (
  const [part, least] of [["routes", 400], ["metrics", 1], ["files", 70], ["commands", 15]] as const
) {
  Deno.test(`hostile input costs no more than it is long: ${part}`, async () => {
    const { stdout, stderr, code } = await new Deno.Command(Deno.execPath(), {
      args: ["run", "--no-prompt", "-A", new URL("_worker.ts", import.meta.url).pathname, part],
    }).output();
    const lines = new TextDecoder().decode(stdout).trim().split("\n");
    const judged = Number(/^judged (\d+)$/.exec(lines.pop() ?? "")?.[1] ?? 0);

    assert.equal(code, 0, new TextDecoder().decode(stderr));
    assert.deepEqual(lines, []);
    assert.ok(judged > least, `${judged}`);
  });
}

import assert from "node:assert/strict";
import { onInterrupt } from "../../src/cli/interrupt.ts";
import { systemIo } from "../../src/cli/io.ts";

Deno.test("onInterrupt() takes signals within half a second for one, and ends at a later one", () => {
  const told: string[] = [];
  let nowMs = 0;
  let signal = (): void => {};
  const io = {
    ...systemIo(),
    onSignal: (handler: () => void) => {
      signal = handler;
      return () => void told.push("listens no more");
    },
    exit: (code: number) => void told.push(`exit ${code}`),
  };

  const unlisten = onInterrupt(io, () => void told.push("first"), () => nowMs);
  signal();
  nowMs = 400;
  signal();
  const early = [...told];
  nowMs = 600;
  signal();
  unlisten();

  assert.deepEqual(early, ["first"]);
  assert.deepEqual(told, ["first", "exit 130", "listens no more"]);
});

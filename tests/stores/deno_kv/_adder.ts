/** A process that adds a job to pool "p" of a file, and leaves. */

import { entry, openQueue, openStore } from "./_store.ts";

const store = await openStore({ path: Deno.args[0]! });
const nowMs = performance.timeOrigin + performance.now();
const queue = await openQueue(store, {
  lanes: [{ name: "low", maxRunningPerKey: Infinity }],
  nowMs,
});
await queue.add([entry({ payload: "from elsewhere" })], nowMs);
await queue.leave(nowMs);
await store.close();

/** A process that opens the store given as its argument, leases what it can, says so, and hangs. */

import { NOW, openQueue, openStore } from "./_store.ts";

const store = await openStore({ path: Deno.args[0]! });
const queue = await openQueue(store);
const { length } = await queue.lease([10], NOW);
Deno.stdout.writeSync(new TextEncoder().encode(`${length}\n`));
setInterval(() => {}, 1000);

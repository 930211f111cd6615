/** Members of one pool over a network, for tests. */

import type { Queue, QueueOptions } from "../../../src/contract/store.ts";
import type { KvStore } from "../../../stores/deno_kv/store.ts";
import type { Server } from "../../_kvconnect/server.ts";
import { openRemote, withServer } from "./_remote.ts";
import { entry, NOW, openQueue } from "./_store.ts";

/** Some members of one pool, that know each other. */
export interface Members {
  readonly server: Server;
  readonly stores: readonly KvStore[];
  readonly queues: readonly Queue[];
}

/** Runs a test with some members, each a store of its own, over a network: all have asked for jobs. */
export async function withMembers(
  count: number,
  test: (members: Members) => Promise<void>,
  options: Partial<QueueOptions> = {},
): Promise<void> {
  await withServer({ maxChecks: 10 }, async (server) => {
    const stores = await Promise.all(Array.from({ length: count }, () => openRemote(server)));
    const queues: Queue[] = [];
    for (const store of stores) queues.push(await openQueue(store, options));
    await Promise.all(queues.map((queue) => queue.renew(NOW)));
    await Promise.all(queues.map((queue) => queue.lease([1], NOW)));
    await Promise.all(queues.map((queue) => queue.renew(NOW)));
    try {
      await test({ server, stores, queues });
    } finally {
      await Promise.all(stores.map((store) => store.close()));
    }
  });
}

/** Adds jobs, this many a part. */
export async function addParts(queue: Queue, parts: number, each: number): Promise<void> {
  for (let part = 0; part < parts; part++) {
    await queue.add(Array.from({ length: each }, () => entry()), NOW);
  }
}

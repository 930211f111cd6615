/**
 * A handler with a resource: a pool of database connections, opened once, closed at the stop. A worker
 * has one connection for as long as it lives, so the pool of workers never wants more than there are.
 *
 * @module
 */

import { defineHandler, type Sluice, start } from "@sluice/sluice";
import { DatabaseSync } from "node:sqlite";
import * as v from "valibot";

/** Connections to one database, lent one at a time. */
export class Connections implements Disposable {
  readonly #idle: DatabaseSync[];
  readonly #all: readonly DatabaseSync[];

  /** Opens `size` connections to a file. */
  constructor(path: string, size: number) {
    this.#all = Array.from({ length: size }, () => new DatabaseSync(path));
    this.#idle = [...this.#all];
  }

  /** How many nobody has. */
  get idle(): number {
    return this.#idle.length;
  }

  /** Lends a connection. */
  take(): DatabaseSync {
    const connection = this.#idle.pop();
    if (connection === undefined) throw new Error("All connections are in use");
    return connection;
  }

  /** Takes a connection back. */
  give(connection: DatabaseSync): void {
    this.#idle.push(connection);
  }

  /** Closes all of them. */
  [Symbol.dispose](): void {
    for (const connection of this.#all) connection.close();
  }
}

/** What a job brings. */
const Report = v.object({ customer: v.string() });

/** Starts the pool: at most as many workers as there are connections. */
export function startReports(connections: Connections): Promise<Sluice> {
  const handler = defineHandler({
    payload: Report,
    start: () => connections.take(),
    run: ({ payload }, { resource }) => {
      const query =
        "SELECT count(*) AS orders, total(cents) AS cents FROM orders WHERE customer = ?";
      return { ...resource.prepare(query).get(payload.customer) };
    },
    stop: (connection) => connections.give(connection),
  });
  return start({
    pools: {
      reports: {
        handler: { use: handler },
        size: { min: 1, max: connections.idle },
        lanes: [{ name: "people", targetWaitMs: 100 }, { name: "nightly", targetWaitMs: null }],
      },
    },
  });
}

if (import.meta.main) {
  using connections = new Connections("./data/shop.db", 4);
  await using sluice = await startReports(connections); // stops before the connections close
  const job = await sluice.enqueue("reports", { lane: "people", payload: { customer: "ann" } });
  await Deno.stdout.write(new TextEncoder().encode(`${JSON.stringify(await job.done)}\n`));
}

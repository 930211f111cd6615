import assert from "node:assert/strict";
import { Connections, startReports } from "./reports.ts";

Deno.test("startReports() lends each worker a connection, and all are back at the stop", async () => {
  const folder = await Deno.makeTempDir();
  try {
    using connections = new Connections(`${folder}/shop.db`, 3);
    const shop = connections.take();
    shop.exec("CREATE TABLE orders (customer TEXT, cents INTEGER)");
    shop.exec("INSERT INTO orders VALUES ('ann', 250), ('ann', 100), ('bob', 700)");
    connections.give(shop);
    const sluice = await startReports(connections);

    const jobs = await Promise.all(
      ["ann", "bob", "eve"].map((customer) =>
        sluice.enqueue("reports", { lane: "people", payload: { customer } })
      ),
    );
    const outcomes = await Promise.all(jobs.map(({ done }) => done));
    assert.ok(connections.idle < 3, "a worker has one");
    await sluice.stop();

    assert.deepEqual(outcomes.map(({ result }) => result), [
      { orders: 2, cents: 350 },
      { orders: 1, cents: 700 },
      { orders: 0, cents: 0 },
    ]);
    assert.equal(connections.idle, 3);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("startReports() turns a job away that is no report", async () => {
  using connections = new Connections(":memory:", 1);
  await using sluice = await startReports(connections);

  await assert.rejects(sluice.enqueue("reports", { lane: "people", payload: { customer: 7 } }));
});

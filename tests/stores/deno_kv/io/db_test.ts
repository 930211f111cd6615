import assert from "node:assert/strict";
import { Db, PATIENCE_MS } from "../../../../stores/deno_kv/io/db.ts";

/** A database with a clock that is `stepMs` later each time it is read. */
async function withDb(stepMs: number, test: (db: Db) => Promise<void>): Promise<void> {
  let nowMs = 0;
  const db = new Db(await Deno.openKv(":memory:"), {
    remote: false,
    maxChecks: 100,
    random: () => 0,
    nowMs: () => nowMs += stepMs,
  });
  try {
    await test(db);
  } finally {
    db.close();
  }
}

Deno.test("Db.retry() tries until an attempt comes to something", async () => {
  await withDb(1, async (db) => {
    let tries = 0;
    const attempt = () => Promise.resolve(++tries === 5 ? tries : undefined);

    assert.equal(await db.retry(attempt), 5);
    assert.equal(tries, 5);
  });
});

Deno.test("Db.retry() gives up once others were quicker for long, unless it may take for ever", async () => {
  await withDb(PATIENCE_MS / 20, async (db) => {
    let tries = 0;
    const attempt = () => Promise.resolve(++tries === 50 ? tries : undefined);

    assert.equal(await db.retry(attempt), undefined);
    assert.ok(tries > 20 && tries < 40, `${tries} tries`);
    assert.equal(await db.retry(attempt, Infinity), 50);
  });
});

Deno.test("Db.retry() tries some times however long that takes: the process may have been suspended", async () => {
  await withDb(2 * PATIENCE_MS, async (db) => {
    let tries = 0;

    assert.equal(await db.retry(() => Promise.resolve(void tries++)), undefined);
    assert.equal(tries, 10);
  });
});

Deno.test("Db.retry() fails with its attempt", async () => {
  await withDb(1, async (db) => {
    const attempt = () => Promise.reject(new TypeError("disk I/O error"));

    await assert.rejects(() => db.retry(attempt), { message: "disk I/O error" });
  });
});

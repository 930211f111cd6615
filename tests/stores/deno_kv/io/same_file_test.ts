import assert from "node:assert/strict";
import { start } from "../../../../mod.ts";
import type { Queue } from "../../../../src/contract/store.ts";
import { until } from "../_remote.ts";
import { entry, NOW, openQueue, openStore, withFolder } from "../_store.ts";

/** What became of an attempt to store a job. */
async function addTo(queue: Queue): Promise<string> {
  try {
    const [added] = await queue.add([entry()], NOW);
    return added!.error?.message ?? "stored";
  } catch (thrown) {
    return String(thrown);
  }
}

/** A copy of a database with fewer jobs, as a backup has it. */
async function backup(folder: string): Promise<string> {
  const path = `${folder}/backup.db`;
  const store = await openStore({ path });
  await store.close();
  return path;
}

/** Puts zeros over the beginning of a file. */
async function overwrite(path: string): Promise<void> {
  using file = await Deno.open(path, { write: true });
  await file.write(new Uint8Array(32));
}

/** What an operator may do to `FOLDER/data/queue.db` by hand, and what is said of it. */
const DEEDS: Readonly<Record<string, [deed: (folder: string) => unknown, says: string]>> = {
  "rm queue.db": [(folder) => Deno.remove(`${folder}/data/queue.db`), "queue.db is gone"],
  "rm queue.db*": [(folder) => {
    for (const end of ["", "-wal", "-shm"]) Deno.removeSync(`${folder}/data/queue.db${end}`);
  }, "queue.db is gone"],
  "rm -rf data": [(folder) => Deno.remove(`${folder}/data`, { recursive: true }), "is gone"],
  "mv data elsewhere": [(folder) => Deno.rename(`${folder}/data`, `${folder}/old`), "is gone"],
  "mv queue.db elsewhere": [
    (folder) => Deno.rename(`${folder}/data/queue.db`, `${folder}/data/old.db`),
    "queue.db is gone",
  ],
  "mv data elsewhere, cp -r it back": [(folder) => {
    Deno.renameSync(`${folder}/data`, `${folder}/old`);
    Deno.mkdirSync(`${folder}/data`);
    for (const end of ["", "-wal", "-shm"]) {
      Deno.copyFileSync(`${folder}/old/queue.db${end}`, `${folder}/data/queue.db${end}`);
    }
  }, "another"],
  "mv data elsewhere, a file in its place": [(folder) => {
    Deno.renameSync(`${folder}/data`, `${folder}/old`);
    Deno.writeTextFileSync(`${folder}/data`, "");
  }, "is gone"],
  "rm queue.db-wal": [(folder) => Deno.remove(`${folder}/data/queue.db-wal`), "-wal is gone"],
  "> queue.db-wal": [
    (folder) => Deno.truncate(`${folder}/data/queue.db-wal`),
    "-wal was cut or overwritten",
  ],
  "truncate -s 16 queue.db-wal": [
    (folder) => Deno.truncate(`${folder}/data/queue.db-wal`, 16),
    "-wal was cut or overwritten",
  ],
  "truncate -s 20000 queue.db-wal": [
    (folder) => Deno.truncate(`${folder}/data/queue.db-wal`, 20_000),
    "-wal was cut",
  ],
  "dd if=/dev/zero of=queue.db-wal bs=32 count=1 conv=notrunc": [
    (folder) => overwrite(`${folder}/data/queue.db-wal`),
    "-wal was cut or overwritten",
  ],
  "mv backup.db queue.db": [
    async (folder) => Deno.rename(await backup(folder), `${folder}/data/queue.db`),
    "another",
  ],
  "mkdir queue.db": [(folder) => {
    Deno.removeSync(`${folder}/data/queue.db`);
    Deno.mkdirSync(`${folder}/data/queue.db`);
  }, "another"],
  "an empty file": [(folder) => {
    Deno.removeSync(`${folder}/data/queue.db`);
    Deno.writeTextFileSync(`${folder}/data/queue.db`, "");
  }, "another"],
  "> queue.db": [(folder) => Deno.truncate(`${folder}/data/queue.db`), "queue.db was overwritten"],
  "cp backup.db queue.db": [
    async (folder) => Deno.copyFile(await backup(folder), `${folder}/data/queue.db`),
    "queue.db was overwritten",
  ],
};

for (const [name, [deed, says]] of Object.entries(DEEDS)) {
  Deno.test(`nothing is acknowledged that is lost: ${name}`, async () => {
    await withFolder(async (folder) => {
      const store = await openStore({ path: `${folder}/data/queue.db` });
      const queue = await openQueue(store);
      const payload = "x".repeat(50_000);
      for (let job = 0; job < 30; job++) await queue.add([entry({ payload })], NOW);
      await queue.settle([], NOW);
      // The log goes into the file once it is large, so the file is larger than that of a backup.
      for (let round = 0; round < 100; round++) await queue.add([entry({ payload })], NOW);

      await deed(folder);

      const first = await addTo(queue);
      const second = await addTo(queue);
      assert.match(first, /The database is not the one that was opened: /);
      assert.ok(first.includes(says), first);
      assert.equal(second, first);
      await assert.rejects(async () => await queue.renew(NOW), new RegExp(says));
      await store.close();
    });
  });
}

Deno.test("rm queue.db-shm is noticed by the next heartbeat", async () => {
  await withFolder(async (folder) => {
    const store = await openStore({ path: `${folder}/queue.db` });
    const queue = await openQueue(store);
    await Deno.remove(`${folder}/queue.db-shm`);

    await assert.rejects(async () => await queue.renew(NOW), /queue\.db-shm is gone/);
    assert.match(await addTo(queue), /is gone/);
    await store.close();
  });
});

Deno.test("a database that is put back goes on, and what was leased meanwhile goes back", async () => {
  await withFolder(async (folder) => {
    const data = `${folder}/data`;
    const store = await openStore({ path: `${data}/queue.db` });
    const queue = await openQueue(store, { leaseMs: 1000 });
    await queue.add([entry({ payload: "early" })], NOW);
    await Deno.rename(data, `${folder}/away`);
    await assert.rejects(async () => await queue.lease([1], NOW), /is gone/);
    assert.match(await addTo(queue), /is gone/);

    await Deno.rename(`${folder}/away`, data);

    assert.equal(await addTo(queue), "stored");
    assert.equal((await queue.renew(NOW)).alive, false);
    for (let atMs = NOW; atMs < NOW + 3000; atMs += 300) await queue.renew(atMs);
    const jobs = await queue.lease([5], NOW + 3000);
    assert.deepEqual(jobs.map(({ payload }) => payload), ["early", null]);
    await store.close();
  });
});

Deno.test("a database by a symbolic link is looked at where it is", async () => {
  await withFolder(async (folder) => {
    await Deno.mkdir(`${folder}/real`);
    await Deno.mkdir(`${folder}/linked`);
    await (await openStore({ path: `${folder}/real/queue.db` })).close();
    await Deno.symlink(`${folder}/real/queue.db`, `${folder}/linked/queue.db`);
    const store = await openStore({ path: `${folder}/linked/queue.db` });
    const queue = await openQueue(store);
    assert.equal(await addTo(queue), "stored");

    await Deno.remove(`${folder}/real/queue.db-wal`);

    assert.match(await addTo(queue), /real\/queue\.db-wal is gone/);
    await store.close();
  });
});

Deno.test("a database that two processes work on stays the one that was opened", async () => {
  await withFolder(async (folder) => {
    const path = `${folder}/queue.db`;
    const one = await openStore({ path });
    const first = await openQueue(one);
    const two = await openStore({ path });
    const second = await openQueue(two);
    assert.equal(await addTo(first), "stored");
    assert.equal(await addTo(second), "stored");

    await second.leave(NOW);
    await two.close();

    assert.equal(await addTo(first), "stored");
    assert.equal((await first.renew(NOW)).alive, true);
    await one.close();
  });
});

Deno.test("a pool whose file was deleted refuses jobs, says so, is stale, and stops", async () => {
  await withFolder(async (folder) => {
    const path = `${folder}/queue.db`;
    const errors: string[] = [];
    const system = await start({
      store: { use: "deno-kv", with: { path } },
      pools: {
        mail: {
          handler: "work",
          size: { min: 1, max: 2 },
          lanes: [{ name: "urgent" }],
          leaseMs: 1000,
          drainMs: 500,
        },
      },
    }, {
      plugins: { work: () => "done" },
      observer: (event) => {
        if (event.kind === "store-failed") errors.push(event.error);
      },
    });
    await system.enqueue("mail", { lane: "urgent", payload: 1 });

    for (const end of ["", "-wal", "-shm"]) await Deno.remove(`${path}${end}`);

    await until(() => Promise.resolve(system.pool("mail").snapshot().stale));
    assert.equal(errors.length, 1);
    assert.match(errors[0]!, /^The database is not the one that was opened: .*queue\.db is gone/);
    await assert.rejects(system.enqueue("mail", { lane: "urgent", payload: 2 }), {
      name: "StoreError",
      message: /^The job could not be stored: The database is not the one that was opened: /,
    });
    await system.stop().catch(() => {});
    await assert.rejects(Deno.stat(path), Deno.errors.NotFound);
  });
});

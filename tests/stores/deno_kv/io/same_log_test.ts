import assert from "node:assert/strict";
import { Db } from "../../../../stores/deno_kv/io/db.ts";
import { SameFile } from "../../../../stores/deno_kv/io/same_file.ts";
import { withFolder } from "../_store.ts";

/** SQL of another program on the file: a process of its own, as locks are held by processes. */
async function sql(path: string, text: string): Promise<void> {
  const program = `
    const { DatabaseSync } = await import("node:sqlite");
    const db = new DatabaseSync(${JSON.stringify(path)});
    for (const one of ${JSON.stringify(text.split(";"))}) db.prepare(one).all();
    db.close();`;
  const args = ["eval", program];
  const { success, stderr } = await new Deno.Command(Deno.execPath(), { args }).output();
  assert.ok(success, new TextDecoder().decode(stderr));
}

/** A database with some commits in its log, all of them seen. */
async function withLog(test: (db: Db, path: string) => Promise<void>): Promise<void> {
  await withFolder(async (folder) => {
    const path = `${folder}/queue.db`;
    const kv = await Deno.openKv(path);
    const file = new SameFile(path);
    const db = new Db(kv, { remote: false, file, maxChecks: 100, random: () => 0.5 });
    try {
      for (let count = 0; count < 20; count++) await commit(db, count);
      await test(db, path);
    } finally {
      db.close();
    }
  });
}

/** Commits; `then` happens right after that, before anyone has looked. */
async function commit(db: Db, value: number, then: () => unknown = () => {}): Promise<void> {
  const atomic = db.kv.atomic().set(["value"], value);
  const commitNow = atomic.commit.bind(atomic);
  atomic.commit = async () => {
    const answer = await commitNow();
    await then();
    return answer;
  };
  assert.notEqual(await db.commit({ atomic, signals: false }), undefined);
}

const CHECKPOINTS = [
  "PRAGMA wal_checkpoint(PASSIVE)",
  "PRAGMA wal_checkpoint(RESTART)",
  "PRAGMA wal_checkpoint(TRUNCATE)",
  "PRAGMA wal_checkpoint(RESTART);CREATE TABLE mine (x);INSERT INTO mine VALUES (1)",
  "PRAGMA wal_checkpoint(RESTART);PRAGMA journal_size_limit=0;CREATE TABLE mine (x)",
];

for (const checkpoint of CHECKPOINTS) {
  Deno.test(`a log that another program may change is no fault: ${checkpoint}`, async () => {
    await withLog(async (db, path) => {
      await sql(path, checkpoint);
      db.file!.checkAll();
      for (let count = 20; count < 25; count++) await commit(db, count);
      await commit(
        db,
        25,
        () => sql(path, checkpoint.replace("mine", "ours").split(";INSERT")[0]!),
      );
      for (let count = 26; count < 30; count++) await commit(db, count);
      assert.equal(db.file!.isUnclear, false);
      assert.equal((await db.get(["value"])).value, 29);
    });
  });
}

for (const bytes of [0, 16, 28, 32, 4000, 30_000]) {
  Deno.test(`a log that is cut to ${bytes} bytes right after a commit keeps nothing`, async () => {
    await withLog(async (db, path) => {
      await assert.rejects(
        commit(db, 20, () => Deno.truncate(`${path}-wal`, bytes)),
        /queue\.db-wal was cut/,
      );
      await assert.rejects(commit(db, 21), /queue\.db-wal was cut.*\. Stop all processes, restore/);
    });
  });

  Deno.test(`a log that is cut to ${bytes} bytes between two commits keeps nothing`, async () => {
    await withLog(async (db, path) => {
      await Deno.truncate(`${path}-wal`, bytes);
      await assert.rejects(commit(db, 20), /queue\.db-wal was cut/);
      assert.throws(() => db.file!.checkAll(), /queue\.db-wal was cut/);
      assert.equal(db.file!.faults, 1);
    });
  });
}

/** From now on another program empties the log right after each commit, this many times. */
function emptied(db: Db, path: string, times: number): void {
  const { atomic } = db.kv;
  db.kv.atomic = () => {
    const next = atomic.call(db.kv);
    const commitNow = next.commit.bind(next);
    next.commit = async () => {
      const answer = await commitNow();
      if (times-- > 0) await sql(path, "PRAGMA wal_checkpoint(TRUNCATE)");
      return answer;
    };
    return next;
  };
}

Deno.test("a commit whose log is emptied is known to be kept once another one is seen", async () => {
  await withLog(async (db, path) => {
    emptied(db, path, 3);
    await commit(db, 20);
    assert.equal((await db.get(["value"])).value, 20);
  });
});

Deno.test("a log that is emptied after each commit fails them, and is no fault for good", async () => {
  await withLog(async (db, path) => {
    emptied(db, path, 11);
    await assert.rejects(commit(db, 20), /is emptied after each commit: end what does that/);
    await commit(db, 21);
    assert.equal(db.file!.faults, 0);
  });
});

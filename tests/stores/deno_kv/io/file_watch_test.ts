import assert from "node:assert/strict";
import { FileWatch } from "../../../../stores/deno_kv/io/file_watch.ts";
import { withFolder } from "../_store.ts";

/** A log that is watched. */
interface Scene {
  /** Commits of this process. */
  readonly db: { commits: number };
  /** Whether no other process is known. */
  readonly alone: { is: boolean };
  /** Watches that were begun, and those of them that have ended. */
  readonly watches: { begun: number; ended: number };
  /** How often a change was told. */
  changes(): number;
  /** Another commit makes the log grow. */
  grow(): Promise<void>;
}

async function withScene(test: (scene: Scene) => Promise<void>): Promise<void> {
  await withFolder(async (folder) => {
    const db = { commits: 0 };
    const alone = { is: true };
    const watches = { begun: 0, ended: 0 };
    let changes = 0;
    const file = `${folder}/queue.db`;
    await Deno.writeTextFile(`${file}-wal`, "");
    const { watchFs } = Deno;
    Deno.watchFs = (...given) => {
      const files = watchFs(...given);
      const next = files[Symbol.asyncIterator]().next.bind(files);
      watches.begun++;
      const over = (): void => void watches.ended++;
      return Object.assign(files, {
        [Symbol.asyncIterator]: () => ({
          next,
          return: () => {
            over();
            files.close();
            return Promise.resolve({ done: true, value: undefined });
          },
        }),
      });
    };
    const watch = new FileWatch(file, db, () => alone.is, () => changes++);
    try {
      await test({
        db,
        alone,
        watches,
        changes: () => changes,
        grow: () => Deno.writeTextFile(`${file}-wal`, "x", { append: true }),
      });
    } finally {
      watch.close();
      Deno.watchFs = watchFs;
    }
  });
}

/** Waits for something that timers bring about. */
async function until(is: () => boolean): Promise<void> {
  while (!is()) await new Promise((resolve) => setTimeout(resolve, 2));
}

Deno.test("FileWatch tells of a log that grows", async () => {
  await withScene(async ({ changes, grow, watches }) => {
    await grow();
    await until(() => changes() > 0);

    assert.deepEqual(watches, { begun: 1, ended: 0 });
  });
});

Deno.test("FileWatch looks without a watch while this process commits all the time, and watches again after", async () => {
  await withScene(async ({ db, changes, grow, watches }) => {
    while (watches.ended === 0) {
      db.commits += 5;
      await grow();
    }
    const before = changes();

    while (changes() < before + 20) { // nothing grows, and it looks all the same
      db.commits += 5;
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    assert.deepEqual(watches, { begun: 1, ended: 1 });

    await until(() => watches.begun === 2);
    const calm = changes();
    await grow();
    await until(() => changes() > calm);
    assert.deepEqual(watches, { begun: 2, ended: 1 });
  });
});

Deno.test("FileWatch watches again once there are others, and goes on however often this process commits", async () => {
  await withScene(async ({ db, alone, grow, watches }) => {
    while (watches.ended === 0) {
      db.commits += 5;
      await grow();
    }

    alone.is = false;
    await until(() => (db.commits += 5) > 0 && watches.begun === 2);
    for (let grown = 0; grown < 200; grown++) {
      db.commits += 50;
      await grow();
      await new Promise((resolve) => setTimeout(resolve, 1));
    }

    assert.deepEqual(watches, { begun: 2, ended: 1 });
  });
});

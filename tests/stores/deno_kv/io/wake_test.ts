import assert from "node:assert/strict";
import { Db } from "../../../../stores/deno_kv/io/db.ts";
import { SIGNAL_KEY } from "../../../../stores/deno_kv/record/keys.ts";
import { Wake } from "../../../../stores/deno_kv/io/wake.ts";

/** How often is looked before a change counts as missed: each look is a poll, 10 ms after the last. */
const MOST_LOOKS = 50;

/** Someone who listens to a database, and what it was told. */
interface Scene {
  /** Another process commits something. */
  foreign(): Promise<void>;
  /** This process commits something; its answer comes once it is let go. */
  own(): Promise<() => Promise<void>>;
  /** Looks on until `changed` was called so often, or has been missed. */
  changes(count: number): Promise<void>;
  /** Looks so often, and says how often `changed` was called. */
  after(looks: number): Promise<number>;
}

async function withScene(test: (scene: Scene) => Promise<void>): Promise<void> {
  const kv = await Deno.openKv(":memory:");
  const db = new Db(kv, { remote: false, maxChecks: 100, random: () => 0.1 });
  let looks = 0;
  let changes = 0;
  let looked = Promise.withResolvers<void>();
  const get = kv.get.bind(kv);
  const note = (): void => {
    looks++;
    looked.resolve();
    looked = Promise.withResolvers();
  };
  kv.get = <T>(...given: Parameters<typeof get>) =>
    get<T>(...given).finally(() => queueMicrotask(() => queueMicrotask(note)));
  const changed = (): Promise<void> => {
    changes++;
    return Promise.resolve();
  };
  const wake = new Wake(db, { file: undefined, remote: false, pollMs: 10, seen: 0, changed });
  try {
    await test({
      foreign: async () => {
        await kv.atomic().sum(SIGNAL_KEY, 1n).commit();
      },
      own: async () => {
        const gone = Promise.withResolvers<void>();
        const applied = Promise.withResolvers<void>();
        const atomic = kv.atomic().sum(SIGNAL_KEY, 1n);
        const commit = atomic.commit.bind(atomic);
        atomic.commit = async () => {
          const result = await commit();
          applied.resolve();
          await gone.promise;
          return result;
        };
        const committed = db.commit({ atomic, signals: true });
        await applied.promise;
        return async () => {
          gone.resolve();
          await committed;
        };
      },
      changes: async (count) => {
        const before = looks;
        while (changes < count) {
          assert.ok(
            looks - before < MOST_LOOKS,
            `Only ${changes} of ${count} changes were noticed`,
          );
          await looked.promise;
        }
      },
      after: async (count) => {
        for (const before = looks; looks - before < count;) await looked.promise;
        return changes;
      },
    });
  } finally {
    await wake.close();
    kv.close();
  }
}

Deno.test("Wake misses no change, whatever of its own was on its way when it looked", async () => {
  await withScene(async ({ foreign, own, changes }) => {
    const answered = await own();
    await foreign();
    await changes(1);
    await answered();

    await foreign();

    await changes(2);
  });
});

Deno.test("Wake takes no commit of its own for a change", async () => {
  await withScene(async ({ foreign, own, after, changes }) => {
    await (await own())();
    const answered = await own();
    assert.equal(await after(3), 0);
    await answered();
    assert.equal(await after(3), 0);

    await foreign();
    await changes(1);
    assert.equal(await after(3), 1);
  });
});

import assert from "node:assert/strict";
import fc from "fast-check";
import { LIST_ORDER } from "../../../src/admin/api/job_list.ts";
import { type ListPlace, pageOfPools, readPlace } from "../../../src/admin/api/pools_list.ts";
import type { JobRecord, JobState } from "../../../src/contract/job.ts";
import type { PoolHandle } from "../../../src/runtime/handles.ts";
import type { Queue, Store } from "../../../src/contract/store.ts";
import { MemoryStore } from "../../../stores/memory/mod.ts";
import { end, entry, NOW, openQueue, openStore } from "../../stores/deno_kv/_store.ts";

interface Pools {
  readonly queues: readonly Queue[];
  readonly handles: readonly PoolHandle[];
}

async function openPools(store: Store, count: number): Promise<Pools> {
  const queues: Queue[] = [];
  for (let index = 0; index < count; index++) {
    const keep = { done: 1000, dead: 1000, forMs: Infinity };
    queues.push(await openQueue(store, { pool: `p${index}`, keep, attempts: [9] }));
  }
  const handles = queues.map((queue, index) =>
    // All that a list asks of a pool.
    ({ name: `p${index}`, list: async (query) => await queue.list(query) }) as PoolHandle
  );
  return { queues, handles };
}

/** One job that ends as it is said, or does not, at a time. */
interface Life {
  readonly pool: number;
  readonly atMs: number;
  readonly to: "done" | "dead" | "cancelled" | "running" | "ready" | "delayed";
}

async function live(queue: Queue, { to, atMs }: Life): Promise<void> {
  const dueAtMs = to === "delayed" ? NOW + 1e9 + atMs : 0;
  const [added] = await queue.add([entry({ dueAtMs })], NOW + atMs);
  if (to === "cancelled") await queue.change(added!.id, "cancel", NOW + atMs);
  if (to === "ready" || to === "delayed" || to === "cancelled") return;
  const [job] = await queue.lease([1], NOW + atMs);
  if (to !== "running") await queue.settle([end(job!, to)], NOW + atMs);
}

/** All that is listed, page by page. `between` is done after each page. */
async function listed(
  handles: readonly PoolHandle[],
  state: JobState | undefined,
  limit: number,
  between: () => Promise<void> = () => Promise.resolve(),
): Promise<readonly JobRecord[]> {
  const all: JobRecord[] = [];
  let from: ListPlace | undefined;
  do {
    const page = await pageOfPools(handles, { ...LIST_ORDER, state, limit }, from, () => true);
    assert.ok(page.jobs.length <= limit);
    all.push(...page.jobs);
    from = page.next === undefined ? undefined : readPlace(JSON.stringify(page.next));
    assert.equal(from === undefined, page.next === undefined);
    await between();
  } while (from !== undefined);
  return all;
}

const lives = fc.array(
  fc.record({
    pool: fc.nat(4),
    atMs: fc.nat(30),
    to: fc.constantFrom<Life["to"]>("done", "dead", "cancelled", "running", "ready", "delayed"),
  }),
  { maxLength: 40 },
);

for (
  const [name, open] of [
    ["memory", () => Promise.resolve(new MemoryStore())],
    ["deno-kv", () => openStore({ path: ":memory:" })],
  ] as const
) {
  Deno.test(`pageOfPools() lists each job once, in one order over all pools of ${name}`, async () => {
    await fc.assert(
      fc.asyncProperty(lives, fc.integer({ min: 1, max: 9 }), async (all, limit) => {
        const store = await open();
        const { queues, handles } = await openPools(store, 5);
        // What runs is leased last: or it would be what the others are to end.
        const late = ["running", "ready", "delayed"];
        const order = all.toSorted((a, b) =>
          late.indexOf(a.to) - late.indexOf(b.to) || a.atMs - b.atMs
        );
        for (const life of order) await live(queues[life.pool]!, life);
        for (const state of [undefined, "done", "dead", "cancelled", "running"] as const) {
          const jobs = await listed(handles, state, limit);

          const wanted = all.filter(({ to }) => state === undefined || to === state);
          assert.equal(new Set(jobs.map(({ pool, id }) => `${pool} ${id}`)).size, jobs.length);
          assert.equal(jobs.length, wanted.length, `${state}`);
          const ends = jobs.map(({ endedAtMs }) => endedAtMs ?? -Infinity);
          assert.deepEqual(ends, ends.toSorted((a, b) => b - a));
        }
        await store.close();
      }),
      { numRuns: 25 },
    );
  });

  Deno.test(`pageOfPools() neither skips nor doubles a job of ${name} while others end`, async () => {
    const store = await open();
    const { queues, handles } = await openPools(store, 3);
    for (let n = 0; n < 60; n++) {
      await live(queues[n % 3]!, { pool: 0, atMs: n, to: n % 2 === 0 ? "dead" : "done" });
    }
    const before = new Set<string>();
    for (const handle of handles) {
      for (const { id } of (await handle.list({ limit: 99 })).jobs) before.add(id);
    }
    let atMs = 1000;

    const jobs = await listed(handles, undefined, 7, async () => {
      for (const queue of queues) {
        for (let n = 0; n < 4; n++) await live(queue, { pool: 0, atMs: atMs++, to: "dead" });
      }
    });

    assert.deepEqual(new Set(jobs.map(({ id }) => id)), before);
    assert.equal(jobs.length, 60);
    await store.close();
  });
}

Deno.test("pageOfPools() shows a job that died later in the second pool first", async () => {
  const { queues, handles } = await openPools(new MemoryStore(), 2);
  for (let atMs = 0; atMs < 100; atMs++) await live(queues[0]!, { pool: 0, atMs, to: "dead" });
  await live(queues[1]!, { pool: 1, atMs: 200, to: "dead" });

  const page = await pageOfPools(
    handles,
    { ...LIST_ORDER, state: "dead", limit: 50 },
    undefined,
    () => true,
  );

  assert.deepEqual(page.jobs.slice(0, 2).map(({ pool }) => pool), ["p1", "p0"]);
  assert.equal(page.jobs.length, 50);
});

Deno.test("pageOfPools() goes on behind what it has looked at, where few jobs match", async () => {
  const { queues, handles } = await openPools(new MemoryStore(), 2);
  for (let atMs = 0; atMs < 100; atMs++) {
    await live(queues[atMs % 2]!, { pool: 0, atMs, to: "done" });
  }
  let looked = 0;

  const query = { ...LIST_ORDER, limit: 5 };
  const matches = ({ endedAtMs }: JobRecord): boolean => {
    looked++;
    return endedAtMs === NOW + 10 || endedAtMs === NOW + 11;
  };
  const page = await pageOfPools(handles, query, undefined, matches);

  assert.equal(page.jobs.length, 2);
  assert.deepEqual([page.next, looked], [undefined, 100]);
});

Deno.test("readPlace() takes nothing that is no place", () => {
  for (const text of ["", "1", "{", "{}", '{"spots":{"p":1},"last":{}}', '{"spots":{}}']) {
    assert.equal(readPlace(text), undefined, text);
  }
});

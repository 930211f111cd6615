import assert from "node:assert/strict";
import type { JobRecord } from "../../../mod.ts";
import { Failures } from "../../../src/admin/api/failures.ts";
import { ListLimit } from "../../../src/admin/api/list_limit.ts";
import type { PoolHandle } from "../../../src/runtime/handles.ts";
import { VirtualClock } from "../../../src/time/virtual_clock.ts";
import { problemOf, type Running, running } from "../_app.ts";

async function fail(system: Running, errors: readonly string[], lane = "urgent"): Promise<void> {
  for (const fail of errors) {
    await system.sluice.enqueue("mail", { lane, payload: { fail } });
    await system.clock.advance(1_000);
  }
}

async function failures(system: Running, query = ""): Promise<{
  groups: {
    group: string;
    count: number;
    series: number[];
    example: { id: string; error?: string };
  }[];
  looked: number;
  hasMore: boolean;
}> {
  return await (await system.send("GET", `/api/failures${query}`)).json();
}

Deno.test("GET /api/failures groups dead jobs by what their errors have in common", async () => {
  await using system = await running();
  await fail(system, ["no user 17", "no user 18", "Connection reset", "no user 19"]);

  const { groups, looked, hasMore } = await failures(system);

  assert.deepEqual([looked, hasMore], [4, false]);
  assert.deepEqual(groups.map(({ group, count }) => [group, count]), [
    ["no user <n>", 3],
    ["Connection reset", 1],
  ]);
  assert.equal(groups[0]?.example.error, "no user 19");
  assert.deepEqual(groups[0]?.series, [1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1]);
  const other = await failures(system, "?pool=typed");
  assert.deepEqual([other.groups, other.looked], [[], 0]);
  const unknown = await problemOf(await system.send("GET", "/api/failures?pool=mial"));
  assert.match(unknown.detail, /No pool is named "mial": did you mean "mail"/);
});

Deno.test("A group of failures is listed and retried by its name, and looked at again after that", async () => {
  await using system = await running();
  await fail(system, ["no user 17", "Connection reset", "no user 18"]);
  const group = encodeURIComponent("no user <n>");
  const list = async (query: string): Promise<readonly string[]> => {
    const response = await system.send("GET", `/api/pools/mail/jobs?${query}`);
    return (await response.json()).jobs.map(({ error }: { error: string }) => error);
  };

  assert.deepEqual(await list(`group=${group}`), ["no user 18", "no user 17"]);
  assert.deepEqual(await list(`group=${group}&match=17`), ["no user 17"]);
  assert.deepEqual(await list("group=no"), []);
  assert.equal((await failures(system)).groups[0]?.count, 2);
  const body = { discard: true, group: "no user <n>" };
  const started = await (await system.send("POST", "/api/pools/mail/operations", body)).json();
  for (let status = "running"; status === "running";) {
    ({ status } = await (await system.send("GET", `/api/operations/${started.id}`)).json());
    await new Promise((resolve) => setTimeout(resolve, 1));
  }

  assert.deepEqual((await failures(system)).groups.map(({ group }) => group), ["Connection reset"]);
});

/** A pool with many dead jobs, of which `errorOf` says why, that counts what is read of it. */
function poolOf(count: number, errorOf: (index: number) => string | undefined): {
  readonly pool: PoolHandle;
  readonly read: { jobs: number };
} {
  const read = { jobs: 0 };
  const pool: Pick<PoolHandle, "name" | "list"> = {
    name: "mail",
    list: ({ limit, cursor }) => {
      const from = Number(cursor ?? 0);
      const to = Math.min(count, from + limit);
      const jobs = Array.from({ length: to - from }, (_, place) => recordOf(from + place, errorOf));
      read.jobs += jobs.length;
      return Promise.resolve({ jobs, cursor: to < count ? String(to) : undefined });
    },
  };
  return { pool: pool as PoolHandle, read };
}

function recordOf(index: number, errorOf: (index: number) => string | undefined): JobRecord {
  return {
    ...{ id: `${index}`, pool: "mail", lane: "urgent", type: "", payload: null, attempt: 1 },
    ...{ state: "dead", reason: "attempts", createdAtMs: 0, dueAtMs: 0 },
    endedAtMs: 1_000_000 - index,
    error: errorOf(index),
  };
}

function failuresOn(clock: VirtualClock): Failures {
  return new Failures({
    lists: new ListLimit(new AbortController().signal),
    show: (value) => value,
    clock,
  });
}

Deno.test("Failures looks at the latest 5,000 of 100,000 dead jobs, once for all who ask in two seconds", async () => {
  const clock = new VirtualClock();
  const asked = failuresOn(clock);
  const { pool, read } = poolOf(100_000, (index) => `no user ${index}`);

  const answers = await Promise.all(Array.from({ length: 60 }, () => asked.of([pool], 1)));
  await asked.soon(pool, 1);
  const [first] = answers;

  assert.equal(read.jobs, 5_000);
  assert.deepEqual([first?.looked, first?.hasMore, first?.groups[0]?.count], [5_000, true, 5_000]);
  await clock.advance(1_999);
  await asked.of([pool], 1);
  assert.equal(read.jobs, 5_000);
  await clock.advance(1);
  await asked.of([pool], 1);
  assert.equal(read.jobs, 10_000);
  asked.forget(pool);
  await asked.of([pool], 10);
  assert.equal(read.jobs, 10_500);
});

Deno.test("Failures tells 200 groups of a pool apart, lists 50, and counts the others", async () => {
  const asked = failuresOn(new VirtualClock());
  const letters = (index: number): string =>
    [...String(index)].map((digit) => "abcdefghij"[Number(digit)]).join("");
  const { pool } = poolOf(1_000, (index) => index === 0 ? undefined : `no ${letters(index % 300)}`);

  const { groups, others, looked } = await asked.of([pool], 1);

  assert.equal(groups.length, 50);
  assert.equal(looked, 1_000);
  assert.equal(others + groups.reduce((sum, { count }) => sum + count, 0), 1_000);
});

Deno.test("Failures fails where the store does, and asks it again; soon() has nothing then", async () => {
  const asked = failuresOn(new VirtualClock());
  let fails = true;
  const { pool } = poolOf(3, () => undefined);
  const failing = {
    ...pool,
    list: (query) => fails ? Promise.reject(new Error("down")) : pool.list(query),
  } as PoolHandle;

  await assert.rejects(asked.of([failing], 1), /down/);
  assert.equal(await asked.soon(failing, 1), undefined);
  fails = false;
  assert.deepEqual((await asked.of([failing], 1)).groups.map(({ group }) => group), ["(attempts)"]);
});

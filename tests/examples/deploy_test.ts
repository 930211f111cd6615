import assert from "node:assert/strict";
import { audit } from "../../stores/deno_kv/doctor/audit.ts";
import { type Server, startServer, TOKEN } from "../_kvconnect/server.ts";
import { openQueue, openStore } from "../stores/deno_kv/_store.ts";
import { attached, Instance } from "./_deploy.ts";

interface JobJson {
  readonly state: string;
  readonly attempt: number;
}

/** Adds jobs that take so long, ms each. Their ids. */
async function add(instance: Instance, jobsMs: readonly number[]): Promise<readonly string[]> {
  const jobs = jobsMs.map((ms) => ({ lane: "batch", payload: { ms } }));
  const { results } = await instance.json<{ results: { id: string }[] }>(
    "/api/pools/mail/jobs",
    jobs,
  );
  return results.map(({ id }) => id);
}

async function jobsOf(instance: Instance, ids: readonly string[]): Promise<readonly JobJson[]> {
  return await Promise.all(ids.map((id) => instance.json<JobJson>(`/api/jobs/${id}`)));
}

async function until(isSo: () => Promise<boolean>): Promise<void> {
  while (!await isSo()) await new Promise((resolve) => setTimeout(resolve, 50));
}

/** What does not agree in the database. */
async function faultsIn({ url }: Server): Promise<readonly string[]> {
  Deno.env.set("DENO_KV_ACCESS_TOKEN", TOKEN);
  using kv = await Deno.openKv(url);
  return await audit(kv, "mail");
}

Deno.test("examples/deploy.ts hands back what does not end in time, uncharged, and the next instance goes on", async () => {
  await using server = startServer({ latencyMs: 20, maxChecks: 10 });
  await using first = await Instance.start(attached(server));
  const short = await add(first, Array.from({ length: 20 }, () => 30));
  await until(async () => (await jobsOf(first, short)).every(({ state }) => state === "done"));
  const long = await add(first, [5000, 5000, 5000]);
  const waiting = await add(first, Array.from({ length: 8 }, () => 1000));
  await until(async () => (await jobsOf(first, long)).every(({ state }) => state === "running"));

  const { code, signal } = await first.evict();

  assert.deepEqual([code, signal], [0, null], "it has ended before it was killed");
  await using second = await Instance.start(attached(server));
  const all = [...short, ...long, ...waiting];
  await until(async () => (await jobsOf(second, all)).every(({ state }) => state === "done"));
  const attempts = (await jobsOf(second, all)).map(({ attempt }) => attempt);
  assert.deepEqual(attempts, all.map(() => 1), "no hand-back was charged");
  assert.equal((await second.evict()).code, 0);
  assert.deepEqual(await faultsIn(server), []);
});

Deno.test("examples/deploy.ts sends itself a request that lasts as long as there is work", async () => {
  await using server = startServer();
  await using instance = await Instance.start(attached(server));
  await instance.json("/api/pools");
  const before = instance.line.connections;
  const ids = await add(instance, [2500]);

  await until(() => Promise.resolve(instance.line.connections > before));
  const slice = await (await instance.fetch("/slice")).text();

  assert.match(slice, /^(1\n){1,3}$/, "a byte now and then, until the job has ended");
  assert.equal((await jobsOf(instance, ids))[0]?.state, "done");
  assert.equal(await (await instance.fetch("/slice")).text(), "", "there is nothing to do");
});

Deno.test("examples/deploy.ts lets nobody make it work without the token", async () => {
  await using server = startServer();
  await using instance = await Instance.start(attached(server));
  const { port } = instance.line;

  for (const path of ["/slice", "/api/pools"]) {
    const { status, body } = await fetch(`http://127.0.0.1:${port}${path}`);
    await body?.cancel();

    assert.equal(status, 401);
  }
});

Deno.test("examples/deploy.ts does by its cron what other instances have left", async () => {
  await using server = startServer();
  await using first = await Instance.start(attached(server));
  await first.json("/api/pools/mail/pause", {});
  const ids = await add(first, [30, 30, 30]);
  await first.json("/api/pools/mail/resume", {});
  await first.evict();
  await using second = await Instance.start(attached(server));
  Deno.env.set("DENO_KV_ACCESS_TOKEN", TOKEN);
  const store = await openStore({ url: server.url });
  const onlooker = await openQueue(store, { pool: "mail", lanes: [], attempts: [] });

  second.tick(); // nobody has sent it a request

  await until(async () => {
    const jobs = await Promise.all(ids.map((id) => onlooker.find(id)));
    return jobs.every((job) => job?.state === "done");
  });
  await onlooker.leave(Date.now());
  await store.close();
});

Deno.test("examples/deploy.ts tells of a database that is not attached", async () => {
  await using instance = await Instance.start({ DENO_KV_REQUIRES_DISTRIBUTED_DATABASE: "error" });

  const { status, body } = await instance.fetch("/api/pools");
  await body?.cancel();

  assert.equal(status, 500);
  assert.match(instance.text(), /No database is attached to this app: the temporary one/);
});

Deno.test("examples/deploy.ts does not begin to serve with a token that is too short", async () => {
  const { code, text } = await Instance.failing({ SLUICE_TOKEN: "short" });

  assert.equal(code, 1);
  assert.match(text, /SLUICE_TOKEN is too short: /);
});

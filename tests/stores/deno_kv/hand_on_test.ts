import assert from "node:assert/strict";
import { start } from "../../../mod.ts";
import type { Job, JobRecord } from "../../../src/contract/job.ts";
import type { PoolHandle } from "../../../src/runtime/handles.ts";
import { handOnConfig } from "./_hand_on_worker.ts";
import { end, entry, NOW, openQueue, openStore, withFolder } from "./_store.ts";

const JOBS = 500; // of each kind: 1,000 at one moment
const KILLS = 5;

/** Starts a process that works on the file. Resolves once it does. */
async function worker(path: string): Promise<Deno.ChildProcess> {
  const script = new URL("_hand_on_worker.ts", import.meta.url).href;
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--unstable-kv", "--no-check", script, path],
    stdout: "piped",
    stderr: "inherit",
  }).spawn();
  const reader = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
  await reader.read();
  await reader.cancel();
  return child;
}

/** Kills a process, unless a job has. */
async function kill(child: Deno.ChildProcess): Promise<void> {
  try {
    child.kill("SIGKILL");
  } catch {
    // It has ended.
  }
  await child.status;
}

async function all(pool: PoolHandle, lane: string): Promise<readonly JobRecord[]> {
  const jobs: JobRecord[] = [];
  let cursor: string | undefined;
  for (;;) {
    const page = await pool.list({ lane, limit: 500, cursor });
    jobs.push(...page.jobs);
    if (page.cursor === undefined) return jobs;
    cursor = page.cursor;
  }
}

/** Waits until `holds`, a minute at most. */
async function until(holds: () => boolean): Promise<void> {
  for (let waits = 0; waits < 1200 && !holds(); waits++) {
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

Deno.test("each end is handed on once, though two processes are killed over and over", async () => {
  await withFolder(async (folder) => {
    const path = `${folder}/queue.db`;
    const sluice = await start(handOnConfig(path));
    const [p, care] = [sluice.pool("p"), sluice.pool("care")];
    await p.enqueueAll(
      Array.from({ length: 2 * JOBS }, (_, payload) => ({
        lane: payload < JOBS ? "bad" : "good",
        payload,
      })),
    );
    const children = [await worker(path), await worker(path)];
    for (let round = 0; round < KILLS; round++) {
      await new Promise((resolve) => setTimeout(resolve, 100 + 200 * Math.random()));
      const [victim] = children.splice(0, 1);
      if (round < 2) await p.enqueue({ lane: "last", payload: round }); // the process that runs it ends
      await kill(victim!);
      children.push(await worker(path));
    }
    await until(() => care.counts("done").ready >= JOBS && care.counts("dead").ready >= JOBS + 2);
    for (const child of children) await kill(child);

    const dead = (await all(care, "dead")).map(({ payload }) => payload as JobRecord);
    const done = (await all(care, "done")).map(({ payload }) => payload);
    assert.deepEqual([dead.length, new Set(dead.map(({ id }) => id)).size], [JOBS + 2, JOBS + 2]);
    assert.deepEqual([done.length, new Set(done).size], [JOBS, JOBS]);
    assert.deepEqual(
      dead.filter(({ lane }) => lane === "last").map(({ reason }) => reason),
      ["attempts", "attempts"],
    );
    await sluice.stop();
    const kv = await Deno.openKv(path);
    const notes = await Array.fromAsync(kv.list({ prefix: ["sluice", "state"] }));
    kv.close();
    assert.deepEqual(notes.filter(({ key }) => String(key.at(-1)).startsWith("hand-on/")), []);
  });
});

Deno.test("what a killed process had noted is handed on by the next that starts, large payloads too", async () => {
  await withFolder(async (folder) => {
    const path = `${folder}/queue.db`;
    const lanes = [{ name: "bad", maxRunningPerKey: Infinity, handsOn: ["dead" as const] }];
    const store = await openStore({ path });
    const queue = await openQueue(store, { pool: "p", lanes, attempts: [1] });
    const payloads = ["small", "x".repeat(55_000), "x".repeat(200_000)];
    await queue.add(payloads.map((payload) => entry({ payload })), NOW);
    const held = await queue.lease([9], NOW);
    await queue.settle(held.map((job) => end(job, "dead", { reason: "fatal", error: "no" })), NOW);
    await store.close(); // as a kill does: nothing is left to anyone

    const sluice = await start(handOnConfig(path));
    const care = sluice.pool("care");
    await until(() => care.counts("dead").ready === 3);
    const records = (await all(care, "dead")).map(({ payload }) => payload as JobRecord);
    const lengths = records.map(({ payload }) => String(payload ?? "").length);
    assert.deepEqual(lengths.sort((a, b) => a - b), [0, 5, 55_000]);
    const largest = records.find(({ payload }) => payload === null);
    assert.equal(largest?.error, "no");
    assert.match(JSON.stringify(largest), /It has 200002 bytes as JSON: look it up by the id/);
    assert.deepEqual(new Set(records.map(({ id }) => id)), new Set(held.map(({ id }) => id)));
    await sluice.stop();
  });
});

Deno.test("results of jobs that were blocked, retried or delayed are handed on", async () => {
  await withFolder(async (folder) => {
    const got: unknown[] = [];
    const out = { pool: "p", lane: "out", type: "take" };
    const sluice = await start({
      store: { use: "deno-kv", with: { path: `${folder}/queue.db` } },
      pools: {
        p: {
          handlers: {
            make: ({ payload, attempt }: Job<string>): string => {
              if (payload === "retried" && attempt === 1) throw new Error("once more");
              return payload;
            },
            take: ({ payload }: Job): void => void got.push(payload),
          },
          size: { min: 1, max: 4 },
          lanes: [
            { name: "in", maxRunningPerKey: 1, backoff: { delaysMs: [1] }, then: out, onDead: out },
            { name: "out" },
          ],
        },
      },
    });
    const job = { lane: "in", type: "make" } as const;
    const keyed = ["first", "blocked", "blocked too"].map((payload) => ({ payload, key: "k" }));
    await sluice.pool("p").enqueueAll(keyed.map((one) => ({ ...job, ...one })));
    await sluice.enqueue("p", { ...job, payload: "retried" });
    await sluice.enqueue("p", { ...job, payload: "delayed", delayMs: 20 });
    await until(() => got.length === 5);
    await sluice.stop();
    assert.deepEqual(got.sort(), ["blocked", "blocked too", "delayed", "first", "retried"]);
  });
});

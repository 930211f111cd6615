import assert from "node:assert/strict";
import { audit } from "../../../../plugins/store/deno_kv/audit.ts";
import type { Queue } from "../../../../src/store.ts";
import { entry, openQueue, openStore, withFolder } from "./_store.ts";

const JOBS = 4000;
const WORKERS = 3;
const KILLS = 5;
const LEASE_MS = 900;
const FROZEN_MS = 2.5 * LEASE_MS;
/** How long all may take, ms. */
const PATIENCE_MS = 60_000;

const now = (): number => performance.timeOrigin + performance.now();
const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Processes on one file, with what they wrote down. */
class Fleet {
  readonly #folder: string;
  readonly #path: string;
  readonly live: Deno.ChildProcess[] = [];
  #started = 0;

  constructor(folder: string, path: string) {
    this.#folder = folder;
    this.#path = path;
  }

  start(): void {
    const script = new URL("_crash_worker.ts", import.meta.url).pathname;
    const log = `${this.#folder}/${this.#started++}.log`;
    const child = new Deno.Command(Deno.execPath(), {
      args: ["run", "--no-prompt", "-A", "--unstable-kv", script, this.#path, log, `${LEASE_MS}`],
      stdout: "null",
      stderr: "inherit",
    }).spawn();
    this.live.push(child);
  }

  async kill(child: Deno.ChildProcess, signal: Deno.Signal): Promise<void> {
    child.kill(signal);
    await child.status;
    this.live.splice(this.live.indexOf(child), 1);
  }

  /** All that was written down: what happened, to which job, under which fence. */
  async notes(): Promise<readonly (readonly string[])[]> {
    const texts = await Promise.all(
      Array.from(
        { length: this.#started },
        (_, index) => Deno.readTextFile(`${this.#folder}/${index}.log`).catch(() => ""),
      ),
    );
    // The last line of a killed process may be cut off: what follows a newline is whole.
    return texts.flatMap((text) => text.split("\n").slice(0, -1).map((line) => line.split(" ")));
  }
}

/** Takes back what the dead held until nothing is left. */
async function drained(queue: Queue): Promise<void> {
  const untilMs = now() + PATIENCE_MS;
  let nextBeatMs = 0;
  for (;;) {
    if (now() >= nextBeatMs) nextBeatMs = (await queue.renew(now())).nextAtMs;
    const lanes = await queue.count(now());
    const left = lanes.reduce((sum, lane) => sum + lane.ready + lane.blocked + lane.running, 0);
    if (left === 0) return;
    assert.ok(now() < untilMs, `${left} jobs are left: ${JSON.stringify(lanes)}`);
    await sleep(50);
  }
}

/** Renews until all who have died are known to be dead. */
async function alone(queue: Queue): Promise<void> {
  const untilMs = now() + PATIENCE_MS;
  while ((await queue.renew(now())).peers > 1) {
    assert.ok(now() < untilMs, "a killed process is still taken for a live one");
    await sleep(LEASE_MS / 3);
  }
}

// C1, C3, E2, E8 of the published cases.
Deno.test("deno-kv loses no job and ends none twice when its processes are killed or frozen", async () => {
  await withFolder(async (folder) => {
    const path = `${folder}/queue.db`;
    const store = await openStore({ path, pollMs: 100 });
    const queue = await openQueue(store, {
      lanes: [{ name: "a", maxRunningPerKey: Infinity }, { name: "k", maxRunningPerKey: 1 }],
      leaseMs: LEASE_MS,
      attempts: [100, 100],
      keep: { done: 50, dead: 50, forMs: Infinity },
      random: Math.random,
      nowMs: now(),
    });
    const fleet = new Fleet(folder, path);
    try {
      const entries = Array.from({ length: JOBS }, (_, payload) => {
        const isKeyed = payload % 20 === 0;
        const key = isKeyed ? `key${payload % 7}` : undefined;
        return entry({ payload, lane: isKeyed ? 1 : 0, key });
      });
      for (let from = 0; from < JOBS; from += 500) {
        await queue.add(entries.slice(from, from + 500), now());
      }

      for (let worker = 0; worker < WORKERS; worker++) fleet.start();
      for (let kill = 0; kill < KILLS; kill++) {
        await sleep(500 + Math.random() * 500);
        const victim = fleet.live[0]!;
        if (kill % 2 === 0) await fleet.kill(victim, "SIGKILL");
        else {
          victim.kill("SIGSTOP");
          await sleep(FROZEN_MS);
          victim.kill("SIGCONT");
        }
        fleet.start();
      }
      await drained(queue);
      for (const child of [...fleet.live]) await fleet.kill(child, "SIGTERM");

      await alone(queue);

      const notes = await fleet.notes();
      const ran = new Set(notes.filter(([what]) => what === "R").map(([, job]) => job));
      const ended = notes.filter(([what]) => what === "C").map(([, job]) => job);
      assert.equal(ran.size, JOBS, "every job ran");
      assert.equal(new Set(ended).size, ended.length, "no end was acknowledged twice");
      await queue.leave(now());
      using kv = await Deno.openKv(path);
      assert.deepEqual(await audit(kv, "p"), []);
      const kinds = new Set<unknown>();
      for await (const { key } of kv.list({ prefix: ["sluice", "pool", "p"] })) kinds.add(key[3]);
      assert.deepEqual([...kinds].sort(), ["c", "d", "lanes"], "nothing is left over");
    } finally {
      for (const child of [...fleet.live]) await fleet.kill(child, "SIGKILL");
      await store.close();
    }
  });
});

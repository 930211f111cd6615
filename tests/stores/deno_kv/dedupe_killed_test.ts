import assert from "node:assert/strict";
import { join } from "node:path";
import { audit } from "../../../stores/deno_kv/doctor/audit.ts";
import { end, entry, openQueue, openStore, withFolder } from "./_store.ts";

/** A line of the log of a process. */
interface Line {
  readonly kind: "added" | "ran";
  readonly by: string;
  readonly number: number;
  readonly id: string;
  readonly error?: string;
}

const KILLS = 6;
const AT_ONCE = 2;

/** Ids of the jobs that wait, in all of a database. */
async function drain(path: string): Promise<readonly Line[]> {
  const store = await openStore({ path });
  const options = { leaseMs: 600, attempts: [99], nowMs: Date.now() };
  const queue = await openQueue(store, options);
  const lines: Line[] = [];
  const entries = ["replace-0", "replace-1", "debounce-0", "debounce-1"].map((dedupeKey) =>
    entry({
      dedupeKey,
      dedupe: { mode: "replace" },
      payload: { by: "last", number: 1, more: "" },
    })
  );
  try {
    for (let beat = 0; beat < 6; beat++) {
      await queue.renew(Date.now());
      await new Promise((resolve) => setTimeout(resolve, 250));
    }
    const last = await queue.add(entries, Date.now());
    for (const { id } of last) lines.push({ kind: "added", by: "last", number: 1, id });
    for (let empty = 0; empty < 3;) {
      const jobs = await queue.lease([50], Date.now());
      for (const { id, payload } of jobs) {
        lines.push({ kind: "ran", id, ...payload as { by: string; number: number } });
      }
      await queue.settle(jobs.map((job) => end(job)), Date.now());
      const [counts] = await queue.count(Date.now(), true);
      if (jobs.length === 0 && counts!.delayed === 0) empty++;
    }
  } finally {
    await store.close();
  }
  return lines;
}

Deno.test("the latest payload of a dedupeKey runs though processes are killed at any moment", async () => {
  await withFolder(async (folder) => {
    const path = join(folder, "jobs.db");
    const log = join(folder, "log");
    const script = new URL("./_deduper.ts", import.meta.url).pathname;
    const spawn = (name: number): Deno.ChildProcess =>
      new Deno.Command(Deno.execPath(), {
        args: ["run", "--config", "tests/deno.json", "--unstable-kv", "-A", "--no-check", script]
          .concat(path, log, `p${name}`, `${name}`),
        stdout: "null",
        stderr: "null",
      }).spawn();
    const live = Array.from({ length: AT_ONCE }, (_, name) => spawn(name));
    for (let kill = 0; kill < KILLS; kill++) {
      await new Promise((resolve) => setTimeout(resolve, 900 + Math.random() * 300));
      const victim = live.shift()!;
      victim.kill("SIGKILL");
      await victim.status;
      if (kill < KILLS - AT_ONCE) live.push(spawn(AT_ONCE + kill));
    }
    await Promise.all(live.map(({ status }) => status));
    const drained = await drain(path);
    const text = await Deno.readTextFile(log);
    const lines = text.split("\n").flatMap((line): readonly Line[] => {
      try {
        return [JSON.parse(line)];
      } catch {
        return []; // its process was killed as it wrote, or it is the end
      }
    }).concat(drained);

    const added = lines.filter(({ kind }) => kind === "added");
    const ran = Map.groupBy(lines.filter(({ kind }) => kind === "ran"), ({ id }) => id);
    assert.ok(added.length > 200, `${added.length} were added`);
    for (const { id, by, number, error } of added) {
      assert.equal(error, undefined);
      const runs = ran.get(id) ?? [];
      const payloads = new Set(runs.map((run) => `${run.by} ${run.number}`));
      // Killed between its lease and the line of it, it has run again; killed once it had ended, not.
      assert.ok(payloads.size <= 1, `job ${id} ran with ${[...payloads].join(", ")}`);
      const [run] = runs;
      if (run?.by === by) assert.ok(run.number >= number, `${by} ${number} ran as ${run.number}`);
    }
    for (const { id } of drained.filter(({ by, kind }) => by === "last" && kind === "added")) {
      assert.equal(ran.get(id)?.[0]?.by, "last", "the very last payload");
    }
    const lost = added.filter(({ id }) => !ran.has(id));
    assert.ok(new Set(lost.map(({ id }) => id)).size <= 2 * KILLS, "all that was added has run");
    const kv = await Deno.openKv(path);
    assert.deepEqual(await audit(kv, "p"), []);
    kv.close();
  });
});

import assert from "node:assert/strict";
import { start } from "../../../mod.ts";
import { RetryLater } from "../../../src/contract/errors.ts";
import type { JobContext } from "../../../src/contract/job.ts";
import type { Sluice } from "../../../src/runtime/handles.ts";
import { until } from "./_remote.ts";
import { withFolder } from "./_store.ts";

/** Connections that are in use after each line of the log, by process and pool, over its lifetime. */
function usesIn(log: string): readonly ReadonlyMap<string, number>[] {
  const lines = log.trim().split("\n").map((line) =>
    line.split(" ") as [string, string, string, string]
  );
  const last = new Map(lines.map(([, process], index) => [process, index]));
  const used = new Map<string, number>();
  return lines.map(([sign, process, pool, each], index) => {
    const key = `${process} ${pool}`;
    used.set(key, (used.get(key) ?? 0) + (sign === "+" ? 1 : -1) * Number(each));
    // What it had when it was killed is free from then on; it wrote no more.
    const shown = new Map(used.entries().filter(([key]) => index <= last.get(key.split(" ")[0]!)!));
    return shown;
  });
}

function sum(used: ReadonlyMap<string, number>): number {
  return used.values().reduce((sum, count) => sum + count, 0);
}

Deno.test("pools of two processes share the connections of a downstream, and one that is killed gives its own back", async () => {
  await withFolder(async (folder) => {
    const run = (name: string): Deno.ChildProcess =>
      new Deno.Command(Deno.execPath(), {
        args: ["run", "-A", "--unstable-kv", new URL("_downstream_user.ts", import.meta.url).href]
          .concat(folder, name),
        stdout: "null",
        stderr: "inherit",
      }).spawn();
    const read = async (): Promise<string> =>
      await Deno.readTextFile(`${folder}/log`).catch(() => "");
    const lines = async (start: string): Promise<number> =>
      (await read()).split("\n").filter((line) => line.startsWith(start)).length;
    const [one, other] = [run("one"), run("other")];
    try {
      for (const name of ["one", "other"]) {
        for (const pool of ["mails", "reports"]) {
          await until(async () => await lines(`+ ${name} ${pool}`) >= 20);
        }
      }
      other.kill("SIGKILL");
      await other.status;
      const before = usesIn(await read());
      const from = await lines("+ one");
      await until(async () => await lines("+ one") >= from + 200);
      const after = usesIn(await read()).slice(before.length);

      assert.equal(Math.max(...before.map(sum)), 12);
      assert.equal(Math.max(...after.map(sum)), 12);
      const whole = after.filter((used) => sum(used) >= 10).length;
      assert.ok(whole >= after.length / 2, `${whole} of ${after.length}`);
    } finally {
      one.kill("SIGKILL");
      await one.status;
    }
  });
});

Deno.test("a process hears over the file that a downstream refuses jobs of another, and that time is over", async () => {
  await withFolder(async (folder) => {
    let refuses = true;
    const calls = new Map<string, number>();
    const open = (name: string): Promise<Sluice> =>
      start({
        store: { use: "deno-kv", with: { path: `${folder}/queue.db`, pollMs: 50 } },
        downstreams: { mailer: { cooldown: { after: 2 } } },
        pools: {
          [name]: {
            handler: (_: unknown, context: JobContext): void => {
              calls.set(name, (calls.get(name) ?? 0) + 1);
              if (!refuses) return;
              context.overloaded(1500);
              throw new RetryLater(1500, "not now");
            },
            size: { min: 1, max: 4 },
            lanes: [{ name: "all" }],
            uses: { mailer: 1 },
          },
        },
      });
    const both = [await open("mails"), await open("alerts")] as const;
    const [mails, alerts] = both;
    const holds = (sluice: Sluice): boolean => sluice.pools[0]!.snapshot().heldBy === "mailer";
    try {
      const jobs = [1, 2].map((payload) => ({ lane: "all", payload }));
      await mails.pool("mails").enqueueAll(jobs);
      await until(() => holds(alerts));
      assert.equal(holds(mails), true);
      refuses = false;
      const added = await Promise.all(jobs.map((job) => alerts.enqueue("alerts", job)));
      assert.equal(calls.get("alerts"), undefined);

      for (const job of added) assert.equal((await job.done).state, "done");
      await until(() => !holds(mails) && !holds(alerts));
      assert.equal(calls.get("alerts"), 2);
    } finally {
      await Promise.all(both.map((sluice) => sluice.stop()));
    }
  });
});

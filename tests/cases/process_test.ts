import assert from "node:assert/strict";
import { join } from "node:path";
import { temporaryFolder } from "../cli/_io.ts";
import { type Process, start } from "../cli/_process.ts";

/** A handler that ends its process, works on for long, or is done at once, as its payload says. */
const HANDLER = `export default ({ payload }, { signal }) => {
  if (payload === "exit") Deno.exit(3);
  if (payload === "done") return "done";
  return new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
};`;

const PAUSE_MS = 20;

interface JobJson {
  readonly state: string;
  readonly attempt: number;
  readonly reason?: string;
}

/** A folder with a config on a file, and what starts a process of it. */
async function withSystem(
  attempts: number,
  test: (run: () => Promise<{ readonly process: Process; readonly url: string }>) => Promise<void>,
): Promise<void> {
  await using folder = await temporaryFolder();
  const config = join(folder.path, "pools.json");
  await Deno.writeTextFile(join(folder.path, "handler.ts"), HANDLER);
  await Deno.writeTextFile(
    config,
    JSON.stringify({
      store: { use: "deno-kv", with: { path: "./queue.db" } },
      pools: {
        main: {
          handler: "./handler.ts",
          size: { min: 1, max: 2 },
          lanes: [{ name: "high", attempts }],
          leaseMs: 1000,
          drainMs: 500,
        },
      },
    }),
  );
  await test(async () => {
    const process = start([config]);
    const [, url = ""] = await process.line(/^Admin {3}(http:\/\/127\.0\.0\.1:\d+)$/);
    return { process, url };
  });
}

async function add(url: string, payload: string): Promise<string> {
  const response = await fetch(`${url}/api/pools/main/jobs`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ lane: "high", payload }),
  });
  return (await response.json()).id;
}

async function until(url: string, id: string, isSo: (job: JobJson) => boolean): Promise<JobJson> {
  for (;;) {
    const job = await (await fetch(`${url}/api/jobs/${id}`)).json();
    if (isSo(job)) return job;
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
}

// E2
Deno.test("a job that ends its process is dead after its attempts, however many processes there are to come", async () => {
  await withSystem(3, async (run) => {
    let id = "";
    for (let attempt = 1; attempt <= 3; attempt++) {
      const { process, url } = await run();
      await using dying = process;
      if (attempt === 1) id = await add(url, "exit").catch(() => ""); // it may die before it answers
      const { code } = await dying.ended();
      assert.equal(code, 3);
    }

    const { process, url } = await run();
    await using _surviving = process;
    const [only] = await allDead(url);
    assert.ok(id === "" || only!.id === id);
    assert.deepEqual([only!.state, only!.reason, only!.attempt], ["dead", "attempts", 3]);
    const good = await add(url, "done");
    await until(url, good, ({ state }) => state === "done");
  });
});

/** The jobs that there are, once all have ended. */
async function allDead(url: string): Promise<readonly (JobJson & { readonly id: string })[]> {
  for (;;) {
    const { jobs } = await (await fetch(`${url}/api/pools/main/jobs`)).json();
    if (jobs.length > 0 && jobs.every(({ state }: JobJson) => state === "dead")) return jobs;
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
}

// E6
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  Deno.test(`a job with one attempt that ${signal} interrupts goes on in the next process, uncharged`, async () => {
    await withSystem(1, async (run) => {
      const first = await run();
      const id = await add(first.url, "long");
      await until(first.url, id, ({ state }) => state === "running");
      {
        await using leaving = first.process;
        leaving.signal(signal);
        const { code, out } = await leaving.ended();
        assert.equal(code, 0);
        assert.match(out, new RegExp(`^ {2}handed back ${id}$`, "m"));
      }

      const next = await run();
      await using _process = next.process;
      const { attempt } = await until(next.url, id, ({ state }) => state === "running");
      assert.equal(attempt, 1);
      await fetch(`${next.url}/api/jobs/${id}/cancel`, { method: "POST" }).then((r) => r.json());
      await until(next.url, id, ({ state }) => state === "cancelled");
    });
  });
}

import assert from "node:assert/strict";
import { withServer } from "./_remote.ts";
import { withFolder } from "./_store.ts";
import { TOKEN } from "../../_kvconnect/server.ts";
import { mostInASecond } from "../../_rate.ts";

/** How long a fleet may take, ms. */
const PATIENCE_MS = 60_000;

/** When a handler or a worker began and ended. */
type Run = readonly [startMs: number, endMs: number];

/** Processes that run one pool, and what they said. */
class Fleet implements AsyncDisposable {
  readonly starts: number[] = [];
  /** The same by the job's id. */
  readonly startOf = new Map<string, number>();
  readonly runs: Run[] = [];
  readonly workers: Run[] = [];
  /** The rate that each process held, and when. */
  readonly rates: [atMs: number, perSec: number][][] = [];
  readonly #children: Deno.ChildProcess[] = [];
  readonly #reading: Promise<void>[] = [];

  /** Starts one process. Resolves once it runs. */
  async start(options: unknown): Promise<void> {
    const script = new URL("_share_worker.ts", import.meta.url).pathname;
    const child = new Deno.Command(Deno.execPath(), {
      args: ["run", "--no-prompt", "-A", "--unstable-kv", script, JSON.stringify(options)],
      env: { DENO_KV_ACCESS_TOKEN: TOKEN },
      stdin: "piped",
      stdout: "piped",
      stderr: "inherit",
    }).spawn();
    this.#children.push(child);
    await new Promise<void>((resolve, reject) => {
      this.#reading.push(this.#read(child, resolve).finally(() => reject(new Error("It ended"))));
    });
  }

  /** Waits until this many jobs have ended. */
  async ended(jobs: number): Promise<void> {
    const untilMs = Date.now() + PATIENCE_MS;
    while (this.runs.length < jobs) {
      assert.ok(Date.now() < untilMs, `${this.runs.length} of ${jobs} have ended`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  /** Kills all processes. */
  async kill(): Promise<void> {
    for (const child of this.#children.splice(0)) {
      child.kill("SIGKILL");
      await child.status;
      await child.stdin.close().catch(() => {}); // nobody reads it any more
    }
    await Promise.all(this.#reading);
  }

  /** Stops all processes. */
  async stop(): Promise<void> {
    const children = this.#children.splice(0);
    await Promise.all(children.map((child) => child.stdin.close()));
    await Promise.all(this.#reading);
    for (const child of children) assert.equal((await child.status).code, 0);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  async #read(child: Deno.ChildProcess, ready: () => void): Promise<void> {
    const rates: [number, number][] = [];
    this.rates.push(rates);
    let rest = "";
    for await (const text of child.stdout.pipeThrough(new TextDecoderStream())) {
      const lines = `${rest}${text}`.split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) {
        const [kind, first, second] = line.split(" ");
        if (kind === "READY") ready();
        else if (kind === "P") rates.push([Number(first), Number(second)]);
        else if (kind === "S") {
          this.starts.push(Number(first));
          this.startOf.set(second!, Number(first)); // the worker says both
        } else if (kind === "W") this.workers.push([Number(first), Number(second)]);
        else if (kind === "R") this.runs.push([Number(first), Number(second)]);
      }
    }
  }
}

/** A server that jobs call, and when each did. */
class Receiver implements AsyncDisposable {
  readonly arrivals = new Map<string, number>();
  readonly #server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen() {} },
    async (request) => {
      const atMs = performance.timeOrigin + performance.now();
      this.arrivals.set(await request.text(), atMs);
      return new Response();
    },
  );

  get url(): string {
    return `http://127.0.0.1:${this.#server.addr.port}`;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#server.shutdown();
  }
}

/** Most runs at one time, and how many ran on average from one time to another. */
function concurrency(runs: readonly Run[], fromMs: number, toMs: number): [number, number] {
  const moves = runs.flatMap(([start, end]) => [[start, 1], [end, -1]] as const)
    .toSorted((a, b) => a[0] - b[0] || a[1] - b[1]);
  let [running, most, area, atMs] = [0, 0, 0, fromMs];
  for (const [moveMs, change] of moves) {
    const untilMs = Math.min(Math.max(moveMs, fromMs), toMs);
    area += running * (untilMs - atMs);
    atMs = untilMs;
    running += change;
    most = Math.max(most, running);
  }
  return [most, area / (toMs - fromMs)];
}

/** How often a process tells of itself, ms. */
const TELLS_MS = 100;

/**
 * The share of time for which a machine that is busy held its processes up, as they tell of themselves:
 * they use so much less of what they may than on one that is not.
 */
function heldUp({ rates }: Fleet, fromMs: number, toMs: number): number {
  const shares = rates.map((told) => {
    const times = told.map(([atMs]) => atMs).filter((atMs) => atMs >= fromMs && atMs < toMs);
    const late = times.slice(1).map((atMs, index) => Math.max(0, atMs - times[index]! - TELLS_MS));
    return late.reduce((sum, ms) => sum + ms, 0) / (toMs - fromMs);
  });
  return shares.reduce((sum, share) => sum + share, 0) / shares.length;
}

/** Starts per second of an `api-rate-cap` of 40 calls, less its headroom. */
const RATE = 40 * 0.96;

/** Runs `test` with a store that processes may share. */
type WithStore = (test: (store: unknown) => Promise<void>) => Promise<void>;

/** Stores, and how many processes share a rate there. */
const stores: readonly (readonly [name: string, count: number, use: WithStore])[] = [
  ["one file", 4, (test) => withFolder((folder) => test({ path: `${folder}/queue.db` }))],
  ["KV Connect", 2, (test) => withServer({}, ({ url }) => test({ url }))],
];

for (const [name, count, withStore] of stores) {
  Deno.test(`${count} processes on ${name} hold a cluster rate together, and use it`, async () => {
    await withStore(async (store) => {
      await using receiver = new Receiver();
      const jobs = 240;
      const pool = {
        size: { min: 1, max: 16 },
        lanes: [{ name: "high" }],
        caps: [{ use: "api-rate-cap", with: { callsPerSec: 40 } }],
        leaseMs: 5000,
      };
      const options = { pool, store, runMs: 20, receiver: receiver.url };
      const { fleet, fromMs } = await drain(count, options, jobs);

      assert.equal(fleet.starts.length, jobs);
      const most = mostInASecond(fleet.starts);
      assert.ok(most <= Math.ceil(RATE), `${most} in a second`);
      const toMs = fromMs + 0.7 * (Math.max(...fleet.starts) - fromMs);
      const within = (atMs: number): boolean => atMs >= fromMs && atMs < toMs;
      // How soon a start follows once it may is the machine's doing; that it may is the permits'. What
      // is on its way from one process to another holds in neither.
      const inForce = fleet.rates.map((rates) => {
        const then = rates.filter(([atMs]) => within(atMs));
        return then.reduce((sum, [, perSec]) => sum + perSec, 0) / then.length;
      });
      const sum = inForce.reduce((sum, perSec) => sum + perSec, 0);
      assert.ok(sum <= RATE + 1e-9 && sum >= 0.8 * RATE, `${inForce} starts per second may be`);
      const perSec = fleet.starts.filter(within).length * 1000 / (toMs - fromMs);
      const held = heldUp(fleet, fromMs, toMs);
      assert.ok(perSec >= (0.8 - held) * sum, `${perSec} of ${sum} started, held up ${held}`);

      // A call comes a little after its start, the one time more and the other time less. Starts are
      // spread, at twice the rate at most: no more calls come together than started within that.
      const calls = [...receiver.arrivals].filter(([id]) => within(fleet.startOf.get(id)!));
      const lags = calls.map(([id, atMs]) => atMs - fleet.startOf.get(id)!);
      const spreadMs = Math.max(...lags) - Math.min(...lags);
      const more = 2 * 40 * spreadMs / 1000 + 2 * count;
      const arrived = mostInASecond(calls.map(([, atMs]) => atMs));
      assert.ok(arrived <= RATE + more, `${arrived} calls in a second, ${spreadMs} ms apart`);
    });
  });

  Deno.test(`processes on ${name} hold a cluster cap on workers together, and use it`, async () => {
    await withStore(async (store) => {
      const pool = {
        size: { min: 1, max: 16 },
        lanes: [{ name: "high" }],
        caps: [{ use: "fixed-cap", with: { workers: 16 }, scope: "cluster" }],
        leaseMs: 5000,
        adaptive: false,
      };
      const { fleet, fromMs } = await drain(3, { pool, store, runMs: 300 }, 350);

      const toMs = Math.max(...fleet.starts) - 500;
      const [most, mean] = concurrency(fleet.workers, fromMs, toMs);
      assert.equal(most, 16);
      const held = heldUp(fleet, fromMs, toMs);
      assert.ok(mean >= (0.98 - held) * 16, `${mean} of 16 workers, held up ${held}`);
      assert.ok(concurrency(fleet.runs, fromMs, toMs)[0] <= 16);
    });
  });
}

Deno.test("what a killed process held of a cap is another's at once on one file, not a lease later", async () => {
  await withFolder(async (folder) => {
    const options = {
      store: { path: `${folder}/queue.db` },
      pool: {
        size: { min: 1, max: 4 },
        lanes: [{ name: "high" }],
        caps: [{ use: "fixed-cap", with: { workers: 4 }, scope: "cluster" }],
        leaseMs: 600_000,
      },
      runMs: 20,
    };
    await using first = new Fleet();
    await first.start({ ...options, jobs: 1000 });
    await first.ended(10);
    await first.kill();

    await using second = new Fleet();
    await second.start(options);
    await second.ended(20);
  });
});

/** Has this many processes run all jobs. What they said, and from when on all of them ran. */
async function drain(
  count: number,
  options: object,
  jobs: number,
): Promise<{ readonly fleet: Fleet; readonly fromMs: number }> {
  await using fleet = new Fleet();
  for (let index = 1; index < count; index++) await fleet.start(options);
  await fleet.start({ ...options, jobs });
  const fromMs = Date.now() + 2000; // until all have their part
  await fleet.ended(jobs);
  await fleet.stop();
  return { fleet, fromMs };
}

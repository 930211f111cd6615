/**
 * Processes on one database that are killed and frozen, and what they wrote down: for the crash test
 * and the soak.
 */

import assert from "node:assert/strict";
import { audit } from "../../../stores/deno_kv/doctor/audit.ts";
import type { JobEntry, Queue, QueueRules, Store } from "../../../src/contract/store.ts";
import { entry, openQueue, openStore } from "./_store.ts";

/** How a worker process runs. */
export interface WorkerOptions {
  /** A file, or the address of a server. */
  readonly path: string;
  readonly log: string;
  readonly leaseMs: number;
  /** How far its clock is ahead, ms. */
  readonly aheadMs: number;
  /** Of this many calls to the database one fails, each kind of call in turn. 0: none. */
  readonly faultEvery: number;
  /** Share of jobs that are tried again, handed back, or dead. */
  readonly oddShare: number;
}

/** How a fleet runs. */
export type FleetOptions = Omit<WorkerOptions, "path" | "log">;

/** How long all may take to end, ms. */
const PATIENCE_MS = 120_000;

/** Now, ms since epoch. */
export function now(): number {
  return performance.timeOrigin + performance.now();
}

/** Waits. */
export function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** Lanes of the pool: one without a limit, one with a limit of one job a key. */
export function rulesOf(leaseMs: number): QueueRules {
  return {
    lanes: [{ name: "a", maxRunningPerKey: Infinity }, { name: "k", maxRunningPerKey: 1 }],
    leaseMs,
    attempts: [10_000, 10_000],
    keep: { done: 50, dead: 50, forMs: Infinity },
  };
}

/** Opens the store at a path. */
export function openAt(path: string): Promise<Store> {
  return openStore({ ...path.startsWith("http:") ? { url: path } : { path }, pollMs: 100 });
}

/** A database in a folder or on a server, this process as a holder that runs nothing, and worker processes. */
export class Fleet {
  readonly queue: Queue;
  readonly path: string;
  readonly live: Deno.ChildProcess[] = [];
  readonly #folder: string;
  readonly #store: Store;
  readonly #options: FleetOptions;
  readonly #ending = new Set<Deno.ChildProcess>();
  #fault: string | undefined;
  #started = 0;
  #added = 0;
  #nextBeatMs = 0;

  private constructor(
    path: string,
    folder: string,
    store: Store,
    queue: Queue,
    options: FleetOptions,
  ) {
    this.path = path;
    this.#folder = folder;
    this.#store = store;
    this.queue = queue;
    this.#options = options;
  }

  /** Opens one that writes down in a folder what it does. `path`: a file in there if left out. */
  static async open(
    folder: string,
    options: FleetOptions,
    path = `${folder}/queue.db`,
  ): Promise<Fleet> {
    const store = await openAt(path);
    const rules = { ...rulesOf(options.leaseMs), random: Math.random, nowMs: now() };
    return new Fleet(path, folder, store, await openQueue(store, rules), options);
  }

  /** How many jobs were added. */
  get added(): number {
    return this.#added;
  }

  /** Adds jobs: each has its number as payload, or begins with it. */
  async add(count: number): Promise<void> {
    const entries = Array.from({ length: count }, (_, index) => jobOf(this.#added + index));
    const adding = Promise.resolve(this.queue.add(entries, now()));
    let isAdded = false;
    adding.finally(() => isAdded = true).catch(() => {}); // told below
    while (!isAdded) { // as a pool does: an add may need a membership that lives
      await Promise.race([adding, sleep(this.#options.leaseMs / 6)]);
      await this.#renew();
    }
    for (const { error } of await adding) assert.equal(error, undefined);
    this.#added += count;
  }

  async #renew(): Promise<void> {
    if (now() >= this.#nextBeatMs) this.#nextBeatMs = (await this.queue.renew(now())).nextAtMs;
  }

  /** Starts a worker: every other one has a clock that is ahead. */
  start(): void {
    const script = new URL("_crash_worker.ts", import.meta.url).pathname;
    const number = this.#started++;
    const options: WorkerOptions = {
      ...this.#options,
      path: this.path,
      log: `${this.#folder}/${number}.log`,
      aheadMs: number % 2 === 0 ? 0 : this.#options.aheadMs,
    };
    const child = new Deno.Command(Deno.execPath(), {
      args: ["run", "--no-prompt", "-A", "--unstable-kv", script, JSON.stringify(options)],
      stdout: "null",
      stderr: "inherit",
    }).spawn();
    this.live.push(child);
    child.status.then(({ code, signal }) => {
      if (this.#ending.has(child)) return;
      this.#fault ??= `Worker ${number} ended by itself: ${signal ?? `exit code ${code}`}`;
    });
  }

  async kill(child: Deno.ChildProcess, signal: Deno.Signal): Promise<void> {
    this.#ending.add(child);
    child.kill(signal);
    await child.status;
    this.live.splice(this.live.indexOf(child), 1);
  }

  /** Stops a process for so long, which may be longer than its leases last. */
  async freeze(child: Deno.ChildProcess, ms: number): Promise<void> {
    child.kill("SIGSTOP");
    await sleep(ms);
    child.kill("SIGCONT");
  }

  /** Beats if it is time to. Jobs that are not running, and those that are. */
  async look(): Promise<readonly [waiting: number, running: number]> {
    assert.equal(this.#fault, undefined);
    await this.#renew();
    let [waiting, running] = [0, 0];
    for (const lane of await this.queue.count(now())) {
      waiting += lane.ready + lane.blocked + lane.delayed;
      running += lane.running;
    }
    return [waiting, running];
  }

  /** Waits until nothing is left to do, then stops all workers and waits until the dead are known. */
  async finish(): Promise<void> {
    const untilMs = now() + PATIENCE_MS;
    for (;;) {
      const [waiting, running] = await this.look();
      if (waiting + running === 0) break;
      assert.ok(now() < untilMs, `${waiting} jobs wait and ${running} run, without an end`);
      await sleep(50);
    }
    for (const child of [...this.live]) await this.kill(child, "SIGTERM");
    while ((await this.queue.renew(now())).peers > 1) {
      assert.ok(now() < untilMs, "A process that is gone is still taken for a live one");
      await sleep(this.#options.leaseMs / 3);
    }
  }

  /** Looks whether all went right. Nothing is left but records of what was done. */
  async check(): Promise<Ledger> {
    const ledger = await this.#ledger();
    assert.equal(ledger.ran, this.#added, "every job ran");
    assert.deepEqual(ledger.twice, [], "no end was acknowledged twice");
    await this.queue.leave(now());
    const kv = await Deno.openKv(this.path);
    try {
      assert.deepEqual(await audit(kv, "p"), []);
      const kinds = new Set<string>();
      const [pointed, apart] = [new Set<string>(), new Set<string>()];
      for await (const { key } of kv.list({ prefix: ["sluice"] })) {
        const kind = key[1] === "pool" ? `pool ${String(key[3])}` : String(key[1]);
        switch (kind) {
          case "token": // over the network, one for each commit that was in flight
          case "pool x": // dead jobs are kept
            break;
          case "pool m":
            pointed.add(`${String(key[4])}.${String(key[5])}`);
            break;
          case "pool b": // of a kept job: those have pointers all their life
            apart.add(`${String(key[5])}.${String(key[6])}`);
            break;
          default:
            kinds.add(kind);
        }
      }
      assert.ok(apart.isSubsetOf(pointed), "parts of payloads are left without a job");
      const records = ["pool c", "pool d", "pool lanes", "pool t", "schema", "signal", "workers"];
      assert.deepEqual([...kinds].sort(), records, "nothing is left over");
    } finally {
      kv.close();
    }
    return ledger;
  }

  async close(): Promise<void> {
    for (const child of [...this.live]) {
      child.kill("SIGCONT");
      await this.kill(child, "SIGKILL");
    }
    await this.#store.close();
  }

  /** Adds up what was written down: what happened, to which job, under which fence, and by which process. */
  async #ledger(): Promise<Ledger> {
    const ran = new Set<string>();
    const ended = new Map<string, string>();
    const twice: string[] = [];
    let [leases, refused] = [0, 0];
    for (let number = 0; number < this.#started; number++) {
      const text = await Deno.readTextFile(`${this.#folder}/${number}.log`).catch(() => "");
      // The last line of a killed process may be cut off: what a newline follows is whole.
      for (const line of text.split("\n").slice(0, -1)) {
        const [what, job = ""] = line.split(" ");
        if (what === "R") {
          ran.add(job);
          leases++;
        } else if (what === "X") refused++;
        else if (what === "C") {
          const before = ended.get(job);
          if (before !== undefined) twice.push(`${before} and process ${number}: ${line}`);
          ended.set(job, `process ${number}: ${line}`);
        }
      }
    }
    return { ran: ran.size, ended: ended.size, leases, refused, twice };
  }
}

/** What came of all jobs. */
export interface Ledger {
  /** Jobs that ran. */
  readonly ran: number;
  /** Jobs whose end was acknowledged to one who lived to write it down. */
  readonly ended: number;
  /** How often jobs were leased. */
  readonly leases: number;
  /** Ends that were refused. */
  readonly refused: number;
  /** Jobs of which more than one end was acknowledged, with both. */
  readonly twice: readonly string[];
}

/** A job, told by its number: most are plain, some limited by key, delayed, large, or with a dedupe key. */
function jobOf(number: number): JobEntry {
  const isKeyed = number % 20 === 0;
  const isLarge = number % 1500 === 7;
  return entry({
    payload: isLarge ? [number, "x".repeat(70_000)] : [number],
    lane: isKeyed ? 1 : 0,
    key: isKeyed ? `key${number % 7}` : undefined,
    dueAtMs: number % 11 === 3 ? now() + number % 900 : 0,
    dedupeKey: number % 50 === 9 ? `only ${number}` : undefined,
  });
}

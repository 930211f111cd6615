/**
 * The service soak: `sluice run` processes on one database file, used over HTTP, while clients hold
 * their connections, processes are killed, suspended, stopped and reloaded, the disk fills up, the file
 * is locked, descriptors run out and wall clocks step. No acknowledged job may be lost.
 */

import { randomStream } from "../../src/base/random.ts";
import { messageOf } from "../../src/contract/errors.ts";
import { DATA, DRAIN_MS, LANES, LEASE_MS, writeConfig } from "./_config.ts";
import { Crowd, MANNERS, readEvents } from "./_crowd.ts";
import { doctor, fill, lock, takeAway } from "./_disk.ts";
import type { SoakPlan } from "./_handler.ts";
import { Acknowledged, listAll, readNotes } from "./_ledger.ts";
import { FAKETIME, Service, type ServiceOptions } from "./_service.ts";
import { sleep } from "./_time.ts";

/** A stop ends within its deadline and 5 s more; on a busy machine three times that. */
const STOPPED_WITHIN_MS = 3 * (DRAIN_MS + 5000);
/** Once nothing is done to it any more, all work ends within so long, ms. */
const PATIENCE_MS = 240_000;
/** Jobs that wait at most before more are posted. */
const MOST_WAITING = 2000;
/** File descriptors of the process that has few. */
const FEW_FILES = 256;
/** Clients of each manner that use them up. */
const MANY_EACH = 60;
/** Once nobody is connected any more, a process answers within so long, ms. */
const ANSWERED_WITHIN_MS = 30_000;

const SIZES = [0, 1, 1000, 8192, 15_000, 60_000] as const;
const ENDS = ["ok", "ok", "ok", "ok", "throw", "once", "later", "odd", "block", "deaf"] as const;

interface SoakJob {
  readonly lane: string;
  readonly payload: SoakPlan;
  readonly key?: string;
  readonly delayMs?: number;
  readonly dedupeKey?: string;
}

/** What the soak did and found. */
export interface Soaked {
  readonly acknowledged: number;
  readonly starts: number;
  readonly harms: Readonly<Record<string, number>>;
  readonly faults: readonly string[];
}

/** Runs the soak in a folder. `disk`: its data is on a small disk of its own that may be filled. */
export async function soakService(
  { folder, minutes, seed, disk, say }: {
    readonly folder: string;
    readonly minutes: number;
    readonly seed: number;
    readonly disk: boolean;
    readonly say: (text: string) => void;
  },
): Promise<Soaked> {
  await writeConfig(folder);
  const soak = new ServiceSoak(folder, seed, disk, say);
  return await soak.run(performance.now() + minutes * 60_000);
}

class ServiceSoak {
  readonly #folder: string;
  readonly #random: () => number;
  readonly #disk: boolean;
  readonly #say: (text: string) => void;
  readonly #acknowledged = new Acknowledged();
  readonly #harms: Record<string, number> = {};
  readonly #faults: string[] = [];
  readonly #crowd = new Crowd();
  readonly #services: Service[] = [];
  readonly #pending = new Set<Promise<unknown>>();
  readonly #streams = { open: 0, told: 0 };
  #next = 0;
  #started = 0;
  #waiting = 0;
  /** Since when the database file is not in its place. `Infinity`: it is. */
  #awaySinceMs = Infinity;

  constructor(folder: string, seed: number, disk: boolean, say: (text: string) => void) {
    this.#folder = folder;
    this.#random = randomStream(seed, "service");
    this.#disk = disk;
    this.#say = say;
  }

  async run(untilMs: number): Promise<Soaked> {
    try {
      for (const _ of [1, 2, 3]) await this.#start();
      const harming = this.#harmUntil(untilMs);
      for (let reportAtMs = performance.now(); performance.now() < untilMs;) {
        await this.#post();
        if (performance.now() < reportAtMs) continue;
        reportAtMs = performance.now() + 20_000;
        const { size } = this.#acknowledged.plans;
        this.#say(`${size} acknowledged, ${this.#waiting} wait; ${JSON.stringify(this.#harms)}`);
      }
      await harming;
      await Promise.all(this.#pending);
      const starts = await this.#finish().catch((thrown) => {
        this.#faults.push(messageOf(thrown));
        return 0;
      });
      const acknowledged = this.#acknowledged.plans.size;
      return { acknowledged, starts, harms: this.#harms, faults: this.#faults };
    } finally {
      this.#crowd.leave();
      for (const service of this.#services) {
        service.signal("SIGCONT");
        service.signal("SIGKILL");
        await service.gone();
      }
    }
  }

  get #living(): readonly Service[] {
    return this.#services.filter(({ lives, url }) => lives && url !== "");
  }

  get #log(): string {
    return `${this.#folder}/handlers.log`;
  }

  get #database(): string {
    return `${this.#folder}/${DATA}/queue.db`;
  }

  #chance(share: number): boolean {
    return this.#random() < share;
  }

  #of<const T>(...these: readonly T[]): T {
    return these[Math.floor(this.#random() * these.length)]!;
  }

  /** Starts one more: every third has few descriptors, every other one a wall clock that may step. */
  async #start(hasFew = this.#started % 3 === 2): Promise<void> {
    const number = this.#started++;
    const clock = number % 2 === 1 && await exists(FAKETIME) ? this.#clockOf(number) : undefined;
    if (clock !== undefined) await Deno.writeTextFile(clock, "+0");
    const files = hasFew ? FEW_FILES : undefined;
    const options: ServiceOptions = { number, folder: this.#folder, log: this.#log, files, clock };
    // A full disk or a locked file may keep it from starting: a service manager starts it again.
    for (let tries = 0;; tries++) {
      try {
        this.#services.push(await Service.start(options));
        return;
      } catch (thrown) {
        if (tries === 20) throw thrown;
        await sleep(1000);
      }
    }
  }

  #clockOf(number: number): string {
    return `${this.#folder}/clock-${number % 4}`;
  }

  /** Posts some jobs to any process, and notes what it acknowledges. */
  async #post(): Promise<void> {
    const [service] = this.#living.toSorted(() => this.#random() - 0.5);
    if (service === undefined) return await sleep(100);
    if (this.#waiting > MOST_WAITING) {
      await sleep(500);
      this.#waiting = await this.#countAt(service).catch(() => this.#waiting); // it may be dead
      return;
    }
    const count = this.#of(1, 1, 3, 60, 200);
    const size = this.#of(...SIZES);
    const jobs = Array.from(
      { length: size > 10_000 ? Math.min(count, 15) : count },
      () => this.#job(size),
    );
    const asked = this.#send(service, jobs);
    this.#pending.add(asked);
    asked.finally(() => this.#pending.delete(asked));
    await Promise.race([asked, sleep(1000)]);
    await sleep(20);
  }

  #job(size: number): SoakJob {
    const n = this.#next++;
    const lane = this.#of(...LANES);
    const key = lane === "keyed" ? `key${Math.floor(this.#random() * 9)}` : undefined;
    const payload: SoakPlan = {
      n,
      ms: this.#of(0, 1, 5, 20, 100, 400),
      end: this.#of(...ENDS),
      ...key === undefined ? {} : { key },
      pad: "p".repeat(size),
      resultBytes: this.#of(0, 0, 100, 8192, 30_000),
    };
    return {
      lane,
      payload,
      ...key === undefined ? {} : { key },
      ...this.#chance(0.1) ? { delayMs: this.#of(1, 500, 3000) } : {},
      ...this.#chance(0.05) ? { dedupeKey: `only ${n}` } : {},
    };
  }

  async #send(service: Service, jobs: readonly SoakJob[]): Promise<void> {
    const atMs = performance.now();
    try {
      const response = await fetch(`${service.url}/api/pools/work/jobs`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(jobs),
        signal: AbortSignal.timeout(20_000),
      });
      const answer = await response.json();
      if (response.status >= 500 && response.status !== 503) {
        this.#faults.push(`POST is answered ${response.status}: ${JSON.stringify(answer)}`);
      }
      for (const [index, result] of (answer.results ?? []).entries()) {
        const job = jobs[index];
        if (typeof result.id === "string" && job !== undefined) {
          if (atMs > this.#awaySinceMs) this.#faults.push("A job is acknowledged without its file");
          this.#acknowledged.plans.set(result.id, job.payload);
        }
      }
      this.#waiting = await this.#countAt(service);
    } catch {
      // It was killed, is suspended or has no room: nothing was acknowledged.
    }
  }

  async #countAt({ url }: Service): Promise<number> {
    const response = await fetch(`${url}/api/pools/work`, { signal: AbortSignal.timeout(5000) });
    const { lanes } = await response.json();
    let count = 0;
    for (const { ready, blocked, delayed, running } of lanes) {
      count += ready + blocked + delayed + running;
    }
    return count;
  }

  async #harmUntil(untilMs: number): Promise<void> {
    while (performance.now() < untilMs) {
      await sleep(500 + this.#random() * 2000);
      const victim = this.#living[Math.floor(this.#random() * this.#living.length)];
      if (victim === undefined) {
        await this.#start();
        continue;
      }
      const harm = this.#of(
        ...["kill", "kill", "stop", "suspend", "suspend", "reload", "crowd", "crowd"] as const,
        ...["leave", "lock", "full", "step", "replace"] as const,
      );
      if (harm === "full" && !this.#disk) continue;
      this.#harms[harm] = (this.#harms[harm] ?? 0) + 1;
      await this.#harm(harm, victim);
    }
  }

  async #harm(
    harm:
      | "kill"
      | "stop"
      | "suspend"
      | "reload"
      | "crowd"
      | "leave"
      | "lock"
      | "full"
      | "step"
      | "replace",
    victim: Service,
  ): Promise<void> {
    switch (harm) {
      case "kill":
        victim.signal("SIGKILL");
        await victim.gone();
        return await this.#start();
      case "stop":
        await this.#stop(victim);
        return await this.#start();
      case "suspend":
        victim.signal("SIGSTOP");
        await sleep(this.#random() * 2.5 * LEASE_MS);
        return victim.signal("SIGCONT");
      case "reload":
        return victim.signal("SIGHUP");
      case "crowd":
        return await this.#crowd.join(victim.url, this.#of(...MANNERS), this.#of(1, 20, 50, 200));
      case "leave":
        return this.#crowd.leave();
      case "lock":
        return await lock(this.#database, this.#of(100, 1000, 4000));
      case "full":
        return await fill(`${this.#folder}/${DATA}`, this.#of(500, 3000));
      case "replace":
        return await this.#replace(this.#of(500, 3000), this.#chance(0.5));
      case "step":
        await Deno.writeTextFile(
          this.#clockOf(this.#of(1, 3)),
          this.#of("+0", "+3", "-40", "+3600", "-86400"),
        );
    }
  }

  /** Stops a process as a service manager does, though clients are connected. */
  async #stop(service: Service): Promise<void> {
    const startMs = performance.now();
    const told = readEvents(service.url);
    await Promise.race([told, sleep(500)]); // it has its stream by then, or the next one has
    service.signal("SIGTERM");
    const inTime = await Promise.race([
      service.gone().then(() => true),
      sleep(STOPPED_WITHIN_MS).then(() => false),
    ]);
    if (inTime) return this.#hear(await told);
    const tookMs = Math.round(performance.now() - startMs);
    this.#faults.push(`A stop has not ended after ${tookMs} ms, ${this.#crowd.size} connected`);
    service.signal("SIGKILL");
    await service.gone();
  }

  #hear(told: boolean | undefined): void {
    if (told === undefined) return;
    this.#streams.open++;
    if (told) this.#streams.told++;
  }

  /** Takes the database file away, puts another in its place or none, and puts it back. */
  async #replace(ms: number, isReplaced: boolean): Promise<void> {
    await using _away = await takeAway(this.#database, isReplaced);
    this.#awaySinceMs = performance.now();
    await sleep(ms);
    this.#awaySinceMs = Infinity;
  }

  /** Waits until nothing is left to do, looks at what is there, and stops all. Starts of handlers. */
  async #finish(): Promise<number> {
    this.#crowd.leave();
    for (const number of [1, 3]) await Deno.writeTextFile(this.#clockOf(number), "+0");
    await this.#start(true);
    await this.#surround(this.#living.slice(-1), MANY_EACH);
    await sleep(1000);
    this.#crowd.leave();
    const answering = await this.#answering();
    const untilMs = performance.now() + PATIENCE_MS;
    let listed = await listAll(answering.url);
    while (!this.#acknowledged.haveEnded(listed) && performance.now() < untilMs) {
      await sleep(1000); // a list is no snapshot: what ends meanwhile may stand in none of its pages
      listed = await listAll(answering.url);
    }
    await this.#surround(this.#living, 3);
    for (const service of this.#living) await this.#stop(service);
    this.#crowd.leave();
    const { open, told } = this.#streams;
    if (open > 0 && told === 0) {
      this.#faults.push(`None of ${open} event streams was ended in order`);
    }
    const notes = readNotes(await Deno.readTextFile(this.#log));
    this.#faults.push(...this.#acknowledged.faults(listed, notes));
    await Deno.copyFile(this.#database, `${this.#folder}/left.db`); // the disk is taken away
    for (const { options, strays, ended, isToEnd } of this.#services) {
      if (!isToEnd) this.#faults.push(`Process ${options.number} ended: code ${ended?.code}`);
      this.#faults.push(...strays.map((line) => `Process ${options.number} wrote: ${line}`));
    }
    this.#faults.push(...await doctor(this.#database));
    return notes.starts;
  }

  /** Bad clients of every manner, this many of each, at each process. */
  async #surround(services: readonly Service[], count: number): Promise<void> {
    for (const { url } of services) {
      for (const manner of MANNERS) await this.#crowd.join(url, manner, count);
    }
  }

  /** A process that answers: all do, now that they have room again. @throws {Error} If none does. */
  async #answering(): Promise<Service> {
    const untilMs = performance.now() + ANSWERED_WITHIN_MS;
    const answering: Service[] = [];
    for (const service of this.#living) {
      const answers = async (): Promise<boolean> =>
        await this.#countAt(service).then(() => true, () => sleep(200).then(() => false));
      let isAnswering = await answers();
      while (!isAnswering && performance.now() < untilMs) isAnswering = await answers();
      if (isAnswering) answering.push(service);
      else this.#faults.push(`Process ${service.options.number} does not answer any more`);
    }
    const [first] = answering;
    if (first === undefined) throw new Error("No process answers any more");
    return first;
  }
}

async function exists(path: string): Promise<boolean> {
  return await Deno.stat(path).then(() => true, () => false);
}

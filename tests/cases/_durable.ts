/**
 * Pools on Deno KV under a referee: processes with a handle each on one database, on virtual time.
 *
 * Time does not move until the database has answered, and what one process commits the others hear of before
 * time goes on: a run differs from the next only in what the database is free to do.
 *
 * @module
 */

import assert from "node:assert/strict";
import { setImmediate } from "node:timers/promises";
import type { KvQueue } from "../../stores/deno_kv/queue.ts";
import type { Queue, QueueOptions, Store } from "../../src/contract/store.ts";
import { openRemote, withServer } from "../stores/deno_kv/_remote.ts";
import { openStore, withFolder } from "../stores/deno_kv/_store.ts";
import type { PoolParts } from "../_virtual.ts";
import { Bench, type Process, type ProcessOptions } from "./_bench.ts";

/** Most virtual time that a stop may take, ms. */
const STOPPED_WITHIN_MS = 200_000;

/** Where a process dies: before a call to the store is made, or when it was made and nothing was heard. */
export type Death = "before" | "after";

/** Processes on one database. */
export class DurableBench extends Bench {
  readonly #open: () => Promise<Store>;
  readonly #handles = new Map<Process, Handle>();
  readonly #opened: Handle[] = [];
  #pending = 0;
  #answered = Promise.withResolvers<void>();

  /** `open` makes a handle on the database that all share. */
  constructor(open: () => Promise<Store>) {
    super();
    this.#open = open;
  }

  /** Starts one more process, with a handle of its own. */
  override async start(parts: PoolParts, options: ProcessOptions = {}): Promise<Process> {
    const handle = new Handle(await this.#open(), (call) => this.#count(call));
    this.#opened.push(handle);
    const process = await super.start(parts, { ...options, store: handle });
    this.#handles.set(process, handle);
    await this.quiet();
    return process;
  }

  /** Ends a process without a word at its next call to the store, or right now. */
  kill(process: Process, death?: Death): void {
    this.#handleOf(process).die(death);
  }

  /** Stops a process, and moves time until it has. */
  async leave(process: Process): Promise<void> {
    let left = false;
    const stopping = process.sluice.stop().finally(() => left = true);
    await this.until(() => left);
    await stopping;
    await this.#handleOf(process).close();
  }

  /** True once it has died. */
  isDead(process: Process): boolean {
    return this.#handleOf(process).isDead;
  }

  /** How many calls to the store a process has made. */
  callsOf(process: Process): number {
    return this.#handleOf(process).calls;
  }

  /** Waits until the database has answered all, and all have heard of it. */
  async quiet(): Promise<void> {
    for (;;) {
      await setImmediate();
      for (const { clock } of this.#living()) await clock.settle();
      if (this.#pending > 0) await this.#answered.promise;
      else if (!this.#tell()) break;
    }
    for (const handle of this.#opened) if (handle.isDead) await handle.close();
  }

  override async advance(
    ms: number,
    { stepMs = 50, frozen = [] }: { stepMs?: number; frozen?: readonly Process[] } = {},
  ): Promise<void> {
    for (let leftMs = ms; leftMs > 0; leftMs -= stepMs) {
      const going = this.#living().filter((process) => !frozen.includes(process));
      for (const clock of new Set(going.map((process) => process.clock))) {
        await clock.advance(Math.min(stepMs, leftMs));
      }
      await this.quiet();
      this.check(this.#living().filter((process) => !frozen.includes(process)));
    }
  }

  override async settle(): Promise<void> {
    await this.quiet();
    this.check(this.#living());
  }

  /** Moves time until something is so. */
  async until(
    isSo: () => boolean | Promise<boolean>,
    { mostMs = 60_000, stepMs = 50, frozen = [] as readonly Process[] } = {},
  ): Promise<void> {
    for (let ms = 0; !await isSo(); ms += stepMs) {
      assert.ok(ms < mostMs, `It is not so after ${ms} ms`);
      await this.advance(stepMs, { stepMs, frozen });
    }
  }

  override async stop(): Promise<void> {
    let left = 0;
    for (const { sluice } of this.#living()) {
      left++;
      sluice.stop().finally(() => left--);
    }
    try {
      for (let ms = 0; left > 0; ms += 250) {
        assert.ok(ms < STOPPED_WITHIN_MS, "A process does not stop");
        for (const clock of new Set(this.#living().map(({ clock }) => clock))) {
          await clock.advance(250);
        }
        await this.quiet();
      }
    } finally {
      for (const handle of this.#opened) await handle.close();
    }
    this.referee.verdict();
  }

  #living(): readonly Process[] {
    return this.processes.filter((process) => this.#handles.get(process)?.isDead !== true);
  }

  #handleOf(process: Process): Handle {
    const handle = this.#handles.get(process);
    assert.ok(handle !== undefined);
    return handle;
  }

  async #count<T>(call: () => Promise<T> | T): Promise<T> {
    this.#pending++;
    try {
      return await call();
    } finally {
      if (--this.#pending === 0) {
        this.#answered.resolve();
        this.#answered = Promise.withResolvers();
      }
    }
  }

  /** Tells all of what others have committed. False if nobody has. */
  #tell(): boolean {
    const handles = this.#opened.filter(({ isDead }) => !isDead);
    const writers = handles.filter((handle) => handle.takeWritten());
    const told = handles.filter((handle) => writers.some((writer) => writer !== handle));
    for (const handle of told) handle.changed();
    return told.length > 0;
  }
}

/** Runs `test` with processes on one file, then stops them. */
export async function withFile(test: (bench: DurableBench) => Promise<void>): Promise<void> {
  await withFolder(async (folder) => {
    const path = `${folder}/queue.db`;
    const bench = new DurableBench(() => openStore({ path, pollMs: 60_000 }));
    try {
      await test(bench);
    } finally {
      await bench.stop();
    }
  });
}

/** Runs `test` with processes on a KV Connect server that takes 10 checks a commit, then stops them. */
export async function withConnect(test: (bench: DurableBench) => Promise<void>): Promise<void> {
  await withServer({ maxChecks: 10 }, async (server) => {
    const bench = new DurableBench(() => openRemote(server, { answerMs: 10_000, pollMs: 60_000 }));
    try {
      await test(bench);
    } finally {
      await bench.stop();
    }
  });
}

/** Databases that processes share, by name. */
export const DATABASES = [["on a file", withFile], ["over KV Connect", withConnect]] as const;

/** One process's handle: counts calls, and dies. */
class Handle implements Store {
  isDead = false;
  calls = 0;
  readonly #store: Store;
  readonly #count: <T>(call: () => Promise<T> | T) => Promise<T>;
  readonly #queues: KvQueue[] = [];
  #death: Death | undefined;
  #closing: Promise<void> | undefined;
  #written = false;

  constructor(store: Store, count: <T>(call: () => Promise<T> | T) => Promise<T>) {
    this.#store = store;
    this.#count = count;
  }

  async open(options: QueueOptions): Promise<Queue> {
    const queue = await this.#write(() => this.#store.open(options));
    this.#queues.push(queue as KvQueue); // it is a deno-kv store's
    return {
      add: (entries, nowMs) => this.#write(() => queue.add(entries, nowMs)),
      lease: async (wants, nowMs, ahead) => {
        const jobs = await this.#call(() => queue.lease(wants, nowMs, ahead));
        if (jobs.length > 0) this.#written = true;
        return jobs;
      },
      settle: (ends, nowMs) => this.#write(() => queue.settle(ends, nowMs)),
      renew: async (nowMs, steadyMs) => {
        const renewal = await this.#call(() => queue.renew(nowMs, steadyMs));
        if (renewal.reaped > 0) this.#written = true;
        return renewal;
      },
      count: (nowMs) => this.#call(() => queue.count(nowMs)),
      readySince: (lane, atMs) => queue.readySince(lane, atMs),
      reopen: (rules) => this.#call(() => queue.reopen!(rules)),
      find: (id) => this.#call(() => queue.find(id)),
      list: (query) => this.#call(() => queue.list(query)),
      change: (id, change, nowMs) => this.#write(() => queue.change(id, change, nowMs)),
      outcome: (job) => queue.outcome(job),
      leave: (nowMs) => this.#write(() => queue.leave(nowMs)),
    };
  }

  get(key: string): ReturnType<Store["get"]> {
    return this.#call(() => this.#store.get(key));
  }

  commit(...given: Parameters<Store["commit"]>): Promise<boolean> {
    return this.#write(() => this.#store.commit(...given));
  }

  close(): Promise<void> {
    this.isDead = true;
    this.#closing ??= Promise.resolve(this.#store.close());
    return this.#closing;
  }

  die(death: Death | undefined): void {
    this.#death = death;
    if (death === undefined) this.isDead = true;
  }

  changed(): void {
    for (const queue of this.#queues) this.#count(() => queue.changed()).catch(() => {});
  }

  takeWritten(): boolean {
    const written = this.#written;
    this.#written = false;
    return written;
  }

  async #write<T>(call: () => Promise<T> | T): Promise<T> {
    const answer = await this.#call(call);
    this.#written = true;
    return answer;
  }

  async #call<T>(call: () => Promise<T> | T): Promise<T> {
    this.calls++;
    if (this.#death === "before") this.isDead = true;
    if (this.isDead) return await new Promise(() => {});
    const isLast = this.#death === "after";
    const answer = await this.#count(call);
    if (isLast) this.isDead = true;
    if (this.isDead) return await new Promise(() => {});
    return answer;
  }
}

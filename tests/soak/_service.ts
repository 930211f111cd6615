/** A process that runs `sluice run` on the config of the soak, as a service manager would. */

import { sleep } from "./_time.ts";

/** How a process of the soak runs. */
export interface ServiceOptions {
  readonly number: number;
  /** Folder with `pools.json`. */
  readonly folder: string;
  /** Where its handler writes down what it does. */
  readonly log: string;
  /** Most file descriptors. `undefined`: the machine's. */
  readonly files?: number | undefined;
  /** A file that says how far its wall clock is off, for libfaketime. `undefined`: it is not. */
  readonly clock?: string | undefined;
}

const CLI = new URL("../../src/cli/main.ts", import.meta.url).pathname;

/** Debian's library that fakes the wall clock. */
export const FAKETIME = "/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1";

/** How long a start may take on a busy machine, ms. */
const STARTED_WITHIN_MS = 60_000;

/** What a process wrote that none should: a fault of its own, not one of a job or of its store. */
const STRAY =
  /uncaught|unhandled|nobody handled|Maximum call stack|out of memory|TypeError|ReferenceError/i;

/** One process. */
export class Service {
  /** Address of its API. */
  url = "";
  /** Lines that show a fault of the process itself. */
  readonly strays: string[] = [];
  readonly child: Deno.ChildProcess;
  /** How it ended. `undefined`: it runs. */
  ended: Deno.CommandStatus | undefined;
  /** True once it was asked to stop. */
  isToEnd = false;
  readonly #reading: Promise<void>[] = [];
  readonly #started = Promise.withResolvers<void>();

  private constructor(readonly options: ServiceOptions) {
    const { folder, log, files, clock } = options;
    const deno = [Deno.execPath(), "run", "--no-prompt", "-A", "--unstable-kv", CLI];
    const command = [...deno, "run", `${folder}/pools.json`, "--json"];
    const limit = files === undefined ? "" : `ulimit -n ${files}; `;
    const faked = clock === undefined ? {} : {
      LD_PRELOAD: FAKETIME,
      FAKETIME_TIMESTAMP_FILE: clock,
      FAKETIME_NO_CACHE: "1",
      DONT_FAKE_MONOTONIC: "1",
    };
    this.child = new Deno.Command("bash", {
      args: ["-c", `${limit}exec "$@"`, "service", ...command],
      env: { SOAK_LOG: log, NO_COLOR: "1", ...faked },
      stdout: "piped",
      stderr: "piped",
    }).spawn();
    this.child.status.then((status) => {
      this.ended = status;
      this.#started.reject(new Error(`Process ${options.number} ended: code ${status.code}`));
    });
    this.#started.promise.catch(() => {}); // what waits for the start hears of it
    this.#reading.push(this.#read(this.child.stdout, (line) => this.#said(line)));
    this.#reading.push(
      this.#read(this.child.stderr, (line) => {
        if (STRAY.test(line) && this.strays.length < 20) this.strays.push(line.slice(0, 600));
      }),
    );
  }

  /** Starts one, and waits until it serves. @throws {Error} If it does not. */
  static async start(options: ServiceOptions): Promise<Service> {
    const service = new Service(options);
    const late = sleep(STARTED_WITHIN_MS).then(() => {
      throw new Error(`Process ${options.number} does not start`);
    });
    late.catch(() => {}); // it was in time
    await Promise.race([service.#started.promise, late]);
    return service;
  }

  /** True while it runs. */
  get lives(): boolean {
    return this.ended === undefined;
  }

  signal(signal: Deno.Signal): void {
    if (signal === "SIGTERM" || signal === "SIGKILL") this.isToEnd = true;
    if (this.lives) this.child.kill(signal);
  }

  /** Resolves once it has ended. */
  async gone(): Promise<void> {
    await this.child.status;
    await Promise.all(this.#reading);
  }

  #said(line: string): void {
    const [, url] = /^\s+"url": "(.*)",?$/.exec(line) ?? [];
    if (url === undefined) return;
    this.url = url;
    this.#started.resolve();
  }

  async #read(from: ReadableStream<Uint8Array>, take: (line: string) => void): Promise<void> {
    let rest = "";
    const decoder = new TextDecoder();
    for await (const bytes of from) {
      const lines = (rest + decoder.decode(bytes, { stream: true })).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) if (line !== "") take(line);
    }
  }
}

/**
 * `sluice top`: a live screen of pools, lanes and decisions; one print where no terminal is.
 *
 * @module
 */

import type { Command } from "commander";
import type { DecisionJson } from "../admin/http/wire.ts";
import { delay } from "../base/async.ts";
import { messageOf } from "../contract/errors.ts";
import { call, type RemoteOptions } from "./client.ts";
import { CliError } from "./failure.ts";
import type { Io } from "./io.ts";
import { json, line, shown } from "./print.ts";
import type { Screen } from "./screen.ts";
import { fit, poolLines, poolPart, type TopLine, type TopReading } from "./top_view.ts";
import { durationMs, type Tools, withRemote } from "./verb.ts";

interface TopOptions extends RemoteOptions {
  readonly every: string;
  readonly once?: boolean;
}

/** Decisions of each pool in one print. */
const PRINTED_DECISIONS = 5;

/** Decisions that a screen may show: what fits. */
const SHOWN_DECISIONS = 50;

const SHORTEST_MS = 100;

/** Adds the verb. */
export function addTop(program: Command, { io }: Tools): void {
  withRemote(program.command("top").description("watch pools, lanes and decisions live"))
    .option("--every <duration>", "refresh interval", "1s")
    .option("--once", "print once, as without a terminal")
    .action((options: TopOptions) => top(io, options));
}

async function top(io: Io, options: TopOptions): Promise<void> {
  const everyMs = durationMs("--every", options.every) ?? 0;
  if (everyMs < SHORTEST_MS) {
    throw new CliError(
      `Expected --every to be at least ${SHORTEST_MS} ms but received "${options.every}"`,
      2,
    );
  }
  const first = await read(io, options, undefined); // a fault at the start is said on the usual screen
  const screen = options.once || options.json ? undefined : io.openScreen();
  if (screen === undefined) return await print(io, options, first);
  try {
    await new Live(io, options, screen).run(first, everyMs);
  } finally {
    screen.close();
  }
}

/** Prints one look at all pools. */
async function print(io: Io, options: TopOptions, { pools }: TopReading): Promise<void> {
  const parts = await Promise.all(pools.map(async (pool) => {
    return { ...pool, decisions: await decisionsOf(io, options, pool.pool, PRINTED_DECISIONS) };
  }));
  if (options.json) return json(io, parts);
  for (const { text } of poolLines(pools)) line(io, text);
  for (const pool of parts) {
    line(io);
    for (const { text } of poolPart(pool, pool.decisions)) line(io, text);
  }
}

/** A screen that follows a system. */
class Live {
  readonly #io: Io;
  readonly #options: TopOptions;
  readonly #screen: Screen;
  readonly #stop = new AbortController();
  #wait = new AbortController();
  #reading: TopReading = { pools: [], decisions: new Map() };
  #selected = 0;
  #readAtMs = 0;
  #trouble: string | undefined;

  constructor(io: Io, options: TopOptions, screen: Screen) {
    this.#io = io;
    this.#options = options;
    this.#screen = screen;
  }

  /** Shows it until someone quits. */
  async run(first: TopReading, everyMs: number): Promise<void> {
    this.#take(first);
    const following = this.#follow(everyMs);
    for await (const event of this.#screen.events()) {
      if (event === "quit") break;
      if (event === "up") this.#select(-1);
      if (event === "down") this.#select(1);
      this.#draw();
    }
    this.#stop.abort();
    await following;
  }

  async #follow(everyMs: number): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      try {
        this.#take(await read(this.#io, this.#options, this.#pool, signal));
      } catch (thrown) {
        if (signal.aborted) return;
        this.#trouble = messageOf(thrown); // it may come back: the last figures stay
        this.#draw();
      }
      this.#wait = new AbortController();
      const ended = AbortSignal.any([signal, this.#wait.signal]);
      await delay(everyMs, { signal: ended }).catch(() => {}); // ends early at a choice or the end
    }
  }

  get #pool(): string | undefined {
    return this.#reading.pools[this.#selected]?.pool;
  }

  #select(step: number): void {
    const count = this.#reading.pools.length;
    if (count === 0) return;
    this.#selected = (this.#selected + step + count) % count;
    if (!this.#reading.decisions.has(this.#pool ?? "")) this.#wait.abort(); // reads them now
  }

  #take(reading: TopReading): void {
    const decisions = new Map([...this.#reading.decisions, ...reading.decisions]);
    this.#reading = { pools: reading.pools, decisions };
    this.#selected = Math.min(this.#selected, Math.max(0, reading.pools.length - 1));
    this.#readAtMs = Date.now();
    this.#trouble = undefined;
    this.#draw();
  }

  #draw(): void {
    const { pools, decisions } = this.#reading;
    const pool = pools[this.#selected];
    const shown = pool === undefined ? [] : poolPart(pool, decisions.get(pool.pool));
    const lines = [
      ...this.#head(),
      { text: "" },
      ...poolLines(pools, pool?.pool),
      { text: "" },
      ...shown,
    ];
    this.#screen.draw(fit(lines, this.#screen.size()).map((line) => styled(this.#io, line)));
  }

  #head(): readonly TopLine[] {
    const at = new Date(this.#readAtMs).toISOString().slice(11, 19);
    const title = `sluice top  ${this.#options.url}  ${at}  q quits, up and down choose a pool`;
    if (this.#trouble === undefined) return [{ text: title }];
    return [{ text: title }, {
      text: `Last update ${at}; trying again. ${this.#trouble}`,
      style: "red",
    }];
  }
}

function styled(io: Io, { text, style }: TopLine): string {
  return shown(io, style === undefined ? text : { text, style });
}

async function read(
  io: Io,
  options: TopOptions,
  pool: string | undefined,
  signal?: AbortSignal,
): Promise<TopReading> {
  const [pools, decisions] = await Promise.all([
    call(io, options, "GET /api/pools", "list", { signal }),
    pool === undefined ? undefined : decisionsOf(io, options, pool, SHOWN_DECISIONS, signal),
  ]);
  const known = pool === undefined || decisions === undefined ? [] : [[pool, decisions] as const];
  return { pools, decisions: new Map(known) };
}

async function decisionsOf(
  io: Io,
  options: TopOptions,
  pool: string,
  limit: number,
  signal?: AbortSignal,
): Promise<readonly DecisionJson[]> {
  return await call(io, options, "GET /api/pools/:pool/decisions", "list", {
    at: { pool },
    query: { limit },
    signal,
  });
}

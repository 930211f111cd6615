/**
 * The live screen of `sluice top`: it follows a system, and does what keys ask for.
 *
 * @module
 */

import type { PoolJson } from "../admin/http/wire.ts";
import { delay } from "../base/async.ts";
import { messageOf } from "../contract/errors.ts";
import { call, type Remote } from "./client.ts";
import type { Io } from "./io.ts";
import { shown } from "./print.ts";
import type { Screen, ScreenEvent, ScreenKey } from "./screen.ts";
import { pictureOf } from "./top_picture.ts";
import { OVERRIDE_HINT, type Prompt, readOverride, typeInto } from "./top_prompt.ts";
import { readTop } from "./top_reading.ts";
import {
  fit,
  type TopLine,
  type TopReading,
  TREND_LENGTH,
  troubleFirst,
  waitOf,
} from "./top_view.ts";
import { TOP_PAGES, type TopPage } from "./top_pages.ts";

/** A page over the pools, such as the jobs of one. */
interface Opened {
  readonly page: TopPage;
  readonly pool: string;
  readonly lines: readonly TopLine[];
  /** The first line that is shown. */
  readonly from: number;
}

/** How far a key moves. */
const STEPS: Readonly<Partial<Record<ScreenKey, number>>> = {
  "up": -1,
  "down": 1,
  "page-up": -10,
  "page-down": 10,
  "home": -Infinity,
  "end": Infinity,
};

/** A screen that follows a system. */
export class LiveTop {
  readonly #io: Io;
  readonly #remote: Remote;
  readonly #screen: Screen;
  readonly #stop = new AbortController();
  readonly #trends = new Map<string, number[]>();
  #wait = new AbortController();
  #reading: TopReading = { pools: [], decisions: new Map() };
  #shown: readonly PoolJson[] = [];
  #selected: string | undefined;
  #filter = "";
  #prompt: Prompt | undefined;
  #opened: Opened | undefined;
  #said: { readonly text: string; readonly bad: boolean } | undefined;
  #readAtMs = 0;
  #trouble: string | undefined;
  #from = 0;

  /** Nothing is drawn before `run`. */
  constructor(io: Io, remote: Remote, screen: Screen) {
    this.#io = io;
    this.#remote = remote;
    this.#screen = screen;
  }

  /** Shows it until someone quits. */
  async run(first: TopReading, everyMs: number): Promise<void> {
    this.#take(first);
    const following = this.#follow(everyMs);
    for await (const event of this.#screen.events()) {
      if (event === "quit" || !this.#hear(event)) break;
      this.#draw();
    }
    this.#stop.abort();
    await following;
  }

  async #follow(everyMs: number): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      try {
        const reading = await readTop(this.#io, this.#remote, this.#selected, signal);
        this.#take(reading);
        await this.#readPage();
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

  #take(reading: TopReading): void {
    const decisions = new Map([...this.#reading.decisions, ...reading.decisions]);
    this.#reading = { pools: reading.pools, decisions };
    for (const pool of reading.pools) {
      const trend = this.#trends.get(pool.pool) ?? [];
      this.#trends.set(pool.pool, [...trend, waitOf(pool)].slice(-TREND_LENGTH));
    }
    this.#readAtMs = Date.now();
    this.#trouble = undefined;
    this.#arrange();
    this.#draw();
  }

  /** Puts pools in order; the choice stays with its pool. */
  #arrange(): void {
    const text = this.#filter.toLowerCase();
    const all = troubleFirst(this.#reading.pools);
    this.#shown = all.filter(({ pool }) => pool.toLowerCase().includes(text));
    if (!this.#shown.some(({ pool }) => pool === this.#selected)) {
      this.#selected = this.#shown[0]?.pool;
    }
  }

  /** Does what a key asks for. False: it is the end. */
  #hear(event: ScreenEvent): boolean {
    if (event === "resize" || event === "other") return true;
    this.#said = undefined;
    if (this.#prompt !== undefined) {
      const before = this.#prompt;
      const after = typeInto(before, event);
      if (this.#prompt === before) this.#prompt = after; // an answer may have asked for more
      return true;
    }
    const key = typeof event === "object" ? event.typed : event;
    const step = STEPS[event as ScreenKey];
    if (step !== undefined) this.#move(step);
    else if (this.#opened !== undefined && (key === "escape" || key === "q")) {
      this.#opened = undefined;
    } else if (key === "q" || key === "Q") return false;
    else if (key === "escape") this.#setFilter("");
    else this.#act(key);
    return true;
  }

  #act(key: string): void {
    if (key === "/") return this.#askFilter();
    const page = TOP_PAGES.find((one) => one.key === key);
    const pool = this.#shown.find((one) => one.pool === this.#selected);
    if (page !== undefined) {
      this.#opened = { page, pool: pool?.pool ?? "", lines: [], from: 0 };
      this.#wait.abort(); // reads it now
    } else if (pool !== undefined && key === "p") this.#askPause(pool);
    else if (pool !== undefined && key === "o") this.#askOverride(pool);
  }

  #move(step: number): void {
    if (this.#opened !== undefined) {
      const { lines, from } = this.#opened;
      const last = Math.max(0, lines.length - this.#screen.size().rows + 2);
      this.#opened = { ...this.#opened, from: Math.min(last, Math.max(0, from + step)) };
      return;
    }
    const last = this.#shown.length - 1;
    const now = this.#shown.findIndex(({ pool }) => pool === this.#selected);
    this.#selected = this.#shown[Math.max(0, Math.min(last, now + step))]?.pool;
    if (!this.#reading.decisions.has(this.#selected ?? "")) this.#wait.abort(); // reads them now
  }

  #setFilter(text: string): void {
    this.#filter = text;
    this.#arrange();
  }

  #askFilter(): void {
    const before = this.#filter;
    this.#prompt = {
      label: "Filter by name: ",
      text: before,
      typed: (text) => this.#setFilter(text),
      done: () => {},
      left: () => this.#setFilter(before),
    };
  }

  #askPause({ pool, paused }: PoolJson): void {
    const verb = paused ? "resume" : "pause";
    this.#prompt = {
      label: `${paused ? "Resume" : "Pause"} pool "${pool}"? y/n`,
      text: "",
      confirms: true,
      done: () =>
        this.#do(paused ? "It is resumed" : "It is paused", async () => {
          await call(this.#io, this.#remote, `POST /api/pools/:pool/${verb}`, "paused", {
            at: { pool },
            body: {},
          });
        }),
    };
  }

  #askOverride({ pool }: PoolJson): void {
    this.#prompt = {
      label: `Override of "${pool}" (${OVERRIDE_HINT}): `,
      text: "",
      done: (text) =>
        this.#do("The bounds are changed", async () => {
          const body = readOverride(text);
          const at = { pool };
          if (body === undefined) {
            await call(this.#io, this.#remote, "DELETE /api/pools/:pool/override", "override", {
              at,
            });
          } else {
            await call(this.#io, this.#remote, "PUT /api/pools/:pool/override", "override", {
              at,
              body,
            });
          }
        }),
    };
  }

  /** Does something, says what came of it, and looks again. */
  #do(done: string, act: () => Promise<void>): void {
    this.#said = { text: "…", bad: false };
    act().then(
      () => this.#said = { text: done, bad: false },
      (thrown) => this.#said = { text: messageOf(thrown), bad: true },
    ).finally(() => {
      this.#wait.abort();
      if (!this.#stop.signal.aborted) this.#draw();
    });
  }

  async #readPage(): Promise<void> {
    const opened = this.#opened;
    if (opened === undefined) return;
    const { signal } = this.#stop;
    const { columns } = this.#screen.size();
    const { page, pool } = opened;
    const lines = await page.read({ io: this.#io, remote: this.#remote, pool, columns, signal });
    if (this.#opened?.page !== page) return; // it was closed meanwhile
    this.#opened = { ...this.#opened, lines };
    this.#draw();
  }

  #draw(): void {
    const size = this.#screen.size();
    const { lines, from } = pictureOf({
      host: URL.parse(this.#remote.url)?.host ?? this.#remote.url,
      readAtMs: this.#readAtMs,
      trouble: this.#trouble,
      pools: this.#reading.pools,
      shown: this.#shown,
      selected: this.#selected,
      decisions: this.#reading.decisions,
      trends: this.#trends,
      filter: this.#filter,
      prompt: this.#prompt,
      said: this.#said,
      opened: this.#opened && {
        title: this.#opened.page.title(this.#opened.pool),
        lines: this.#opened.lines.slice(this.#opened.from),
      },
      from: this.#from,
    }, size);
    this.#from = from;
    this.#screen.draw(
      fit(lines, size).map((line) => line.map((part) => shown(this.#io, part)).join("")),
    );
  }
}

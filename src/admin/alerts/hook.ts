/**
 * Tells a web address of findings: once when one begins, once when it ends.
 *
 * @module
 */

import type { Clock, Timer } from "../../time/clock.ts";
import type { Finding } from "../../explain/diagnose.ts";
import type { Logger } from "../../contract/job.ts";
import type { AlertSettings } from "../../config/settings.ts";
import type { PoolHandle } from "../../runtime/handles.ts";
import { AlertLine } from "./line.ts";
import { AlertPost } from "./post.ts";

/** What a hook is made of. */
export interface AlertHookOptions extends AlertSettings {
  /** The pools that there are now. */
  readonly pools: () => readonly Pick<PoolHandle, "name" | "diagnosis">[];
  /** Time of looks and of waits between attempts. */
  readonly clock: Clock;
  /** Told of what could not be delivered. */
  readonly log: Logger;
}

/** Time between looks at the pools, ms. */
const LOOK_EVERY_MS = 5_000;

/** A finding that was not seen for so long has ended, ms: one that comes and goes is reported once. */
const QUIET_MS = 60_000;

/** Looks at pools and tells of their findings. */
export class AlertHook {
  readonly #options: AlertHookOptions;
  readonly #ignored: ReadonlySet<string>;
  readonly #lines = new Map<string, AlertLine>();
  readonly #stopping = new AbortController();
  readonly #post: AlertPost;
  #timer: Timer;

  /** Looks from now on. */
  constructor(options: AlertHookOptions) {
    this.#options = options;
    this.#ignored = new Set(options.ignore);
    this.#post = new AlertPost(options, this.#stopping.signal);
    this.#timer = this.#arm();
  }

  /** Looks and sends no more. What is under way is given up. */
  async stop(): Promise<void> {
    this.#timer.cancel();
    this.#stopping.abort();
    await Promise.all(this.#lines.values().map((line) => line.tell()));
  }

  #arm(): Timer {
    const { clock } = this.#options;
    return clock.at(clock.nowMs() + LOOK_EVERY_MS, () => {
      this.#timer = this.#arm();
      this.#look(clock.nowMs());
    });
  }

  #look(nowMs: number): void {
    for (const pool of this.#options.pools()) {
      for (const finding of pool.diagnosis()) {
        if (!this.#ignored.has(finding.code)) this.#see(pool.name, finding, nowMs);
      }
    }
    for (const [key, line] of this.#lines) {
      if (line.open !== undefined && nowMs - line.open.seenAtMs >= QUIET_MS) line.open = undefined;
      line.tell();
      if (line.isOver) this.#lines.delete(key);
    }
  }

  #see(pool: string, finding: Finding, nowMs: number): void {
    const key = `${pool}\n${finding.code}\n${finding.lane ?? ""}`;
    const line = this.#lines.get(key) ?? this.#lineOf(key);
    line.open ??= { pool, sinceMs: nowMs, finding, seenAtMs: nowMs };
    line.open.finding = finding;
    line.open.seenAtMs = nowMs;
  }

  /** Each finding by itself: none waits for an address that takes long over another. */
  #lineOf(key: string): AlertLine {
    const { clock, log } = this.#options;
    const line = new AlertLine({ post: this.#post, clock, log, signal: this.#stopping.signal });
    this.#lines.set(key, line);
    return line;
  }
}

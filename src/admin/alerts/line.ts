/**
 * Tells the address of one finding: that it has begun, then that it has ended.
 *
 * @module
 */

import { type Clock, pause } from "../../time/clock.ts";
import type { Finding } from "../../explain/diagnose.ts";
import type { Logger } from "../../contract/job.ts";
import type { AlertPost } from "./post.ts";

/** What an address is sent, as JSON. */
export interface AlertJson extends Finding {
  /** Whether it begins or has ended. */
  readonly alert: "began" | "ended";
  /** Name of the pool. */
  readonly pool: string;
  /** All of it in a sentence: what chat programs show. */
  readonly text: string;
  /** When it was first seen. */
  readonly sinceMs: number;
  /** When it was first seen, or for an end, last seen. */
  readonly atMs: number;
}

/** A finding that is open. */
export interface Open {
  /** Name of the pool. */
  readonly pool: string;
  /** When it was first seen. */
  readonly sinceMs: number;
  /** As it was last seen. */
  finding: Finding;
  /** When it was last seen. */
  seenAtMs: number;
}

/** What telling needs. */
export interface AlertLineOptions {
  /** Sends. */
  readonly post: Pick<AlertPost, "send">;
  /** Time of waits between attempts. */
  readonly clock: Clock;
  /** Told of what was not delivered. */
  readonly log: Logger;
  /** Gives up. */
  readonly signal: AbortSignal;
}

/** Wait before the second attempt, ms; doubles with each further one. */
const RETRY_MS = 1_000;

/** Longest wait between attempts, ms. */
const LONGEST_RETRY_MS = 60_000;

/** After this many attempts the log says that an alert was not delivered. */
const REPORTED_AFTER = 6;

/** An alert that is being sent. */
interface Sending {
  readonly about: Open;
  readonly alert: AlertJson["alert"];
  readonly body: string;
  readonly key: string;
  attempts: number;
  isReported: boolean;
}

/**
 * What the address knows of a finding, brought in line with what is so. A beginning that was not
 * delivered before the end is dropped, and so is an end before it begins again.
 */
export class AlertLine {
  /** The finding. `undefined`: it has ended. */
  open: Open | undefined;
  readonly #options: AlertLineOptions;
  #told: Open | undefined; // that it has begun; its end not yet
  #running: Promise<void> | undefined;

  /** Nothing is known yet, and nothing told. */
  constructor(options: AlertLineOptions) {
    this.#options = options;
  }

  /** True once there is nothing to tell, now or later. */
  get isOver(): boolean {
    return this.#running === undefined && this.open === undefined && this.#told === undefined;
  }

  /** Tells what is to be told. Resolves at once if that is nothing. */
  tell(): Promise<void> {
    if (this.#next === undefined) return this.#running ?? Promise.resolve();
    return this.#running ??= this.#run().finally(() => this.#running = undefined);
  }

  /** What is to be told. */
  get #next(): { readonly alert: AlertJson["alert"]; readonly about: Open } | undefined {
    if (this.open !== undefined) {
      return this.#told === undefined ? { alert: "began", about: this.open } : undefined;
    }
    return this.#told === undefined ? undefined : { alert: "ended", about: this.#told };
  }

  async #run(): Promise<void> {
    const { clock, signal } = this.#options;
    let sending: Sending | undefined;
    for (let next = this.#next; next !== undefined; next = this.#next) {
      if (sending?.about !== next.about || sending.alert !== next.alert) {
        this.#dropped(sending);
        sending = sendingOf(next.about, next.alert);
      }
      if (signal.aborted) return this.#report(sending, "the process stops");
      if (await this.#send(sending)) {
        this.#told = sending.alert === "began" ? sending.about : undefined;
        sending = undefined;
        continue;
      }
      const waitMs = RETRY_MS * 2 ** (sending.attempts - 1);
      await pause(clock, Math.min(LONGEST_RETRY_MS, waitMs), signal);
    }
    this.#dropped(sending);
  }

  /** One attempt. True: the address has taken it. */
  async #send(sending: Sending): Promise<boolean> {
    sending.attempts++;
    const failure = await this.#options.post.send(sending.body, sending.key);
    if (failure === undefined) {
      if (sending.isReported) this.#log(sending, "info", "An alert was delivered late");
      return true;
    }
    if (!failure.passes || sending.attempts >= REPORTED_AFTER) {
      this.#report(sending, failure.error);
    }
    return false;
  }

  #dropped(sending: Sending | undefined): void {
    if (sending !== undefined) this.#report(sending, "the finding had ended");
  }

  #report(sending: Sending, error: string): void {
    if (sending.isReported) return;
    sending.isReported = true;
    this.#log(sending, "warn", "An alert was not delivered: see admin.alerts", error);
  }

  #log({ about }: Sending, level: "info" | "warn", message: string, error?: string): void {
    const { pool, finding: { code } } = about;
    this.#options.log[level](message, error === undefined ? { pool, code } : { pool, code, error });
  }
}

/** The same in each attempt: an address may know it by its key. */
function sendingOf(about: Open, alert: AlertJson["alert"]): Sending {
  const body = JSON.stringify(toJson(about, alert));
  return { about, alert, body, key: crypto.randomUUID(), attempts: 0, isReported: false };
}

function toJson({ pool, finding, sinceMs, seenAtMs }: Open, alert: AlertJson["alert"]): AlertJson {
  const { code, lane, saw, change } = finding;
  const where = lane === undefined ? pool : `${pool}, lane ${lane}`;
  const text = alert === "began"
    ? `${where}: ${code}. ${saw}. ${change}`
    : `${where}: ${code} ended`;
  return { alert, pool, ...finding, text, sinceMs, atMs: seenAtMs };
}

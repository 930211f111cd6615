/**
 * Tells a web address of findings: once when one begins, once when it ends.
 *
 * @module
 */

import { type Clock, pause, type Timer } from "../clock.ts";
import { hideSecrets } from "../config/secrets.ts";
import type { Finding } from "../diagnose.ts";
import { messageOf } from "../errors.ts";
import type { Logger } from "../job.ts";
import type { AlertSettings } from "../settings.ts";
import type { PoolHandle } from "../sluice.ts";

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

/** A finding that was not seen for so long has ended, ms: one that comes and goes is told once. */
const QUIET_MS = 60_000;

/** Most often that an alert is sent. */
const ATTEMPTS = 6;

/** Wait before the second attempt, ms; doubles with each further one. */
const RETRY_MS = 1_000;

/** How long the address may take to answer, ms. */
const ANSWER_WITHIN_MS = 10_000;

/** Most alerts that wait to be sent. */
const MOST_WAITING = 100;

interface Open {
  readonly pool: string;
  readonly sinceMs: number;
  finding: Finding;
  seenAtMs: number;
}

/** Looks at pools and tells of their findings. */
export class AlertHook {
  readonly #options: AlertHookOptions;
  readonly #ignored: ReadonlySet<string>;
  readonly #open = new Map<string, Open>();
  readonly #stopping = new AbortController();
  #sending: Promise<void> = Promise.resolve();
  #waiting = 0;
  #timer: Timer;

  /** Looks from now on. */
  constructor(options: AlertHookOptions) {
    this.#options = options;
    this.#ignored = new Set(options.ignore);
    this.#timer = this.#arm();
  }

  /** Looks and sends no more. What is under way is given up. */
  async stop(): Promise<void> {
    this.#timer.cancel();
    this.#stopping.abort();
    await this.#sending;
  }

  #arm(): Timer {
    const { clock } = this.#options;
    return clock.at(clock.nowMs() + LOOK_EVERY_MS, () => {
      this.#timer = this.#arm();
      this.#look(clock.nowMs());
    });
  }

  #look(nowMs: number): void {
    for (const { name: pool, diagnosis } of this.#found()) {
      for (const finding of diagnosis.filter(({ code }) => !this.#ignored.has(code))) {
        const key = `${pool}\n${finding.code}\n${finding.lane ?? ""}`;
        const open = this.#open.get(key);
        if (open === undefined) {
          this.#open.set(key, { pool, finding, sinceMs: nowMs, seenAtMs: nowMs });
          this.#tell({ pool, finding, sinceMs: nowMs, seenAtMs: nowMs }, "began");
        } else {
          open.finding = finding;
          open.seenAtMs = nowMs;
        }
      }
    }
    for (const [key, open] of this.#open) {
      if (nowMs - open.seenAtMs < QUIET_MS) continue;
      this.#open.delete(key);
      this.#tell(open, "ended");
    }
  }

  #found(): readonly { readonly name: string; readonly diagnosis: readonly Finding[] }[] {
    return this.#options.pools().map((pool) => ({ name: pool.name, diagnosis: pool.diagnosis() }));
  }

  #tell(open: Open, alert: AlertJson["alert"]): void {
    if (this.#waiting >= MOST_WAITING) return this.#lost(open, "too many alerts wait to be sent");
    const body = JSON.stringify(toJson(open, alert));
    const key = crypto.randomUUID(); // same for all attempts
    this.#waiting++;
    this.#sending = this.#sending.then(async () => { // one after the other: no end before its begin
      const failure = await this.#deliver(body, key);
      this.#waiting--;
      if (failure !== undefined) this.#lost(open, failure);
    });
  }

  /** Sends until it is taken. Answers why it was not. */
  async #deliver(body: string, key: string): Promise<string | undefined> {
    const { signal } = this.#stopping;
    for (let attempt = 1; !signal.aborted; attempt++) {
      const { failure, passes } = await this.#send(body, key);
      if (failure === undefined) return undefined;
      if (!passes || attempt === ATTEMPTS) return failure;
      await pause(this.#options.clock, RETRY_MS * 2 ** (attempt - 1), signal);
    }
    return "the process stops";
  }

  async #send(
    body: string,
    key: string,
  ): Promise<{ readonly failure?: string; readonly passes: boolean }> {
    const { url, token } = this.#options;
    const late = AbortSignal.timeout(ANSWER_WITHIN_MS); // a network keeps real time
    try {
      const { ok, status, body: answer } = await fetch(url, {
        method: "POST",
        headers: {
          "content-type": "application/json",
          "idempotency-key": key,
          ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        },
        body,
        signal: AbortSignal.any([this.#stopping.signal, late]),
      });
      await answer?.cancel();
      if (ok) return { passes: false };
      const passes = status >= 500 || status === 429 || status === 408;
      return { failure: `the address answered ${status}`, passes };
    } catch (thrown) {
      return { failure: hideSecrets(messageOf(thrown), secretsIn(url)), passes: true };
    }
  }

  #lost({ pool, finding }: Open, error: string): void {
    this.#options.log.warn("An alert was not delivered: see admin.alerts", {
      pool,
      code: finding.code,
      error,
    });
  }
}

function toJson({ pool, finding, sinceMs, seenAtMs }: Open, alert: AlertJson["alert"]): AlertJson {
  const { code, lane, saw, change } = finding;
  const where = lane === undefined ? pool : `${pool}, lane ${lane}`;
  const text = alert === "began"
    ? `${where}: ${code}. ${saw}. ${change}`
    : `${where}: ${code} ended`;
  return { alert, pool, ...finding, text, sinceMs, atMs: seenAtMs };
}

/** An address may hold a secret, and faults quote it. */
function secretsIn(url: string): readonly string[] {
  const { href, pathname, search } = new URL(url);
  return [url, href, `${pathname}${search}`, pathname].filter((part) => part.length > 1);
}

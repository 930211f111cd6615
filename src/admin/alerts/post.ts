/**
 * Sends one alert to the address that takes them.
 *
 * @module
 */

import { hideSecrets } from "../../config/secrets.ts";
import { messageOf } from "../../contract/errors.ts";
import type { AlertSettings } from "../../config/settings.ts";

/** What became of an attempt. `undefined`: the address has taken it. */
export interface Failure {
  /** Why it was not taken, without what is secret in the address. */
  readonly error: string;
  /** True: it may pass by itself. */
  readonly passes: boolean;
}

/** How long the address may take to answer, ms. */
const ANSWER_WITHIN_MS = 10_000;

/** Most attempts at once, so that many findings open no connection each. */
const MOST_AT_ONCE = 50;

/** Posts to one address. */
export class AlertPost {
  readonly #settings: AlertSettings;
  readonly #signal: AbortSignal;
  readonly #queue: (() => void)[] = [];
  #free = MOST_AT_ONCE;

  /** `signal` gives up what is under way. */
  constructor(settings: AlertSettings, signal: AbortSignal) {
    this.#settings = settings;
    this.#signal = signal;
  }

  /** Sends once. `key`: the same for each attempt of one alert. */
  async send(body: string, key: string): Promise<Failure | undefined> {
    if (this.#free > 0) this.#free--;
    else await new Promise<void>((resolve) => this.#queue.push(resolve));
    try {
      return await this.#send(body, key);
    } finally {
      const next = this.#queue.shift();
      if (next === undefined) this.#free++;
      else next();
    }
  }

  async #send(body: string, key: string): Promise<Failure | undefined> {
    const { url, token } = this.#settings;
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
        redirect: "manual", // what follows one sends a GET, or the alert to another host
        signal: AbortSignal.any([this.#signal, late]),
      });
      await answer?.cancel();
      if (ok) return undefined;
      const leadsAway = status >= 300 && status < 400;
      return {
        error: `the address answered ${status}${
          leadsAway ? ": use the address that it redirects to" : ""
        }`,
        passes: status >= 500 || status === 429 || status === 408,
      };
    } catch (thrown) {
      if (late.aborted) {
        return { error: `no answer within ${ANSWER_WITHIN_MS / 1000} s`, passes: true };
      }
      const secrets = [...secretsIn(url), ...(token === undefined ? [] : [token])];
      return { error: hideSecrets(messageOf(thrown), secrets), passes: true };
    }
  }
}

/** An address may hold a secret, and faults quote it. */
function secretsIn(url: string): readonly string[] {
  const { href, pathname, search, username, password } = new URL(url);
  return [url, href, `${pathname}${search}`, pathname, search, username, password]
    .filter((part) => part.length > 1);
}

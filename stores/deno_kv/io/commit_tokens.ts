/**
 * Commit tokens: over a network a commit may be applied and its answer lost, or be repeated by the
 * client, which then says that it was not applied (denoland/denokv, 0.14). Each commit therefore also
 * changes a key that only it changes, if that key is as it was: so it is applied once at most, and what
 * the key holds tells whether it was.
 *
 * @module
 */

import { delay } from "../../../src/base/async.ts";
import { tokenKey } from "../record/keys.ts";
import type { RemoteConnection } from "./remote_connection.ts";

/** How long a key stays that is used no more, ms: longer than any client repeats a commit. */
const KEPT_MS = 86_400_000;

/** A key is not used any more after so long without use, ms: it may be dropped soon. */
const FRESH_MS = KEPT_MS / 2;

/** Waits between two tries to find out what came of a commit, ms, before jitter. */
const PAUSES_MS = [20, 50, 100, 200, 500] as const;

/** A key for the commits of one process, one after the other. */
interface Token {
  readonly key: Deno.KvKey;
  /** Version of the key. `null`: it is not there yet. */
  versionstamp: string | null;
  /** Number of the latest commit. */
  number: number;
  usedAtMs: number;
}

/** Makes commits over a line, each once at most. */
export class CommitTokens {
  readonly #line: RemoteConnection;
  readonly #random: () => number;
  readonly #free: Token[] = [];
  #closed = false;

  /** `random` spreads the tries of several processes. */
  constructor(line: RemoteConnection, random: () => number) {
    this.#line = line;
    this.#random = random;
  }

  /**
   * Commits about this many bytes. The version of what it has set. `undefined`: a check failed, and nothing was changed.
   *
   * @throws {Error} If nothing was changed, and never will be. Waits until that is known.
   */
  async commit(atomic: Deno.AtomicOperation, bytes: number): Promise<string | undefined> {
    const token = this.#take();
    const mark = ++token.number;
    atomic.check(token).set(token.key, mark, { expireIn: KEPT_MS });
    let done: boolean | undefined;
    let fault: unknown;
    let called = false; // in an outage it is not even tried
    try {
      const answer = await this.#line.call(() => {
        called = true;
        this.#line.hurry(bytes);
        return atomic.commit();
      });
      if (answer.ok) token.versionstamp = answer.versionstamp;
      done = answer.ok || await this.#tells(token, mark);
    } catch (thrown) {
      fault = thrown ?? new Error("The database failed");
      done = called ? await this.#settle(token, mark, fault) : false;
    }
    if (done === undefined) {
      throw new Error("Another process changed the token of a commit: nothing was stored");
    }
    this.#free.push(token);
    if (!done && fault !== undefined) throw fault;
    return done ? token.versionstamp! : undefined; // its key was set by the same commit
  }

  /** Gives up finding out. */
  close(): void {
    this.#closed = true;
  }

  #take(): Token {
    const nowMs = Date.now();
    for (let token = this.#free.pop(); token !== undefined; token = this.#free.pop()) {
      if (Math.abs(nowMs - token.usedAtMs) < FRESH_MS) {
        token.usedAtMs = nowMs;
        return token;
      }
    }
    return { key: tokenKey(crypto.randomUUID()), versionstamp: null, number: 0, usedAtMs: nowMs };
  }

  /** Whether the commit with this mark was applied. `undefined`: the key is not as anyone here left it. */
  async #tells(token: Token, mark: number): Promise<boolean | undefined> {
    const { value, versionstamp } = await this.#line.call(() => this.#line.kv.get(token.key));
    const isOurs = value === mark || value === -mark;
    if (!isOurs && versionstamp !== token.versionstamp) return undefined;
    token.versionstamp = versionstamp;
    return value === mark;
  }

  /** Finds out whether a commit was applied. If it has not been by now, it is called off. */
  async #settle(token: Token, mark: number, why: unknown): Promise<boolean | undefined> {
    for (let tries = 0; !this.#closed; tries++) {
      try {
        const answer = await this.#line.call(() =>
          this.#line.kv.atomic().check(token).set(token.key, -mark, { expireIn: KEPT_MS }).commit()
        );
        if (!answer.ok) return await this.#tells(token, mark);
        token.versionstamp = answer.versionstamp;
        return false;
      } catch {
        const pauseMs = PAUSES_MS[Math.min(tries, PAUSES_MS.length - 1)]!; // the index is in range
        await delay(pauseMs * (1 + this.#random()));
      }
    }
    throw why;
  }
}

/**
 * Accepts connections and serves HTTP on each. `Deno.serve` does both, but accepts nothing more after
 * the first connection that it cannot accept, closes none whose request never comes, and cannot be
 * ended at once after it was asked to stop in order.
 *
 * @module
 */

import { type Clock, pause } from "../../time/clock.ts";
import { messageOf } from "../../contract/errors.ts";
import type { Logger } from "../../contract/job.ts";
import { Connection, type Handle } from "./connection.ts";

/** What a front is made of. */
export interface FrontOptions {
  /** Bound addresses. */
  readonly listeners: readonly Deno.TcpListener[];
  /** Answers requests. */
  readonly handle: Handle;
  /** Time of limits. */
  readonly clock: Clock;
  /** Gets faults. */
  readonly log: Logger;
}

/** A connection on which nothing is answered for so long is closed, ms. */
export const QUIET_MS = 30_000;

/** Time between two looks at the connections, ms. */
const SWEEP_MS = 1_000;

/** Time between two attempts to accept, while the system has no room for a connection, ms. */
const AGAIN_MS = 500;

/** How long requests under way may take once the front stops, ms. */
const STOP_WITHIN_MS = 3_000;

/** How long answers that were given may take to be written, ms. */
const WRITTEN_WITHIN_MS = 50;

/** Serves HTTP on addresses until it is stopped. */
export class Front {
  readonly #options: FrontOptions;
  readonly #connections = new Set<Connection>();
  readonly #stopping = new AbortController();
  readonly #accepting: readonly Promise<void>[];
  #stopped: Promise<void> | undefined;

  /** Accepts from now on. */
  constructor(options: FrontOptions) {
    this.#options = options;
    this.#accepting = options.listeners.map((listener) => this.#accept(listener));
    this.#sweep();
  }

  /** Accepts no more, lets requests under way be answered for a while, and closes all connections. */
  stop(): Promise<void> {
    return this.#stopped ??= this.#stop();
  }

  async #stop(): Promise<void> {
    const { listeners, clock } = this.#options;
    this.#stopping.abort();
    for (const listener of listeners) listener.close();
    await Promise.all(this.#accepting); // an address is free once nobody waits on it
    const connections = [...this.#connections];
    if (connections.length === 0) return;
    const over = new AbortController();
    const answered = Promise.all(connections.map((connection) => connection.answered()));
    await Promise.race([answered, pause(clock, STOP_WITHIN_MS, over.signal)]);
    over.abort();
    await pause(clock, WRITTEN_WITHIN_MS);
    for (const connection of connections) connection.close();
    await Promise.all(connections.map(({ finished }) => finished));
  }

  async #accept(listener: Deno.TcpListener): Promise<void> {
    const { clock, log } = this.#options;
    const { signal } = this.#stopping;
    let isFailing = false;
    while (!signal.aborted) {
      let accepted: Deno.TcpConn;
      try {
        accepted = await listener.accept();
      } catch (thrown) {
        if (signal.aborted) return;
        if (!isFailing) {
          const error = messageOf(thrown);
          log.error("The admin API cannot accept connections: it keeps trying", { error });
        }
        isFailing = true;
        await pause(clock, AGAIN_MS, signal);
        continue;
      }
      if (isFailing) log.info("The admin API accepts connections again");
      isFailing = false;
      this.#serve(accepted);
    }
  }

  #serve(accepted: Deno.TcpConn): void {
    const { handle, clock, log } = this.#options;
    try {
      const connection = new Connection(accepted, { handle, log, nowMs: clock.nowMs() });
      this.#connections.add(connection);
      connection.finished.then(() => this.#connections.delete(connection));
    } catch (thrown) { // its client has gone already
      log.debug("A connection could not be served", { error: messageOf(thrown) });
    }
  }

  /** Closes connections whose client sends no request, or does not take an answer. */
  async #sweep(): Promise<void> {
    const { clock } = this.#options;
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      await pause(clock, SWEEP_MS, signal);
      const nowMs = clock.nowMs();
      for (const connection of this.#connections) {
        if (connection.quietMs(nowMs) >= QUIET_MS) connection.close();
      }
    }
  }
}

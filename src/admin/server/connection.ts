/**
 * One connection that HTTP is served on.
 *
 * @module
 */

import { messageOf } from "../../contract/errors.ts";
import type { Logger } from "../../contract/job.ts";
import { problem } from "../http/problem.ts";

/** Who sends a request, as `Deno.serve` tells it too. */
export interface Peer {
  /** Address of the other end. */
  readonly remoteAddr: Deno.Addr;
  /** Closes the connection once the request is answered. `undefined`: it is another's to close. */
  hangUp?(): void;
}

/** Answers a request. */
export type Handle = (request: Request, peer: Peer) => Response | Promise<Response>;

/** What a connection is served with. */
export interface ConnectionOptions {
  /** Answers requests. */
  readonly handle: Handle;
  /** Gets faults. */
  readonly log: Logger;
  /** When it was accepted, ms since epoch. */
  readonly nowMs: number;
}

/** What Deno asks of a signal. */
interface Signal {
  addEventListener(type: "abort", abort: () => void): void;
}

/** Serves HTTP on a connection, which it takes over. */
type ServeConnection = (
  connection: Deno.Conn,
  signal: Signal,
  handler: Deno.ServeHandler,
  onError: (thrown: unknown) => Response,
  onListen: () => void,
) => { readonly finished: Promise<void>; shutdown(): Promise<void> };

/**
 * What `Deno.serve` itself is built on. Deno lends it to its own modules only: a version may have none.
 * Hint: there is no other way to close a connection whose request head never ends.
 */
const serveConnection: ServeConnection | undefined = internal("serveHttpOnConnection");

/** True if single connections can be served here. */
export function canServeConnections(): boolean {
  return serveConnection !== undefined;
}

/** Serves one connection. */
export class Connection implements Peer {
  /** Address of the other end. */
  readonly remoteAddr: Deno.Addr;
  /** Resolves once it is closed, by either side. */
  readonly finished: Promise<void>;
  #abort: (() => void) | undefined;
  #latest: Deno.ServeHandlerInfo | undefined;
  /** The latest request at the last look. */
  #seen: Deno.ServeHandlerInfo | undefined;
  #isAnswering = false;
  #isLast = false;
  #quietSinceMs: number;

  /** Serves from now on. */
  constructor(connection: Deno.TcpConn, { handle, log, nowMs }: ConnectionOptions) {
    this.remoteAddr = connection.remoteAddr;
    this.#quietSinceMs = nowMs;
    connection.setNoDelay();
    const served = serveConnection!( // the caller has asked `canServeConnections`
      connection,
      // Not a real signal: what its listener throws, once the connection has ended, would end the process.
      { addEventListener: (_, abort) => this.#abort = abort },
      (request, info) => {
        this.#latest = info; // all that a request costs
        return handle(request, this);
      },
      (thrown) => {
        log.warn("An answer was cut off", { error: messageOf(thrown) });
        return problem(500, "The server failed: its log has the reason");
      },
      () => {},
    );
    this.finished = served.finished.catch((thrown) => {
      log.debug("A connection has failed", { error: messageOf(thrown) });
      return served.shutdown(); // else what it was made of stays
    }).then(() => this.#abort = undefined);
  }

  /** Closes it once the request under way is answered. */
  hangUp(): void {
    this.#isLast = true;
  }

  /** For how long nothing was answered on it, ms, as far as was looked. */
  quietMs(nowMs: number): number {
    if (this.#seen !== this.#latest) {
      this.#seen = this.#latest;
      this.#isAnswering = true;
    }
    if (!this.#isAnswering) return nowMs - this.#quietSinceMs;
    this.#isAnswering = isOpen(this.#latest);
    this.#quietSinceMs = this.#isLast && !this.#isAnswering ? -Infinity : nowMs;
    return 0;
  }

  /** Resolves once the request under way is answered; at once if there is none. */
  async answered(): Promise<void> {
    if (!isOpen(this.#latest)) return;
    try {
      await this.#latest?.completed;
    } catch {
      // Its client has gone.
    }
  }

  /** Closes it, whatever is under way. */
  close(): void {
    try {
      this.#abort?.();
    } catch {
      // It has ended just now.
    }
    this.#abort = undefined;
  }
}

/** True until a request is answered, and its answer, if that is a stream, has ended. */
function isOpen(info: Deno.ServeHandlerInfo | undefined): boolean {
  try {
    return info?.remoteAddr !== undefined;
  } catch {
    return false; // a request that is over gets no more of it
  }
}

/** A function that Deno keeps for itself. `undefined`: this version has none of that name. */
function internal(name: string): ServeConnection | undefined {
  const key: unknown = Reflect.get(Deno, "internal");
  const internals: unknown = typeof key === "symbol" ? Reflect.get(Deno, key) : undefined;
  if (typeof internals !== "object" || internals === null) return undefined;
  const found: unknown = Reflect.get(internals, name);
  return typeof found === "function" ? found as ServeConnection : undefined; // tests hold its form
}

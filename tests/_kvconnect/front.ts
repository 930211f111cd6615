/**
 * What is between a client and a server: passes bytes on, until it is set to be a bad line.
 *
 * @module
 */

/** A port of its own before another. */
export class Front {
  /** The port that clients connect to: the same after an outage. */
  readonly port: number;
  /** How many connections there have been. */
  connections = 0;
  readonly #behind: number;
  readonly #pairs = new Set<readonly [Deno.TcpConn, Deno.TcpConn]>();
  readonly #passing = new Set<Promise<void>>();
  #listener: Deno.TcpListener | undefined;
  #silent = false;
  #dead: PromiseWithResolvers<void> = Promise.withResolvers();

  /** Passes on to the port `behind`. */
  constructor(behind: number, port = 0) {
    this.#behind = behind;
    this.#listener = Deno.listen({ hostname: "127.0.0.1", port });
    this.port = this.#listener.addr.port;
    this.#run(this.#accept(this.#listener));
  }

  /** Cuts all connections; new ones come through. */
  cut(): void {
    for (const pair of [...this.#pairs]) this.#drop(pair);
  }

  /** Cuts all connections and refuses new ones. */
  refuse(): void {
    this.#listener?.close();
    this.#listener = undefined;
    this.cut();
  }

  /** Passes nothing on any more, and tells nobody: as a network does that forgets its connections. */
  swallow(): void {
    this.#silent = true;
  }

  /** Works again for new connections. Those that were there while all was swallowed stay dead. */
  mend(): void {
    this.#silent = false;
    if (this.#listener !== undefined) return;
    this.#listener = Deno.listen({ hostname: "127.0.0.1", port: this.port });
    this.#run(this.#accept(this.#listener));
  }

  /** Ends. */
  async stop(): Promise<void> {
    this.refuse();
    this.#dead.resolve();
    while (this.#passing.size > 0) await Promise.all(this.#passing);
  }

  #run(work: Promise<void>): void {
    const passing = work.catch(() => {}) // a connection that was cut
      .finally(() => this.#passing.delete(passing));
    this.#passing.add(passing);
  }

  async #accept(listener: Deno.TcpListener): Promise<void> {
    for await (const client of listener) {
      this.connections++;
      this.#run(this.#serve(client));
    }
  }

  async #serve(client: Deno.TcpConn): Promise<void> {
    const server = await this.#connect(client);
    const pair = [client, server] as const;
    this.#pairs.add(pair);
    if (this.#listener === undefined) this.#drop(pair);
    for (const conn of pair) conn.setNoDelay();
    let dead = false;
    const pass = async (from: Deno.TcpConn, to: Deno.TcpConn): Promise<void> => {
      try {
        for await (const bytes of from.readable) {
          dead ||= this.#silent;
          if (dead) return await this.#dead.promise;
          for (let at = 0; at < bytes.length;) at += await to.write(bytes.subarray(at));
        }
      } finally {
        this.#drop(pair);
      }
    };
    await Promise.allSettled([pass(client, server), pass(server, client)]);
  }

  /** Nobody may be behind any more. */
  async #connect(client: Deno.TcpConn): Promise<Deno.TcpConn> {
    try {
      return await Deno.connect({ hostname: "127.0.0.1", port: this.#behind });
    } catch (thrown) {
      client.close();
      throw thrown;
    }
  }

  #drop(pair: readonly [Deno.TcpConn, Deno.TcpConn]): void {
    if (!this.#pairs.delete(pair)) return;
    for (const conn of pair) {
      try {
        conn.close();
      } catch {
        // Its stream has closed it.
      }
    }
  }
}

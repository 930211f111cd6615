/** Clients that are connected to a process and behave badly: they hold what they have and give nothing. */

/** What each of a crowd does. */
export const MANNERS = [
  "half a head",
  "half a body",
  "a stream that is not read",
  "an answer that is not read",
  "a held wait",
] as const;

/** How a client behaves. */
export type Manner = typeof MANNERS[number];

const REQUESTS: Readonly<Record<Manner, string>> = {
  "half a head": "POST /api/pools/work/jobs HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-le",
  "half a body": "POST /api/pools/work/jobs HTTP/1.1\r\nhost: 127.0.0.1\r\n" +
    "content-type: application/json\r\ncontent-length: 100\r\n\r\n{",
  "a stream that is not read": "GET /api/events HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n",
  "an answer that is not read":
    "GET /api/pools/work/jobs?limit=500 HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n".repeat(20),
  "a held wait": "POST /api/pools/work/jobs?waitMs=60000 HTTP/1.1\r\nhost: 127.0.0.1\r\n" +
    "content-type: application/json\r\ncontent-length: 70\r\n\r\n" +
    '{"lane":"plain","delayMs":500,"payload":{"n":-1,"ms":1,"end":"ok"}}   ',
};

/** Connections of bad clients. */
export class Crowd {
  readonly #connections: Deno.TcpConn[] = [];

  /** How many are connected. */
  get size(): number {
    return this.#connections.length;
  }

  /** Connects some more. One that is refused is left out. */
  async join(url: string, manner: Manner, count: number): Promise<void> {
    const { hostname, port } = new URL(url);
    for (let number = 0; number < count; number++) {
      try {
        const connection = await Deno.connect({ hostname, port: Number(port) });
        this.#connections.push(connection);
        await connection.write(new TextEncoder().encode(REQUESTS[manner]));
      } catch {
        return; // the process is gone, or has no room for it
      }
    }
  }

  /** They let go. */
  leave(): void {
    for (const connection of this.#connections.splice(0)) {
      try {
        connection.close();
      } catch {
        // it was closed by the other side
      }
    }
  }
}

/** Reads the event stream of a process to its end. True: it was told that it ends. `undefined`: it got none. */
export async function readEvents(url: string): Promise<boolean | undefined> {
  let last = "";
  try {
    const { ok, body } = await fetch(`${url}/api/events`);
    if (!ok || body === null) return undefined;
    for await (const text of body.pipeThrough(new TextDecoderStream())) {
      last = (last + text).slice(-100);
    }
  } catch {
    // it was cut off, or the process has no room for it
  }
  return last === "" ? undefined : last.includes("event: end");
}

/**
 * Clients that do what clients should not: over raw sockets, so that nothing helps them.
 *
 * @module
 */

/** A client that is connected, until it is left. */
export interface RawClient extends Disposable {
  /** Reads until what came matches. @throws {Error} If the connection ends before. */
  answer(pattern: RegExp): Promise<string>;
  /** Resolves to all that came, once the other side has closed. */
  closed(): Promise<string>;
}

/** Ways to hold a server, by name: what is sent, below the path that the app is mounted at. */
export const HOLDERS: Readonly<Record<string, (base: string) => string>> = {
  "sends nothing": () => "",
  "sends half a head": (base) => `GET ${base}/api/po`,
  "sends headers without end": (base) =>
    `GET ${base}/healthz HTTP/1.1\r\nhost: 127.0.0.1\r\na: b\r\n`,
  "keeps the connection": (base) => get(`${base}/healthz`),
  "sends half a job": (base) => post(`${base}/api/pools/mail/jobs`, 100, "{"),
  "sends half a chunk": (base) =>
    head("POST", `${base}/api/pools/mail/jobs`, "transfer-encoding: chunked") + "9\r\n{",
  "sends half a change": (base) => post(`${base}/api/pools/mail/pause`, 100, "{"),
  "sends half a config": (base) => post(`${base}/api/reload`, 100_000, '{"config":'),
  "sends half of what nothing takes": (base) => post(`${base}/nowhere`, 100, "{"),
  "sends too much": (base) => post(`${base}/api/pools/mail/jobs`, 100_000_000, "["),
  "waits for a job": (base) => {
    const job = JSON.stringify({ lane: "urgent", payload: { hang: true } });
    return post(`${base}/api/pools/mail/jobs?waitMs=60000`, job.length, job);
  },
  "watches events": (base) => get(`${base}/api/events`),
  "scrapes without reading": (base) => get(`${base}/metrics`).repeat(50),
  "starts bulk work": (base) => {
    const work = JSON.stringify({ purge: true, lane: "batch" });
    return post(`${base}/api/pools/mail/operations`, work.length, work);
  },
};

/** Connects, and sends a text. */
export async function connect(port: number, text: string): Promise<RawClient> {
  const connection = await Deno.connect({ hostname: "127.0.0.1", port });
  await connection.write(new TextEncoder().encode(text));
  const decoder = new TextDecoder();
  const buffer = new Uint8Array(65_536);
  let came = "";
  const more = async (): Promise<boolean> => {
    try {
      const length = await connection.read(buffer);
      came += decoder.decode(buffer.subarray(0, length ?? 0));
      return length !== null;
    } catch {
      return false; // reset
    }
  };
  return {
    async answer(pattern) {
      while (!pattern.test(came)) {
        if (!await more()) throw new Error(`Nothing matches ${pattern} in ${came}`);
      }
      return came;
    },
    async closed() {
      while (await more());
      return came;
    },
    [Symbol.dispose]: () => connection.close(),
  };
}

/** A request without a body. */
export function get(path: string, ...headers: readonly string[]): string {
  return head("GET", path, ...headers);
}

/** A request that announces a body, and what is sent of it. */
export function post(path: string, length: number, sent: string): string {
  return head("POST", path, `content-length: ${length}`) + sent;
}

function head(method: string, path: string, ...headers: readonly string[]): string {
  const all = ["host: 127.0.0.1", "content-type: application/json", ...headers];
  return `${method} ${path} HTTP/1.1\r\n${all.join("\r\n")}\r\n\r\n`;
}

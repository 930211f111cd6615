/**
 * Instances of `examples/deploy.ts` in processes of their own, as Deno Deploy starts and ends them.
 *
 * @module
 */

import { Front } from "../_kvconnect/front.ts";
import { type Server, TOKEN } from "../_kvconnect/server.ts";

const ENTRY = new URL("../../examples/deploy.ts", import.meta.url).pathname;
const CRON = new URL("_cron.ts", import.meta.url).pathname;

/** From SIGINT to SIGKILL, ms. */
const KILLED_AFTER_MS = 5000;

const SLUICE_TOKEN = "a-token-for-tests-only";

const HEADERS = {
  authorization: `Bearer ${SLUICE_TOKEN}`,
  "content-type": "application/json",
};

/** One instance. */
export class Instance implements AsyncDisposable {
  /** What it has written. */
  readonly text: () => string;
  /** The line to it: what it sends itself goes there too. */
  readonly line: Front;
  readonly #child: Deno.ChildProcess;
  readonly #ended: Promise<unknown>;

  private constructor(child: Deno.ChildProcess, log: Log, port: number) {
    this.#child = child;
    this.#ended = log.ended;
    this.text = log.text;
    this.line = new Front(port);
  }

  /** Starts one, with the database that is attached to the app. */
  static async start(env: Readonly<Record<string, string>>): Promise<Instance> {
    const child = command(env).spawn();
    const log = logOf(child.stderr);
    const listening = /Listening on http:\/\/127\.0\.0\.1:(\d+)/;
    await log.until((text) => listening.test(text));
    return new Instance(child, log, Number(listening.exec(log.text())?.[1]));
  }

  /** Starts one that ends by itself: its exit code, and what it has written. */
  static async failing(
    env: Readonly<Record<string, string>>,
  ): Promise<{ readonly code: number; readonly text: string }> {
    const { code, stderr } = await command(env).output();
    return { code, text: new TextDecoder().decode(stderr) };
  }

  /** Sends a request, with the token. */
  async fetch(path: string, body?: unknown): Promise<Response> {
    const init = body === undefined ? {} : { method: "POST", body: JSON.stringify(body) };
    return await fetch(`http://127.0.0.1:${this.line.port}${path}`, { headers: HEADERS, ...init });
  }

  /** What its API answers. */
  async json<T>(path: string, body?: unknown): Promise<T> {
    return await (await this.fetch(path, body)).json();
  }

  /** Lets its cron come due. */
  tick(): void {
    this.#child.kill("SIGUSR1");
  }

  /** Ends it as Deno Deploy does. How it ended. */
  async evict(): Promise<Deno.CommandStatus> {
    this.#child.kill("SIGINT");
    const timer = setTimeout(() => this.#child.kill("SIGKILL"), KILLED_AFTER_MS);
    const status = await this.#child.status;
    clearTimeout(timer);
    return status;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    try {
      this.#child.kill("SIGKILL");
    } catch {
      // It has ended.
    }
    await this.#child.status;
    await this.#ended;
    await this.line.stop();
  }
}

/** Variables of an app with this database. */
export function attached({ url }: Server): Readonly<Record<string, string>> {
  return { DENO_KV_DEFAULT_PATH: url, DENO_KV_ACCESS_TOKEN: TOKEN };
}

interface Log {
  readonly text: () => string;
  readonly ended: Promise<unknown>;
  until(isSo: (text: string) => boolean): Promise<void>;
}

function logOf(stream: ReadableStream<Uint8Array<ArrayBuffer>>): Log {
  let text = "";
  let hasEnded = false;
  let more = Promise.withResolvers<void>();
  const read = async (): Promise<void> => {
    for await (const piece of stream.pipeThrough(new TextDecoderStream())) {
      text += piece;
      more.resolve();
      more = Promise.withResolvers();
    }
    hasEnded = true;
    more.resolve();
  };
  const ended = read();
  return {
    text: () => text,
    ended,
    async until(isSo) {
      while (!isSo(text)) {
        if (hasEnded) throw new Error(`The process has ended:\n${text}`);
        await more.promise;
      }
    },
  };
}

function command(env: Readonly<Record<string, string>>): Deno.Command {
  return new Deno.Command(Deno.execPath(), {
    args: ["run", "--no-prompt", "--no-check", "-A", `--preload=${CRON}`, ENTRY],
    cwd: new URL("../../", import.meta.url),
    env: {
      DENO_DEPLOYMENT_ID: "a deployment",
      DENO_SERVE_ADDRESS: "tcp:127.0.0.1:0",
      SLUICE_TOKEN,
      ...env,
    },
    stdout: "null",
    stderr: "piped",
  });
}

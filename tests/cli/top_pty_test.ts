/**
 * `sluice top` in a process of its own on a real terminal, which util-linux's `script` makes.
 *
 * @module
 */

import assert from "node:assert/strict";
import { start } from "../../mod.ts";
import type { ConfigInput } from "../../src/config/input.ts";

const MAIN = new URL("../../src/cli/main.ts", import.meta.url).pathname;

const HAS_SCRIPT = await (async () => {
  try {
    const { stdout } = await new Deno.Command("script", { args: ["--version"] }).output();
    return new TextDecoder().decode(stdout).includes("util-linux");
  } catch {
    return false;
  }
})();

const NAME = "customer-facing-notifications-europe-west-0007";

/** A number of pools: the last but one fails all its jobs, the last has a long name. */
function poolsOf(count: number): ConfigInput["pools"] {
  const parts = { size: { min: 1, max: 2 }, lanes: [{ name: "urgent", attempts: 1 }] };
  const fails = (): never => {
    throw new Error("connect ECONNREFUSED");
  };
  return Object.fromEntries(Array.from({ length: count }, (_, index) => {
    if (index === count - 1) return [NAME, { ...parts, handler: "sleep" }];
    return [
      index === count - 2 ? "failing" : `pool-${index}`,
      { ...parts, handler: index === count - 2 ? fails : "sleep" },
    ];
  }));
}

/** Longest wait for a picture or the end, ms: a fault is to fail the test, not to hang it. */
const LONGEST_MS = 60_000;

/** A terminal of a size that runs the verb, and is killed once a wait for it has been too long. */
class Terminal implements AsyncDisposable {
  readonly #child: Deno.ChildProcess;
  readonly #keys: WritableStreamDefaultWriter<Uint8Array<ArrayBuffer>>;
  readonly #reading: Promise<void>;
  #text = "";
  #hasEnded = false;
  #came = (): void => {};

  constructor(url: string, columns: number, rows: number) {
    const top = `${Deno.execPath()} run -A --no-check ${MAIN} top --every 200ms --url ${url}`;
    this.#child = new Deno.Command("script", {
      args: ["-qefc", `stty cols ${columns} rows ${rows}; exec ${top}`, "/dev/null"],
      env: { TERM: "xterm", NO_COLOR: "" },
      stdin: "piped",
      stdout: "piped",
      stderr: "null",
    }).spawn();
    this.#keys = this.#child.stdin.getWriter();
    this.#reading = this.#read();
  }

  async #read(): Promise<void> {
    for await (const text of this.#child.stdout.pipeThrough(new TextDecoderStream())) {
      this.#text += text;
      this.#came();
    }
    this.#hasEnded = true;
    this.#came();
  }

  /** Kills what takes too long. */
  #bound(): Disposable {
    const timer = setTimeout(() => this.#kill(), LONGEST_MS);
    return { [Symbol.dispose]: () => clearTimeout(timer) };
  }

  #kill(): void {
    try {
      this.#child.kill("SIGKILL");
    } catch {
      // It has ended.
    }
  }

  /** All that was written. */
  get written(): string {
    return this.#text;
  }

  async press(keys: string): Promise<void> {
    await this.#keys.write(new TextEncoder().encode(keys));
  }

  /** The lines of the first whole picture from now on that has such a text in it. */
  async picture(pattern: RegExp): Promise<readonly string[]> {
    using _ = this.#bound();
    const from = this.#text.length;
    while (!this.#hasEnded) {
      const pictures = this.#text.slice(from).split("\x1b[H").slice(1, -1);
      // deno-lint-ignore no-control-regex -- these are what it takes out
      const found = pictures.map((text) => text.replaceAll(/\x1b\[[0-9;?]*[A-Za-z]/g, ""))
        .find((text) => pattern.test(text));
      if (found !== undefined) return found.split(/\r+\n/);
      await new Promise<void>((resolve) => this.#came = resolve);
    }
    throw new Error(`No picture matches ${pattern}, the last is:\n${this.#text.slice(-3_000)}`);
  }

  async ended(): Promise<number> {
    using _ = this.#bound();
    await this.#reading;
    return (await this.#child.status).code;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#kill();
    await this.#keys.close().catch(() => {});
    await this.ended();
  }
}

/** Does something again and again: what a pool did long ago is no trouble any more. */
function repeating(act: () => void): Disposable {
  const timer = setInterval(act, 20);
  return { [Symbol.dispose]: () => clearInterval(timer) };
}

for (const [columns, rows] of [[80, 24], [200, 50]] as const) {
  Deno.test({
    name: `top fits a terminal of ${columns} x ${rows}, with 200 pools, trouble first`,
    ignore: !HAS_SCRIPT,
    async fn() {
      await using system = await start({ admin: { port: 0 }, pools: poolsOf(200) });
      const failing = system.pool("failing");
      using _ = repeating(() => {
        failing.post({ lane: "urgent", payload: {} });
      });
      await using terminal = new Terminal(system.adminUrl ?? "", columns, rows);

      const first = await terminal.picture(/POOL.*\s+[> ] failing +failing /);
      await terminal.press("\x1b[F"); // the end
      const last = await terminal.picture(/\n> cust/);
      await terminal.press("/pool-19");
      const some = await terminal.picture(/^Filter by name: pool-19/m);
      await terminal.press("\rj");
      const page = await terminal.picture(/^Jobs of pool-19/m);
      await terminal.press("?");
      const help = await terminal.picture(/^Keys/m);
      await terminal.press("qq");
      const code = await terminal.ended();

      for (const picture of [first, last, some, page, help]) {
        assert.equal(picture.length, rows);
        const longest = Math.max(...picture.map((line) => line.length));
        assert.ok(longest <= columns, `${longest}`);
      }
      assert.match(
        first[0] ?? "",
        /^sluice top {2}127\S* {2}\d\d:\d\d:\d\d {2}1 of 200 in trouble /,
      );
      assert.match(first.at(-1) ?? "", /^p pause .* q quit/);
      assert.match(last.join("\n"), /^\d+ to 200 of 200$/m);
      const isWide = columns === 200;
      const shown = last.find((line) => line.startsWith("> ")) ?? "";
      assert.equal(shown.includes(NAME), isWide, shown);
      assert.match(shown, isWide ? / ok +0\/\d of 2 / : /^> cust\S*…\S*0007 +ok +0\/\d /);
      assert.equal(/ WHY$/m.test(first[1] ?? ""), isWide);
      assert.match(some.join("\n"), /> pool-19 .*\n {2}pool-190 [^]*with "pool-19" in the name/);
      assert.equal(code, 0);
      assert.ok(terminal.written.endsWith("\x1b[?25h\x1b[?1049l"));
    },
  });
}

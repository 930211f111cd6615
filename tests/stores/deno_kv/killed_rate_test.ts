import assert from "node:assert/strict";
import { mostWithin } from "../../_rate.ts";
import { withFolder } from "./_store.ts";
import { sleep } from "./_fleet.ts";

/** Calls that the receiver bears in a window that a ledger holds, ms. */
const CALLS = 40;
const WINDOW_MS = 10_500;

/** What a killed process has drawn counts until so long after the window, ms. */
const LAPSES_MS = 3000;

/** A call comes so long after its start at most, on a busy machine, ms. */
const LAG_MS = 1000;

/** How long the receiver asks to be left alone, s. */
const ASKS_S = 9;

/** A server that accepts what is limited, and refuses the rest. */
class Receiver implements AsyncDisposable {
  /** When each call came, ms from the first. */
  readonly calls = { limited: [] as number[], busy: [] as number[] };
  #firstMs: number | undefined;
  readonly #server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, (request) => {
    const nowMs = performance.now();
    this.#firstMs ??= nowMs;
    const isBusy = request.url.endsWith("/busy");
    (isBusy ? this.calls.busy : this.calls.limited).push(nowMs - this.#firstMs);
    return isBusy
      ? new Response("not now", { status: 429, headers: { "retry-after": `${ASKS_S}` } })
      : new Response("ok");
  });

  /** Waits until so long after the first call. */
  async until(ms: number): Promise<void> {
    while (this.#firstMs === undefined || performance.now() - this.#firstMs < ms) await sleep(20);
  }

  get url(): string {
    return `http://127.0.0.1:${this.#server.addr.port}`;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#server.shutdown();
  }
}

Deno.test("kill -9 and a restart of two processes exceed no rate of a ledger, and end no pause that a receiver asked for", async () => {
  await withFolder(async (folder) => {
    await using receiver = new Receiver();
    const rates = [{ calls: CALLS, perMs: WINDOW_MS, burst: CALLS }];
    const poolOf = (path: string, caps: readonly unknown[]): unknown => ({
      handler: { use: "http", with: { url: `${receiver.url}/${path}` } },
      size: { min: 2, max: 4 },
      lanes: [{ name: "all" }],
      leaseMs: 3000,
      caps,
    });
    const config = {
      store: { use: "deno-kv", with: { path: `${folder}/queue.db`, pollMs: 50 } },
      pools: {
        limited: poolOf("limited", [{ use: "api-rate-cap", with: { rates, headroom: 0 } }]),
        busy: poolOf("busy", []),
      },
    };
    const run = (jobs: unknown = {}): Deno.ChildProcess =>
      new Deno.Command(Deno.execPath(), {
        args: ["run", "-A", "--unstable-kv", new URL("_pools.ts", import.meta.url).href]
          .concat(JSON.stringify(config), JSON.stringify(jobs)),
        stdout: "null",
        stderr: "inherit",
      }).spawn();
    const kill = async (child: Deno.ChildProcess): Promise<void> => {
      child.kill("SIGKILL");
      await child.status;
    };
    let both = [run({ limited: 100, busy: 100 }), run()];
    const { limited, busy } = receiver.calls;
    try {
      await receiver.until(1500);
      const before = limited.length;
      await Promise.all(both.map(kill));
      both = [run(), run()];
      await receiver.until(4000);
      await kill(both.pop()!); // there are two
      both.push(run());
      await receiver.until(WINDOW_MS - LAG_MS);
      const first = limited.length;
      await receiver.until(WINDOW_MS + LAPSES_MS + 2 * LAG_MS);

      assert.ok(before >= 20, `${before} calls before the first kill`);
      assert.ok(first <= CALLS, `${first} calls in the first window`);
      const most = mostWithin(limited, WINDOW_MS - LAG_MS);
      assert.ok(most <= CALLS, `${most} calls in a window`);
      assert.ok(limited.length > CALLS, "more start once the window is over");
      const early = busy.filter((atMs) => atMs > 1500 && atMs < ASKS_S * 1000);
      assert.deepEqual(early, [], `refused at ${busy.join()}`);
      assert.ok(busy.some((atMs) => atMs >= ASKS_S * 1000), "then one asks");
    } finally {
      await Promise.all(both.map(kill));
    }
  });
});

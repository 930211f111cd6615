import assert from "node:assert/strict";
import { serveAdmin } from "../../src/admin/mod.ts";
import { keysIn, type Screen, type ScreenEvent } from "../../src/cli/screen.ts";
import { fit } from "../../src/cli/top_view.ts";
import { type Running, running } from "../admin/_app.ts";
import { sluice } from "./_io.ts";

/** A screen that does one thing after another, each once it shows what is waited for. */
class ActedScreen implements Screen {
  columns = 120;
  rows = 40;
  closed = 0;
  readonly pictures: string[] = [];
  readonly #steps: readonly (readonly [until: RegExp, act: () => ScreenEvent])[];
  #drawn = (): void => {};

  constructor(steps: readonly (readonly [RegExp, () => ScreenEvent])[]) {
    this.#steps = steps;
  }

  size(): { columns: number; rows: number } {
    return { columns: this.columns, rows: this.rows };
  }

  draw(lines: readonly string[]): void {
    this.pictures.push(lines.join("\n"));
    this.#drawn();
  }

  async *events(): AsyncGenerator<ScreenEvent> {
    for (const [until, act] of this.#steps) {
      while (!until.test(this.pictures.at(-1) ?? "")) {
        await new Promise<void>((resolve) => this.#drawn = resolve);
      }
      yield act();
    }
  }

  close(): void {
    this.closed++;
  }
}

async function withServer(
  test: (system: Running, url: string, stop: () => Promise<void>) => Promise<void>,
): Promise<void> {
  await using system = await running();
  const server = await serveAdmin(system.sluice, {
    hostname: "127.0.0.1",
    port: 0,
    adminToken: undefined,
    viewerToken: undefined,
    allowedHosts: [],
  });
  try {
    await system.clock.advance(100);
    await test(system, server.url, () => server.stop());
  } finally {
    await server.stop();
  }
}

Deno.test("top prints pools, lanes and decisions once where no terminal is", async () => {
  await withServer(async ({ send, clock }, url) => {
    await send("POST", "/api/pools/mail/jobs", { lane: "urgent", payload: { hang: true } });
    await clock.advance(100);

    const { code, out } = await sluice(["top", "--url", url]);

    assert.equal(code, 0);
    assert.match(out, /^POOL +STATE +WORKERS +TARGET .*\nmail +ok +1\/\d of 4 .*\ntyped /);
    assert.match(out, /^LANE +OLDEST +TARGET +READY .* WAIT P95 +RUN P95\nurgent +0 ms +50 ms /m);
    assert.match(out, /^full \(paused\) /m);
    assert.match(out, /^DECISIONS\n\d\d:\d\d:\d\d {2}(stays at|\d+ ->) \d+, bound by /m);
    assert.ok(!out.includes("\x1b"));
  });
});

Deno.test("top --json prints the pools with their decisions", async () => {
  await withServer(async (_system, url) => {
    const { out } = await sluice(["top", "--json", "--url", url]);

    const pools: readonly { pool: string; decisions: readonly unknown[] }[] = JSON.parse(out);
    assert.deepEqual(pools.map(({ pool }) => pool), ["mail", "typed"]);
    assert.ok((pools[0]?.decisions.length ?? 0) > 0);
  });
});

Deno.test("top follows the system on a terminal, shows the pool that is chosen, and gives the terminal back", async () => {
  await withServer(async ({ sluice: { pools } }, url) => {
    const screen = new ActedScreen([
      [/^> mail /m, () => "down"],
      [/^> typed [^]*\ntyped: /m, () => "up"],
      [/^> mail [^]*DECISIONS\n\d\d:/m, () => {
        pools[0]?.pause();
        return "other";
      }],
      [/^> mail +paused /m, () => "down"],
      [/^> typed /m, () => "quit"],
    ]);

    const { code, out } = await sluice(["top", "--every", "100ms", "--url", url], {
      terminal: true,
      openScreen: () => screen,
    });

    assert.deepEqual([code, out, screen.closed], [0, "", 1]);
    assert.match(
      screen.pictures[0] ?? "",
      /^sluice top {2}127[^]*\np pause .* \? help {2}q quit$/,
    );
  });
});

Deno.test("top fits its picture to the screen after each change of size", async () => {
  await withServer(async (_system, url) => {
    const screen: ActedScreen = new ActedScreen([
      [/^> mail /m, () => {
        [screen.columns, screen.rows] = [30, 5];
        return "resize";
      }],
      [/^(?:[^\n]{1,30}\n|\n){4}[^\n]{1,30}$/, () => "quit"],
    ]);

    await sluice(["top", "--url", url], { terminal: true, openScreen: () => screen });

    const [head = ""] = (screen.pictures.at(-1) ?? "").split("\n");
    assert.equal(head.length, 30);
    assert.match(head, /^sluice top {2}\S+…\S+ {2}/);
  });
});

Deno.test("top keeps the last figures while nothing answers, and says so", async () => {
  await withServer(async (_system, url, stop) => {
    const screen = new ActedScreen([
      [/^> mail /m, () => {
        stop();
        return "other";
      }],
      [/Last update \d\d:\d\d:\d\d; trying again\. Nothing answers at [^]*> mail /, () => "quit"],
    ]);

    const { code } = await sluice(["top", "--every", "100ms", "--url", url], {
      terminal: true,
      openScreen: () => screen,
    });

    assert.deepEqual([code, screen.closed], [0, 1]);
  });
});

Deno.test("top says on the usual screen that nothing answers at the start", async () => {
  const { code, err } = await sluice(["top", "--url", "http://127.0.0.1:9"], {
    openScreen: () => assert.fail("It opened a screen"),
  });

  assert.equal(code, 1);
  assert.match(err, /^Nothing answers at http:\/\/127\.0\.0\.1:9: start a system/);
});

Deno.test("top exits 2 when it is to look more often than is of use", async () => {
  const { code, err } = await sluice(["top", "--every", "5ms"]);

  assert.deepEqual([code, err], [2, 'Expected --every to be at least 100 ms but received "5ms"\n']);
});

Deno.test("keysIn() reads arrows as one key each, and what it does not know as other", () => {
  assert.deepEqual(keysIn("\x1b[A\x1b[Bj"), ["up", "down", { typed: "j" }]);
  assert.deepEqual(keysIn("\x1bOA\t\x03"), ["up", "down", "quit"]);
  assert.deepEqual(keysIn("\x1b[5~ä😀\x1b[1;5C"), [
    "page-up",
    { typed: "ä" },
    { typed: "😀" },
    "other",
  ]);
  assert.deepEqual(keysIn("\x1b"), ["escape"]);
  assert.deepEqual(keysIn("\x1b[H\x1b[F\r\x7f"), ["home", "end", "enter", "backspace"]);
});

Deno.test("fit() leaves out what is below the screen, and cuts what is beside it", () => {
  const lines = [["abc"], ["a", { text: "bcd", style: "red" }, "e"], []] as const;

  assert.deepEqual(fit(lines, { columns: 3, rows: 2 }), [
    ["abc"],
    ["a", { text: "b…", style: "red" }],
  ]);
});

Deno.test("top pauses and overrides the chosen pool, once that is confirmed", async () => {
  await withServer(async ({ sluice: { pools } }, url) => {
    const typed = (text: string) => () => ({ typed: text });
    const screen = new ActedScreen([
      [/^> mail +ok/m, typed("p")],
      [/^Pause pool "mail"\? y\/n/m, typed("n")],
      [/^p pause /m, typed("p")],
      [/^Pause pool "mail"\? y\/n/m, typed("y")],
      [/^> mail +paused[^]*\nIt is paused$/m, typed("o")],
      [/^Override of "mail"/m, typed("max 9")],
      [/: max 9 $/m, () => "enter"],
      [/^Expected override max to be a whole number from 0 to size.max/m, typed("o")],
      [/^Override of "mail"/m, typed("max 2 for 1h")],
      [/: max 2 for 1h $/m, () => "enter"],
      [/^> mail +paused(, overridden| \+1) /m, typed("o")],
      [/^Override of "mail"/m, typed("clear")],
      [/: clear $/m, () => "enter"],
      [/^The bounds are changed$/m, () => "quit"],
    ]);

    await sluice(["top", "--every", "100ms", "--url", url], {
      terminal: true,
      openScreen: () => screen,
    });

    assert.equal(pools[0]?.snapshot().paused, true);
    assert.equal(pools[0]?.snapshot().override, undefined);
  });
});

Deno.test("top filters by name, and shows jobs, dead jobs, decisions and its keys", async () => {
  await withServer(async ({ send, clock }, url) => {
    await send("POST", "/api/pools/mail/jobs", { lane: "urgent", payload: { fail: "no route" } });
    await clock.advance(100);
    const typed = (text: string) => () => ({ typed: text });
    const screen = new ActedScreen([
      [/^> mail[^]*\n {2}typed /m, typed("/")],
      [/^Filter by name: {2}$/m, typed("TYP")],
      [/^> typed[^]*with "TYP" in the name/m, () => "escape"],
      [/^> typed[^]*\np pause /m, () => "up"],
      [/^> mail /m, typed("d")],
      [/^Dead jobs of mail[^]* dead \(attempts\) .* no route$/m, typed("j")],
      [/^Jobs of mail[^]* dead /m, typed("e")],
      [/^Why mail has its size\n\S+Z {2}/m, typed("?")],
      [/^Keys\narrows/m, () => "down"],
      [/^Keys/m, typed("q")],
      [/^> mail /m, typed("q")],
    ]);

    const { code } = await sluice(["top", "--every", "100ms", "--url", url], {
      terminal: true,
      openScreen: () => screen,
    });

    assert.deepEqual([code, screen.closed], [0, 1]);
  });
});

/**
 * Feeds hostile inputs of growing size to every route, to `check`, to `simulate` and to the command
 * line, in a process of its own: what it costs is this process's own time. Prints what breaks a rule.
 *
 * @module
 */

import { cpuUsage } from "node:process";
import { admin } from "../../src/admin/mod.ts";
import type { Logger } from "../../src/contract/job.ts";
import { start } from "../../mod.ts";
import { sluice as runVerb } from "../cli/_io.ts";
import { readMetrics } from "./_metrics.ts";
import { BODIES, CONFIGS, deepText, HOSTS, ODD_BODIES, TEXTS } from "./_inputs.ts";

/** How many times as large the second input is. */
const FACTOR = 4;

/** How many times as much it may cost. */
const MOST = 6;

/** What costs less is not judged: ms of the processor, MiB. */
const FLOOR = { ms: 15, mib: 48 };

/** What the larger input may cost in any case. */
const ALLOWED = { ms: MOST * FLOOR.ms, mib: MOST * FLOOR.mib };

/** How often an input is judged before it counts as too dear. */
const CHANCES = 3;

/** Runs of each size; the cheapest counts, so that only what the input costs is judged. */
const RUNS = 2;

const lines: string[] = [];
let judged = 0;

function fault(what: string): void {
  write(what);
}

function write(line: string): void {
  Deno.stdout.writeSync(new TextEncoder().encode(`${line}\n`));
}

/** Looks for what no caller may see, or make the log say. */
function checkText(what: string, text: string): void {
  if (/\n\s+at \S+|\.tsx?:\d+:\d+|Maximum call stack/.test(text)) {
    fault(`${what}: a stack trace: ${text.slice(0, 300)}`);
  }
}

/** What the process has at most held since it was last asked, MiB. */
async function peakMib(): Promise<number> {
  try {
    const status = await Deno.readTextFile("/proc/self/status");
    await Deno.writeTextFile("/proc/self/clear_refs", "5");
    return Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024;
  } catch {
    return 0; // only Linux tells
  }
}

/** What it costs, or a run of it that costs less than `enough`. */
async function cost(
  run: () => Promise<void>,
  enough: { ms: number; mib: number },
): Promise<{ ms: number; mib: number }> {
  let ms = Infinity;
  let mib = Infinity;
  for (let count = 0; count < RUNS; count++) {
    await peakMib();
    const before = Deno.memoryUsage().rss / 2 ** 20;
    const used = cpuUsage();
    await run();
    const { user, system } = cpuUsage(used);
    ms = Math.min(ms, (user + system) / 1000);
    mib = Math.min(mib, Math.max(0, await peakMib() - before));
    if (ms < enough.ms && mib < enough.mib) break;
  }
  return { ms, mib };
}

/** Four times the input may cost six times as much. A machine that is busy is given another chance. */
async function judge(
  what: string,
  n: number,
  run: (n: number, what: string) => Promise<void>,
): Promise<void> {
  judged++;
  let excess = "";
  for (let chance = 0; chance < CHANCES; chance++) {
    const large = await cost(() => run(FACTOR * n, what), ALLOWED);
    if (large.ms <= ALLOWED.ms && large.mib <= ALLOWED.mib) return; // whatever the small one costs
    const small = await cost(() => run(n, what), FLOOR);
    const unit = (["ms", "mib"] as const).find((unit) =>
      large[unit] > MOST * Math.max(small[unit], FLOOR[unit])
    );
    if (unit === undefined) return;
    const [from, to] = [small, large].map((each) => each[unit].toFixed(1));
    excess = `${what}: ${from} ${unit} at ${n}, ${to} at ${FACTOR * n}`;
  }
  fault(excess);
}

const log: Logger = {
  debug: () => {},
  info: (text, fields) => void lines.push(`${text} ${JSON.stringify(fields)}`),
  warn: (text, fields) => void lines.push(`${text} ${JSON.stringify(fields)}`),
  error: (text, fields) => void lines.push(`${text} ${JSON.stringify(fields)}`),
};

function checkLog(what: string): void {
  for (const text of lines.splice(0)) {
    checkText(`${what}, log`, text.replaceAll("\\n", "\n"));
    if (text.startsWith("A request failed")) fault(`${what}: ${text.slice(0, 300)}`);
  }
}

async function routes(): Promise<void> {
  await using system = await start({
    pools: {
      mail: { handler: () => "ok", size: { min: 0, max: 2 }, lanes: [{ name: "urgent" }] },
      typed: {
        handlers: { a: () => "ok", b: () => "ok" },
        size: { min: 0, max: 2 },
        lanes: [{ name: "urgent" }],
      },
    },
  }, { log });
  const app = admin(system, { log });

  async function send(what: string, path: string, init: RequestInit): Promise<void> {
    const response = await app.request(path, init);
    const isStream = response.headers.get("content-type")?.startsWith("text/event-stream");
    if (response.status >= 500 && response.status !== 503) {
      fault(`${what}: ${init.method} ${path.slice(0, 80)} answered ${response.status}`);
    }
    if (isStream) await response.body?.cancel();
    else if (!/openapi|docs|assets|\.js|\.css/.test(path)) checkText(what, await response.text());
    else await response.body?.cancel();
    checkLog(what);
  }

  const document = await (await app.request("/openapi.json")).json();
  const listed = Object.entries(document.paths as Record<string, object>).flatMap((
    [path, methods],
  ) => Object.keys(methods).map((method) => ({ method: method.toUpperCase(), path })));
  if (listed.length < 25) fault(`only ${listed.length} routes`);
  for (const { method, path } of listed) {
    const isRead = method === "GET" || method === "HEAD";
    const isDrain = path.endsWith("/drain"); // refused inputs only: a drained pool ends the test
    const fill = (value: string) => path.replaceAll(/\{[^}]+\}/g, value);
    const own = path.replace("{pool}", "mail").replaceAll(/\{[^}]+\}/g, "x");
    const json = { "content-type": "application/json" };
    for (const [name, make] of isRead ? [] : Object.entries(BODIES)) {
      if (isDrain && name === "blanks") continue;
      await judge(
        `${method} ${path}, body: ${name}`,
        1000,
        (n, what) => send(what, own, { method, headers: json, body: make(n) }),
      );
    }
    for (const body of isRead || isDrain ? [] : ODD_BODIES) {
      await send(`${method} ${path}, body ${body}`, own, { method, headers: json, body });
    }
    const many = (n: number) => Array.from({ length: n }, (_, index) => `k${index}=1`).join("&");
    const queries: Record<string, (n: number) => string> = {
      "many parameters": many,
      "one parameter often": (n) => "limit=1&".repeat(n),
      "a long parameter": (n) => `${"x".repeat(n)}=1`,
      "a long limit": (n) => `limit=${"1".repeat(n)}`,
      "a long cursor": (n) => `cursor=${"x".repeat(n)}`,
      "a long match": (n) => `match=${"x".repeat(n)}`,
      "a long state": (n) => `state=${"x".repeat(n)}`,
      "many states": (n) => "state=dead&".repeat(n),
      "escapes": (n) => "%".repeat(n),
    };
    for (const [name, make] of isDrain ? [] : Object.entries(queries)) {
      await judge(
        `${method} ${path}, query: ${name}`,
        1000,
        (n, what) => send(what, `${own}?${make(n)}`, { method }),
      );
    }
    for (
      const value of ["%", "%00", "%ff", "..", ".", "%2e%2e", "%2f", "a%20b", "\u00e9", "__proto__"]
    ) {
      if (!isDrain || value !== "mail") {
        await send(`${method} ${path} of ${value}`, fill(value), { method });
      }
    }
    await judge(
      `${method} ${path}, a long path`,
      1000,
      (n, what) => send(what, fill("x".repeat(n)), { method }),
    );
    for (const host of HOSTS) {
      let headers;
      try {
        headers = new Headers({ host, accept: "text/html" });
      } catch {
        continue; // no header can hold it
      }
      if (!isDrain) {
        await send(`${method} ${path}, Host ${host.slice(0, 20)}`, own, { method, headers });
      }
    }
  }
  await judge("POST /api/reload, each config", 100, async (n, what) => {
    for (const [name, make] of Object.entries(CONFIGS)) {
      await send(`${what}: ${name}`, "/api/reload?dryRun=1", {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ config: make(n) }),
      });
    }
  });
  for (const [name, make] of Object.entries(CONFIGS)) {
    await judge(`POST /api/reload, ${name}`, 1000, (n, what) =>
      send(what, "/api/reload?dryRun=1", {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ config: make(n) }),
      }));
  }
}

async function verb(what: string, args: readonly string[], input = ""): Promise<void> {
  const { code, out, err } = await runVerb(args, { readInput: () => Promise.resolve(input) });
  if (![0, 1, 2].includes(code)) fault(`${what}: exit code ${code}`);
  checkText(what, `${out}\n${err}`);
  const faults = err.split("\n").length;
  if (faults > 50) fault(`${what}: ${faults} lines of faults`);
}

async function files(folder: string): Promise<void> {
  const config = `${folder}/pools.json`;
  const scenario = `${folder}/scenario.json`;
  const texts = {
    ...TEXTS,
    ...Object.fromEntries(
      Object.entries(CONFIGS).map((
        [name, make],
      ) => [name, (n: number) => JSON.stringify(make(n), null, 1)]),
    ),
  };
  for (const [name, make] of Object.entries(texts)) {
    await judge(`check, ${name}`, 1000, async (n, what) => {
      await Deno.writeTextFile(config, make(n));
      await verb(what, ["check", config]);
      await verb(what, ["check", config, "--json"]);
    });
  }
  await Deno.writeTextFile(
    config,
    JSON.stringify({
      pools: { p: { handler: "sleep", size: { min: 1, max: 4 }, lanes: [{ name: "a" }] } },
    }),
  );
  const lane = { serviceMs: { kind: "fixed", ms: 1 } };
  const load = (lanes: unknown, rest = {}) => ({
    durationMs: 100,
    pools: { p: { lanes } },
    ...rest,
  });
  const many = <T>(n: number, value: (index: number) => T) =>
    Array.from({ length: n }, (_, i) => value(i));
  const named = (n: number, value: unknown) =>
    Object.fromEntries(many(n, (index) => [`k${index}`, value]));
  const scenarios: Record<string, (n: number) => string> = {
    ...TEXTS,
    "unknown keys": (n) => JSON.stringify(load({ a: lane }, named(n, 1))),
    "unknown keys of a lane": (n) => JSON.stringify(load({ a: { ...lane, ...named(n, 1) } })),
    "unknown keys of a duration": (n) =>
      JSON.stringify(load({ a: { serviceMs: { kind: "fixed", ms: 1, ...named(n, 1) } } })),
    "unknown lanes": (n) => JSON.stringify(load(named(n, lane))),
    "unknown pools": (n) => JSON.stringify({ durationMs: 100, pools: named(n, {}) }),
    "phases": (n) =>
      JSON.stringify(load({
        a: {
          ...lane,
          arrivals: { kind: "even", phases: many(n, (i) => ({ untilMs: i + 1, perSec: 1 })) },
        },
      })),
    "phases with faults": (n) =>
      JSON.stringify(load({
        a: {
          ...lane,
          arrivals: { kind: "even", phases: many(n, () => ({ untilMs: 1, perSec: 1, x: 1 })) },
        },
      })),
    "times": (n) =>
      JSON.stringify(load({ a: { ...lane, arrivals: { kind: "trace", atMs: many(n, () => 1) } } })),
    "runs": (n) =>
      JSON.stringify(load({ a: { serviceMs: { kind: "trace", runs: many(n, () => 1) } } })),
    "runs with faults": (n) =>
      JSON.stringify(
        load({ a: { serviceMs: { kind: "trace", runs: many(n, () => ({ x: 1 })) } } }),
      ),
    "keys": (n) => JSON.stringify(load({ a: { ...lane, keys: many(n, (i) => `k${i}`) } })),
    "faults": (n) =>
      JSON.stringify(
        load({ a: lane }, { faults: many(n, () => ({ kind: "down", atMs: 1, forMs: 1 })) }),
      ),
    "faults that there are not": (n) =>
      JSON.stringify(load({ a: lane }, { faults: many(n, () => ({ kind: "x" })) })),
    "a backlog": (n) => JSON.stringify(load({ a: { ...lane, backlog: n } })),
    "a long name": (n) => JSON.stringify(load({ a: lane }, { name: "x".repeat(10 * n) })),
  };
  for (const [name, make] of Object.entries(scenarios)) {
    await judge(`simulate, ${name}`, 1000, async (n, what) => {
      await Deno.writeTextFile(scenario, make(n));
      await verb(what, ["simulate", config, scenario]);
    });
  }
}

async function commands(): Promise<void> {
  const long = (n: number) => "x".repeat(100 * n);
  const args: Record<string, (n: number) => readonly string[]> = {
    "a long verb": (n) => [long(n)],
    "a long option": (n) => ["pools", `--${long(n)}`],
    "many arguments": (n) => ["check", ...Array.from({ length: n }, () => "x")],
    "many options": (n) => ["check", "x", ...Array.from({ length: n }, () => "--json")],
    "a long file": (n) => ["check", long(n)],
    "a long platform": (n) => ["check", "x", "--platform", long(n)],
    "a long url": (n) => ["pools", "--url", `http://127.0.0.1:1/${long(n)}`],
    "no url": (n) => ["pools", "--url", long(n)],
    "a long duration": (
      n,
    ) => [
      "record",
      "p",
      "--for",
      "1".repeat(n),
      "--out",
      "/dev/null",
      "--url",
      "http://127.0.0.1:1",
    ],
    "a deep payload": (
      n,
    ) => ["enqueue", "p", "--lane", "a", "--payload", deepText(n), "--url", "http://127.0.0.1:1"],
    "no payload": (
      n,
    ) => ["enqueue", "p", "--lane", "a", "--payload", long(n), "--url", "http://127.0.0.1:1"],
    "a long lane": (
      n,
    ) => ["enqueue", "p", "--lane", long(n), "--payload", "1", "--url", "http://127.0.0.1:1"],
    "a long delay": (n) => ["enqueue", "p", "--lane", "a", "--payload", "1", "--delay", long(n)],
  };
  for (const [name, make] of Object.entries(args)) {
    await judge(`sluice, ${name}`, 1000, (n, what) => verb(what, make(n)));
  }
  for (
    const [name, make] of Object.entries({
      "lines": (n: number) => '{"a":1}\n'.repeat(n),
      "lines that are no JSON": (n: number) => "x\n".repeat(n),
      "a deep line": (n: number) => `${deepText(n)}\n`,
    })
  ) {
    await judge(
      `sluice enqueue -, ${name}`,
      1000,
      (n, what) =>
        verb(what, ["enqueue", "p", "--lane", "a", "-", "--url", "http://127.0.0.1:1"], make(n)),
    );
  }
}

const folder = await Deno.makeTempDir({ prefix: "sluice-price-" });
try {
  const [only] = Deno.args;
  if (only === undefined || only === "routes") await routes();
  if (only === undefined || only === "metrics") await readMetrics(judge);
  if (only === undefined || only === "files") await files(folder);
  if (only === undefined || only === "commands") await commands();
} finally {
  await Deno.remove(folder, { recursive: true });
}
write(`judged ${judged}`);

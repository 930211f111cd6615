import assert from "node:assert/strict";
import { join } from "node:path";
import { start } from "../../mod.ts";
import { serveAdmin } from "../../src/admin/mod.ts";
import type { ConfigInput } from "../../src/config/input.ts";
import type { PoolEvent } from "../../src/contract/event.ts";
import { type ScenarioInput, simulate } from "../../src/simulate/mod.ts";
import { type Ran, sluice, temporaryFolder } from "./_io.ts";

const CONFIG: ConfigInput = {
  pools: {
    mail: {
      handler: () => new Promise((resolve) => setTimeout(resolve, 15)),
      size: { min: 2, max: 8 },
      lanes: [{ name: "urgent" }, { name: "batch" }],
    },
    idle: { handler: "sleep", size: { min: 1, max: 1 }, lanes: [{ name: "only" }] },
  },
};

/** A running system with real timers, and a folder. */
async function running(): Promise<
  AsyncDisposable & {
    readonly system: Awaited<ReturnType<typeof start>>;
    readonly server: Awaited<ReturnType<typeof serveAdmin>>;
    readonly events: readonly PoolEvent[];
    readonly file: string;
    record(args: readonly string[], onSignal?: (handler: () => void) => () => void): Promise<Ran>;
  }
> {
  const folder = await temporaryFolder();
  const events: PoolEvent[] = [];
  const system = await start(CONFIG, { observer: (event) => void events.push(event) });
  const server = await serveAdmin(system, {
    hostname: "127.0.0.1",
    port: 0,
    adminToken: undefined,
    viewerToken: undefined,
    allowedHosts: [],
  });
  const file = join(folder.path, "scenario.json");
  return {
    system,
    server,
    events,
    file,
    record: (args, onSignal) =>
      sluice(["record", ...args, "--url", server.url], onSignal === undefined ? {} : { onSignal }),
    async [Symbol.asyncDispose]() {
      await server.stop();
      await system.stop();
      await folder[Symbol.asyncDispose]();
    },
  };
}

/** Posts jobs every few ms until it is stopped; answers how many. */
function load(system: Awaited<ReturnType<typeof start>>): () => number {
  let count = 0;
  const timer = setInterval(() => {
    for (let next = 0; next < 2; next++) {
      const lane = count % 3 === 0 ? "batch" : "urgent";
      system.post("mail", { lane, payload: "PAYLOAD-TEXT", key: `customer-${count++ % 5}` });
    }
  }, 5);
  return () => {
    clearInterval(timer);
    return count;
  };
}

async function read(file: string): Promise<ScenarioInput> {
  return JSON.parse(await Deno.readTextFile(file));
}

Deno.test("record writes what came to a pool, and simulate replays it", async () => {
  await using live = await running();
  const { system, events, file } = live;
  const stop = load(system);

  const { code, out, err } = await live.record(["mail", "--for", "1500ms", "--out", file]);
  stop();

  const text = await Deno.readTextFile(file);
  const scenario = await read(file);
  const { pools: { mail } } = await simulate(CONFIG, file);
  assert.deepEqual([code, out], [0, ""]);
  assert.match(err, /^Recorded \d+ jobs in 1\.5 s to .*scenario\.json\n/);
  assert.equal(scenario.durationMs, 1500);
  assert.doesNotMatch(text, /PAYLOAD|customer/);
  const fromMs = Date.parse(scenario.recorded?.at ?? "");
  for (const lane of ["urgent", "batch"]) {
    const own = events.filter((event) => "lane" in event && event.lane === lane);
    const load = scenario.pools.mail?.lanes[lane];
    assert(load?.serviceMs.kind === "trace" && load.arrivals?.kind === "trace");
    const came = own.filter((event) =>
      event.kind === "job-added" && event.dueAtMs >= fromMs + 1 && event.dueAtMs <= fromMs + 1499
    ).length;
    // Those of the first and the last ms may be in it or not: the file has whole ms.
    assert.ok(Math.abs(load.arrivals.atMs.length - came) <= 4, `${lane}: ${came} came`);
    const keys = Array.isArray(load.keys) ? load.keys : [];
    assert.equal(
      new Set(keys.filter((key) =>
        key !== null
      )).size,
      5,
    );
    const known = load.serviceMs.runs.filter((run) => typeof run === "number");
    assert.ok(known.length >= 0.9 * load.arrivals.atMs.length);
    assert.ok(Math.min(...known) >= 14);
    assert.equal(mail?.lanes[lane]?.arrived, load.arrivals.atMs.length + (load.backlog ?? 0));
    assert.ok((mail?.lanes[lane]?.done ?? 0) >= 0.9 * load.arrivals.atMs.length);
  }
});

Deno.test("record writes to standard output without --out, and all pools that got jobs", async () => {
  await using live = await running();
  const stop = load(live.system);

  const { code, out } = await live.record(["--for", "300ms"]);
  stop();

  const scenario = JSON.parse(out);
  assert.deepEqual([code, Object.keys(scenario.pools)], [0, ["mail"]]);
  assert.deepEqual([scenario.name, scenario.recorded.from], ["mail, idle", live.server.url]);
});

Deno.test("record writes what it has when it is interrupted", async () => {
  await using live = await running();
  const { system, file } = live;
  const stop = load(system);
  let interrupt = (): void => {};

  const recording = live.record(["mail", "--for", "1h", "--out", file], (handler) => {
    interrupt = handler;
    return () => {};
  });
  await until(() => live.events.some(({ kind }) => kind === "job-done"));
  const streams = live.events.length;
  await until(() => live.events.length > streams + 200);
  interrupt();
  const { code, err } = await recording;
  stop();

  const scenario = await read(file);
  assert.equal(code, 0);
  assert.match(err, /^Recorded \d+ jobs? in \d+ ms|^Recorded \d+ jobs? in \d+\.\d s/);
  assert.ok(scenario.durationMs > 0 && scenario.durationMs < 60_000);
});

Deno.test("record writes what it has when the system stops, and says so", async () => {
  await using live = await running();
  const { system, server, file } = live;
  const stop = load(system);

  const recording = live.record(["mail", "--for", "1h", "--out", file]);
  const began = live.events.length;
  await until(() => live.events.length > began + 300);
  await server.stop();
  const { code, err } = await recording;
  stop();

  assert.equal(code, 1);
  assert.match(err, /^Recorded \d+ jobs? in /);
  assert.match(err, /\nIt ended early: the system stops\n$/);
  assert.ok((await read(file)).durationMs < 60_000);
});

Deno.test("record says when nothing came, and what is wrong with its options", async () => {
  await using live = await running();

  await Deno.writeTextFile(live.file, "what stood there");
  const other = join(live.file, "..", "other.json");

  const nothing = await live.record(["idle", "--for", "20ms"]);
  const again = await live.record(["idle", "--for", "20ms", "--out", live.file]);
  const fresh = await live.record(["idle", "--for", "20ms", "--out", other]);
  const pool = await live.record(["mails", "--for", "20ms"]);
  const length = await live.record(["mail", "--for", "0"]);
  const file = await live.record(["mail", "--for", "20ms", "--out", "/no/such/folder/x.json"]);

  assert.deepEqual([nothing.code, nothing.err], [
    1,
    "No job arrived in 20 ms: nothing was written\n",
  ]);
  assert.deepEqual([again.code, fresh.code], [1, 1]);
  assert.equal(await Deno.readTextFile(live.file), "what stood there");
  await assert.rejects(Deno.stat(other), Deno.errors.NotFound);
  assert.deepEqual([pool.code, pool.err], [
    2,
    'No pool is named "mails": did you mean "mail"?\n',
  ]);
  assert.deepEqual([length.code, length.err], [
    2,
    'Expected --for to be longer than 0 ms but received "0"\n',
  ]);
  assert.equal(file.code, 1);
  assert.match(file.err, /^Cannot write the scenario: /);
});

/** Waits for a condition, however long it takes. */
async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 5));
}

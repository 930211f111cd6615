import assert from "node:assert/strict";
import { join } from "node:path";
import { start } from "../../../mod.ts";
import { admin, type AdminApp } from "../../../src/admin/mod.ts";
import { NEXT_TICK } from "../../../src/config/diff_parts.ts";
import type { Sluice } from "../../../src/runtime/handles.ts";
import { VirtualClock } from "../../../src/time/virtual_clock.ts";
import { problemOf } from "../_app.ts";

const TOKENS = { adminToken: "admin-0123456789abcdef", viewerToken: "viewer-0123456789abcdef" };

interface OnFile extends AsyncDisposable {
  readonly app: AdminApp;
  readonly sluice: Sluice;
  readonly folder: string;
  write(config: unknown): Promise<void>;
  post(path: string, body?: unknown, token?: string): Promise<Response>;
}

const MAIN = { handler: "./handler.ts", size: { min: 1, max: 2 }, lanes: [{ name: "x" }] };

/** A system that was started from a file. */
async function onFile(): Promise<OnFile> {
  const folder = await Deno.makeTempDir({ prefix: "sluice-" });
  const file = join(folder, "pools.json");
  const write = (config: unknown): Promise<void> =>
    Deno.writeTextFile(file, JSON.stringify(config, null, 2));
  await Deno.writeTextFile(join(folder, "handler.ts"), `export default () => "one";`);
  await Deno.writeTextFile(join(folder, "other.ts"), `export default () => "other";`);
  await write({ redact: ["password"], pools: { main: MAIN } });
  const env = (name: string): string => `value of ${name}`;
  const sluice = await start(file, { clock: new VirtualClock(), seed: 1, env });
  const app = admin(sluice, TOKENS);
  return {
    app,
    sluice,
    folder,
    write,
    post: async (path, body, token = TOKENS.adminToken) =>
      await app.request(path, {
        method: "POST",
        headers: { "content-type": "application/json", authorization: `Bearer ${token}` },
        body: body === undefined ? null : JSON.stringify(body),
      }),
    async [Symbol.asyncDispose]() {
      await sluice.stop();
      await Deno.remove(folder, { recursive: true });
    },
  };
}

Deno.test("POST /api/reload reads the file again and says what has changed", async () => {
  await using system = await onFile();
  const events: string[] = [];
  system.sluice.observe(({ kind }) => void events.push(kind));
  await system.write({ redact: ["secret"], pools: { main: { ...MAIN, tickMs: 20 } } });

  const dry = await system.post("/api/reload?dryRun=1");
  const before = system.sluice.pool("main").settings.tickMs;
  const done = await system.post("/api/reload");

  const changes = [
    {
      pointer: "/redact",
      change: "changed",
      from: ["password"],
      to: ["secret"],
      refused: false,
      effect: "Holds from the next answer on",
    },
    {
      pointer: "/pools/main/tickMs",
      change: "changed",
      from: 50,
      to: 20,
      refused: false,
      effect: NEXT_TICK,
    },
  ];
  assert.deepEqual([dry.status, await dry.json()], [200, { changes, stale: [], dryRun: true }]);
  assert.equal(before, 50);
  assert.deepEqual([done.status, await done.json()], [200, { changes, stale: [], dryRun: false }]);
  assert.equal(system.sluice.pool("main").settings.tickMs, 20);
  assert.deepEqual(events.filter((kind) => kind === "reloaded" || kind === "audit"), [
    "reloaded",
    "reloaded",
    "audit",
  ]);
});

Deno.test("POST /api/reload hides by the new redaction list, and knows new lanes and pools", async () => {
  await using system = await onFile();
  const job = { lane: "x", payload: { password: "p", secret: "s" } };
  const { id } = await (await system.post("/api/pools/main/jobs", job)).json();
  const payload = async (): Promise<unknown> => {
    const response = await system.app.request(`/api/jobs/${id}`, {
      headers: { authorization: `Bearer ${TOKENS.viewerToken}` },
    });
    return (await response.json()).payload;
  };
  const before = await payload();
  await system.write({
    redact: ["secret"],
    pools: { main: { ...MAIN, lanes: [{ name: "y" }, { name: "x" }] }, more: MAIN },
  });

  await system.post("/api/reload");
  const toLane = await system.post("/api/pools/main/jobs", { lane: "y", payload: 1 });
  const toPool = await system.post("/api/pools/more/jobs", { lane: "x", payload: 1 });

  assert.deepEqual(before, { password: "[redacted]", secret: "s" });
  assert.deepEqual(await payload(), { password: "p", secret: "[redacted]" });
  assert.deepEqual([toLane.status, toPool.status], [202, 202]);
});

Deno.test("POST /api/reload answers 400 with every fault and its place, and changes nothing", async () => {
  await using system = await onFile();
  await system.write({
    admin: { port: 0 },
    pools: { main: { ...MAIN, tickMs: 20, size: { min: 3, max: 2 }, controller: "age-scalr" } },
  });

  const faulty = await problemOf(await system.post("/api/reload"));
  await system.write({ admin: { port: 0 }, pools: { main: MAIN } });
  const refused = await problemOf(await system.post("/api/reload"));

  assert.deepEqual(
    faulty.errors?.map((error) => [error.pointer, "line" in error && error.line]),
    [["/pools/main/size/min", 9], ["/pools/main/controller", 18]],
  );
  assert.deepEqual(refused.errors, [{
    pointer: "/admin",
    detail:
      "The admin API binds its address and reads its tokens at the start: stop, then start with the new config",
    file: join(system.folder, "pools.json"),
    line: 2,
    column: 12,
  }]);
  assert.equal(system.sluice.pool("main").settings.tickMs, 50);
});

Deno.test("POST /api/reload takes a config in its body: numbers and names, no code and no secrets", async () => {
  await using system = await onFile();
  const reload = async (parts: unknown): Promise<unknown> => {
    const config = { redact: ["password"], pools: { main: parts } };
    const response = await system.post("/api/reload", { config });
    const body = await response.json();
    return response.ok ? body.changes.length : body.errors;
  };

  const numbers = await reload({ ...MAIN, tickMs: 20, controller: "littles-law" });
  const code = await reload({ ...MAIN, handler: "./other.ts" });
  const elsewhere = await reload({ ...MAIN, handler: "data:text/javascript,export default 1" });
  const secret = await reload({
    ...MAIN,
    handler: { use: "http", with: { url: { env: "HOME" } } },
  });

  assert.equal(numbers, 2);
  assert.deepEqual(code, [{
    pointer: "/config/pools/main/handler",
    detail:
      'The module "./other.ts" is not loaded, and HTTP requests may not load code: add it to the config file and reload that',
  }]);
  assert.match(JSON.stringify(elsewhere), /A \\"data:\\" module runs code from elsewhere/);
  assert.deepEqual(secret, [{
    pointer: "/config/pools/main/handler/with/url",
    detail:
      'Cannot read the environment variable "HOME": HTTP may only refer to variables that the config refers to already',
  }]);
  assert.equal(system.sluice.pool("main").settings.tickMs, 20);
});

Deno.test("POST /api/reload refuses modules that are not loaded alike, whether there is such a file or not", async () => {
  await using system = await onFile();
  await Deno.mkdir(join(system.folder, "inner"));
  await Deno.symlink(join(system.folder, "handler.ts"), join(system.folder, "linked.ts"));
  const detailOf = async (handler: string): Promise<string | undefined> => {
    const config = { redact: ["password"], pools: { main: { ...MAIN, handler } } };
    const response = await system.post("/api/reload", { config });
    return response.ok ? "loaded" : (await problemOf(response)).errors?.[0]?.detail;
  };
  const url = `file://${system.folder}`;

  for (
    const use of [
      "./other.ts",
      "./missing.ts",
      "./inner",
      "./linked.ts",
      "../../etc/passwd",
      `${url}/missing.ts`,
      "file:///etc/passwd",
    ]
  ) {
    assert.equal(
      await detailOf(use),
      `The module "${use}" is not loaded, and HTTP requests may not load code: add it to the config file and reload that`,
    );
  }
  assert.equal(await detailOf("./inner/../handler.ts"), "loaded");
  assert.equal(await detailOf(`${url}/handler.ts`), "loaded");
});

Deno.test("POST /api/reload loads what the file names anew, and tells of modules that changed since", async () => {
  await using system = await onFile();
  await Deno.writeTextFile(join(system.folder, "handler.ts"), `export default () => "two";`);
  await Deno.utime(join(system.folder, "handler.ts"), 2_000_000_000, 2_000_000_000);

  const stale = await (await system.post("/api/reload")).json();
  await system.write({ redact: ["password"], pools: { main: { ...MAIN, handler: "./other.ts" } } });
  const loaded = await (await system.post("/api/reload")).json();
  const body = { config: { pools: { main: { ...MAIN, handler: "./other.ts", tickMs: 9 } } } };
  const again = await system.post("/api/reload", body);

  assert.deepEqual(stale, { changes: [], stale: ["./handler.ts"], dryRun: false });
  assert.deepEqual(
    loaded.changes.map(({ pointer, to }: { pointer: string; to: unknown }) => [pointer, to]),
    [["/pools/main/handler", "./other.ts"]],
  );
  assert.equal(again.status, 200); // it is loaded by now
});

Deno.test("POST /api/reload refuses viewers and bodies of another shape", async () => {
  await using system = await onFile();

  const viewer = await system.post("/api/reload", {}, TOKENS.viewerToken);
  const details = [];
  for (const body of [[], { conf: {} }, { config: "/etc/passwd" }, { config: null }]) {
    const { errors } = await problemOf(await system.post("/api/reload", body));
    details.push(errors?.map(({ pointer, detail }) => `${pointer}: ${detail}`).join());
  }
  const flag = await problemOf(await system.post("/api/reload?dryRun=maybe"));

  assert.equal(viewer.status, 403);
  assert.deepEqual(details, [
    ': Expected { "config": … } but received an empty list',
    '/conf: No key is named "conf": expected "config"',
    '/config: Expected a config but received "/etc/passwd"',
    "/config: Expected a config but received null",
  ]);
  assert.equal(flag.detail, 'Expected dryRun to be 1 or 0 but received "maybe"');
});

import assert from "node:assert/strict";
import { type ConfigInput, start } from "../../../mod.ts";
import { serveAdmin } from "../../../src/admin/mod.ts";
import { openAdmin } from "../../../src/admin/server/serve.ts";
import { defineStore, use } from "../../../src/contract/plugin.ts";
import type { AdminSettings } from "../../../src/config/settings.ts";
import { problemOf, running } from "../_app.ts";

const FREE: AdminSettings = {
  hostname: "127.0.0.1",
  port: 0,
  adminToken: undefined,
  viewerToken: undefined,
  allowedHosts: [],
};
const TOKEN = "admin-token-0123456789";

Deno.test("serveAdmin() answers on the address it gives, until it is stopped", async () => {
  await using system = await running();
  const server = await serveAdmin(system.sluice, FREE);

  const response = await fetch(`${server.url}/api/pools/mail/jobs`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ lane: "urgent", payload: 1 }),
  });
  const { id } = await response.json();
  await Promise.all([server.stop(), server.stop()]);

  assert.match(server.url, /^http:\/\/127\.0\.0\.1:\d+$/);
  assert.deepEqual([response.status, typeof id], [202, "string"]);
  await assert.rejects(fetch(`${server.url}/healthz`), TypeError);
});

Deno.test("serveAdmin() tells where a request came from", async () => {
  await using system = await running();
  const actors: string[] = [];
  system.sluice.observe((event) => void (event.kind === "audit" && actors.push(event.who)));
  const server = await serveAdmin(system.sluice, FREE);

  const response = await fetch(`${server.url}/api/pools/mail/pause`, { method: "POST" });
  await response.body?.cancel();
  await server.stop();

  assert.deepEqual(actors, ["local from 127.0.0.1"]);
});

Deno.test("serveAdmin() counts a chunked body, which announces no length", async () => {
  await using system = await running();
  const server = await serveAdmin(system.sluice, FREE);
  const chunk = new TextEncoder().encode(`"${"x".repeat(65_534)}",`);
  const post = async (chunks: number): Promise<number> => {
    let left = chunks;
    const body = new ReadableStream<Uint8Array>({
      pull: (controller) => left-- > 0 ? controller.enqueue(chunk) : controller.close(),
    });
    const response = await fetch(`${server.url}/api/pools/mail/jobs`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body,
    });
    await response.body?.cancel();
    return response.status;
  };

  const small = await post(1);
  const large = await post(17);
  await server.stop();

  assert.deepEqual([small, large], [400, 413]); // the small one is read and is no JSON
});

Deno.test("serveAdmin() answers held requests when it stops", async () => {
  await using system = await running();
  const server = await serveAdmin(system.sluice, FREE);
  const held = fetch(`${server.url}/api/pools/mail/jobs?waitMs=60000`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ lane: "urgent", payload: { hang: true } }),
  });
  while ((await system.sluice.pool("mail").list({ limit: 1 })).jobs.length === 0) {
    await (await fetch(`${server.url}/healthz`)).body?.cancel();
  }

  await server.stop();
  const response = await held;

  assert.equal(response.status, 202);
  await response.body?.cancel();
});

Deno.test("serveAdmin() refuses an open address without a token, and frees it", async () => {
  await using system = await running();

  for (const hostname of ["0.0.0.0", "::"]) {
    await assert.rejects(serveAdmin(system.sluice, { ...FREE, hostname }), (error: Error) => {
      const shown = hostname.includes(":") ? "::" : "0\\.0\\.0\\.0";
      assert.match(
        error.message,
        new RegExp(
          `^The admin API would answer on ${shown}:\\d+, without a token: set admin\\.tokens in the config, ` +
            "or bind 127\\.0\\.0\\.1 \\(DENO_SERVE_ADDRESS goes before admin\\.hostname\\)$",
        ),
      );
      return true;
    });
  }
});

Deno.test("serveAdmin() serves an open address with a token", async () => {
  await using system = await running();
  const server = await serveAdmin(system.sluice, {
    ...FREE,
    hostname: "0.0.0.0",
    adminToken: TOKEN,
  });

  const without = await fetch(`${server.url}/api/pools`);
  const with_ = await fetch(`${server.url}/api/pools`, {
    headers: { authorization: `Bearer ${TOKEN}` },
  });
  await Promise.all([without.body?.cancel(), with_.body?.cancel()]);
  await server.stop();

  assert.match(server.url, /^http:\/\/127\.0\.0\.1:\d+$/);
  assert.deepEqual([without.status, with_.status], [401, 200]);
});

Deno.test("serveAdmin() names the port that is in use", async () => {
  await using system = await running();
  const server = await serveAdmin(system.sluice, FREE);
  const port = Number(new URL(server.url).port);

  await assert.rejects(serveAdmin(system.sluice, { ...FREE, port }), {
    message:
      `The admin API cannot listen on 127.0.0.1:${port}, the port is in use: stop the other program, or set another admin.port`,
  });
  await server.stop();
});

Deno.test("openAdmin() answers 503 until there are pools to serve", async () => {
  await using system = await running();
  const door = await openAdmin(FREE);

  const early = await fetch(`${door.url}/readyz`);
  const server = door.serve(system.sluice);
  const served = await fetch(`${door.url}/api/pools`);
  await served.body?.cancel();
  await server.stop();

  assert.deepEqual([early.status, early.headers.get("retry-after")], [503, "1"]);
  const { detail } = await problemOf(early);
  assert.equal(detail, "The pools are starting: try again in a moment");
  assert.deepEqual([server.url, served.status], [door.url, 200]);
});

Deno.test("start() opens no store where the admin API cannot be served, and frees the address if it fails itself", async () => {
  let opened = 0;
  const broken = defineStore({
    name: "broken",
    create: () => {
      opened++;
      throw new Error("The store is broken");
    },
  });
  const config: ConfigInput = {
    store: use(broken),
    pools: { p: { handler: () => 1, size: { min: 1, max: 1 }, lanes: [{ name: "l" }] } },
  };
  const taken = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = taken.addr;

  await assert.rejects(start({ ...config, admin: { port } }), /the port is in use/);
  const before = opened;
  taken.close();
  await assert.rejects(start(config, { admin: { ...FREE, port } }), /The store is broken$/);
  Deno.listen({ hostname: "127.0.0.1", port }).close();

  assert.deepEqual([before, opened], [0, 1]);
});

Deno.test("serveAdmin() refuses a short token before it binds", async () => {
  await using system = await running();

  await assert.rejects(serveAdmin(system.sluice, { ...FREE, adminToken: "short" }), {
    name: "TypeError",
    message: /^The admin token is too short: /,
  });
});

Deno.test("serveAdmin() keeps nothing of a connection that breaks amid an answer", async () => {
  await using system = await running();
  const server = await serveAdmin(system.sluice, FREE);
  const leaving = new AbortController();

  for (let asked = 0; asked < 20; asked++) {
    const { signal } = leaving;
    const answered = fetch(`${server.url}/api/pools`, { signal }).then((each) => each.text());
    if (asked === 19) leaving.abort();
    await answered.catch(() => {}); // the sanitizer of resources looks for what is left
  }

  await server.stop();
});

// DENO_SERVE_ADDRESS is read once a process: each case needs one of its own.
Deno.test("serveAdmin() goes by the address that was really bound: DENO_SERVE_ADDRESS", async () => {
  const advice =
    "set admin.tokens in the config, or bind 127.0.0.1 (DENO_SERVE_ADDRESS goes before admin.hostname)";

  const open = await serveWith("tcp:0.0.0.0:0", FREE);
  const second = await serveWith("duplicate,tcp:0.0.0.0:0", FREE);
  const withToken = await serveWith("tcp:0.0.0.0:0", { ...FREE, adminToken: TOKEN });
  const loopback = await serveWith("tcp:127.0.0.1:0", { ...FREE, hostname: "0.0.0.0" });

  assert.match(open, /^The admin API would answer on 0\.0\.0\.0:\d+, without a token: /);
  assert.ok(open.includes(advice), open);
  assert.equal(
    second.trim(),
    `The admin API would answer on "tcp:0.0.0.0:0" too, without a token: ${advice}`,
  );
  assert.match(withToken, /^http:\/\/127\.0\.0\.1:\d+$/m);
  assert.match(loopback, /^http:\/\/127\.0\.0\.1:\d+$/m);
});

// Case B5: every peer counted as this machine where the environment could not be read.
Deno.test("serveAdmin() binds nothing but what it has checked, when it may not read the environment", async () => {
  using probe = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = probe.addr;
  probe.close();

  const ended = await serveWith(`duplicate,tcp:0.0.0.0:${port}`, FREE, {
    allowed: ["--allow-net", "--allow-read"],
    served: `await Deno.connect({ port: ${port} }).then(() => "open", (thrown) => thrown.name)`,
  });

  assert.equal(ended.split("\n")[0], "ConnectionRefused", ended);
});

async function serveWith(
  address: string,
  settings: AdminSettings,
  { allowed = ["--allow-all"], served = "server.url" } = {},
): Promise<string> {
  const here = (path: string) => JSON.stringify(new URL(path, import.meta.url).href);
  const code = `
    import { start } from ${here("../../../mod.ts")};
    import { serveAdmin } from ${here("../../../src/admin/mod.ts")};
    await using sluice = await start({ pools: { p: { handler: () => 1, size: { min: 0, max: 1 }, lanes: [{ name: "l" }] } } });
    try {
      const server = await serveAdmin(sluice, ${JSON.stringify(settings)});
      console.log(${served});
      await server.stop();
    } catch (error) {
      console.log(error.message);
    }`;
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "--no-check", "--no-prompt", ...allowed, "-"],
    cwd: new URL("../../../", import.meta.url),
    env: { DENO_SERVE_ADDRESS: address, NO_COLOR: "1" },
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  await new Response(code).body?.pipeTo(child.stdin);
  const { stdout, stderr } = await child.output();
  const text = new TextDecoder();
  return text.decode(stdout) || text.decode(stderr);
}

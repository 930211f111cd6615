import assert from "node:assert/strict";
import { isLoopback } from "../../../src/config/loopback.ts";
import { OPEN_ROUTES } from "../../../src/admin/access/open_routes.ts";
import { problemOf, running } from "../_app.ts";

const ADMIN = "admin-token-0123456789";
const VIEWER = "viewer-token-0123456789";
const TOKENS = { adminToken: ADMIN, viewerToken: VIEWER };

/** Routes that answer anyone. A new one is a decision: it is listed here and in `OPEN_ROUTES`. */
const OPEN = [
  "GET /healthz",
  "GET /readyz",
  "GET /assets/:name",
  "GET /login",
  "POST /login",
  "POST /logout",
];

interface Asked {
  readonly method: string;
  readonly path: string;
}

/** All routes that there are, but the open ones, as they may be asked for; and one that is not there. */
async function guarded(): Promise<readonly Asked[]> {
  await using system = await running(TOKENS);
  const closed = system.app.routes.filter(({ method, path }) => !OPEN.includes(`${method} ${path}`))
    .map(({ method, path }) => ({
      method: method === "ALL" ? "GET" : method,
      path: path.replace(":pool", "mail").replace(":id", "x").replace(/\/:slash.*/, "/"),
    }));
  assert.ok(closed.length > 30);
  return [...closed, { method: "GET", path: "/no/such/route" }];
}

const ROUTES = await guarded();
const READS = ROUTES.filter(({ method }) => method === "GET").map(({ path }) => path);
const WRITES = ROUTES.filter(({ method }) => method !== "GET")
  .map(({ method, path }) => [method, path] as const);

function bearer(token: string): { readonly headers: { readonly authorization: string } } {
  return { headers: { authorization: `Bearer ${token}` } };
}

Deno.test("no route is open but those that are meant to be", async () => {
  await using system = await running(TOKENS);
  const open = system.app.routes.map(({ method, path }) => `${method} ${path}`)
    .filter((route) => OPEN.includes(route));

  assert.deepEqual([...new Set(open)].sort(), [...OPEN].sort()); // a file has a route and its middleware
  assert.deepEqual([...OPEN_ROUTES].sort(), [...OPEN].sort());
});

Deno.test("guard() answers 401 on every route with a challenge, when there is no token", async () => {
  await using system = await running(TOKENS);

  for (const path of READS) {
    const response = await system.app.request(path);
    assert.equal(response.status, 401, path);
    assert.equal(response.headers.get("www-authenticate"), 'Bearer realm="sluice"');
    assert.equal(
      (await problemOf(response)).detail,
      'A token is needed: send it as "Authorization: Bearer TOKEN"',
    );
  }
  for (const [method, path] of WRITES) {
    assert.equal((await system.app.request(path, { method })).status, 401, path);
  }
});

Deno.test("guard() answers 401 to a token that is not known", async () => {
  await using system = await running(TOKENS);

  for (
    const token of [
      "x",
      `${ADMIN}x`,
      `${ADMIN}${ADMIN}${ADMIN}`,
      ADMIN.slice(1),
      ADMIN.slice(0, -1),
      `${ADMIN.slice(0, -1)}\u00e9`,
      ADMIN.toUpperCase(),
      "x".repeat(10_000),
    ]
  ) {
    const response = await system.app.request("/api/pools", bearer(token));
    assert.equal(response.status, 401, token);
    assert.match(response.headers.get("www-authenticate") ?? "", /^Bearer realm="sluice", error=/);
  }
  const response = await system.app.request("/api/pools", bearer("not-the-token-at-all"));
  assert.equal(
    (await problemOf(response)).detail,
    "Unknown token: check it against the config",
  );
});

Deno.test("guard() answers 401 to another scheme", async () => {
  await using system = await running(TOKENS);

  const response = await system.app.request("/api/pools", {
    headers: { authorization: `Basic ${btoa(`admin:${ADMIN}`)}` },
  });

  assert.equal(response.status, 401);
  assert.equal(
    (await problemOf(response)).detail,
    'Expected a bearer token: send "Authorization: Bearer TOKEN"',
  );
});

Deno.test("guard() lets the admin read and write, the scheme in any case", async () => {
  await using system = await running(TOKENS);

  const read = await system.app.request("/api/pools", bearer(ADMIN));
  const write = await system.app.request("/api/pools/mail/pause", {
    method: "POST",
    headers: { authorization: `bearer ${ADMIN}` },
  });

  assert.deepEqual([read.status, write.status], [200, 200]);
});

Deno.test("guard() lets a viewer read, and answers 403 to each of its writes", async () => {
  await using system = await running(TOKENS);

  const read = await system.app.request("/api/pools", bearer(VIEWER));

  assert.equal(read.status, 200);
  for (const [method, path] of WRITES) {
    const response = await system.app.request(path, { method, ...bearer(VIEWER) });
    assert.equal(response.status, 403, path);
    assert.equal(
      (await problemOf(response)).detail,
      "The viewer token may only read: use the admin token to change anything",
    );
  }
});

Deno.test("guard() lets nobody write, when there is only a viewer token", async () => {
  await using system = await running({ viewerToken: VIEWER });

  const read = await system.app.request("/api/pools", bearer(VIEWER));
  const write = await system.app.request("/api/pools/mail/pause", {
    method: "POST",
    ...bearer(VIEWER),
  });

  assert.deepEqual([read.status, write.status], [200, 403]);
});

Deno.test("guard() leaves /healthz and /readyz open", async () => {
  await using system = await running(TOKENS);
  await system.clock.advance(100);

  assert.equal((await system.app.request("/healthz")).status, 200);
  assert.equal((await system.app.request("/readyz")).status, 200);
});

Deno.test("guard() asks for no host name, when there is a token", async () => {
  await using system = await running(TOKENS);

  const response = await system.app.request("/api/pools", {
    headers: { authorization: `Bearer ${ADMIN}`, host: "queue.example.com" },
  });

  assert.equal(response.status, 200);
});

Deno.test("admin() refuses tokens that are short or the same", async () => {
  await using system = await running();
  const { admin } = await import("../../../src/admin/mod.ts");

  assert.throws(
    () => admin(system.sluice, { adminToken: "short" }),
    new TypeError("The admin token is too short: expected at least 16 characters but received 5"),
  );
  assert.throws(
    () => admin(system.sluice, { viewerToken: `${ADMIN}\n` }),
    new TypeError(
      "The viewer token has spaces, line breaks or other characters that a header cannot carry: use visible ASCII",
    ),
  );
  assert.throws(
    () => admin(system.sluice, { viewerToken: "" }),
    new TypeError("The viewer token is too short: expected at least 16 characters but received 0"),
  );
  assert.throws(
    () => admin(system.sluice, { adminToken: ADMIN, viewerToken: ADMIN }),
    new TypeError("The admin and the viewer token are the same: use a different one for each"),
  );
});

Deno.test("guard() answers loopback names without a token, with any port", async () => {
  await using system = await running();

  for (
    const host of ["localhost", "localhost:8787", "LOCALHOST:1", "127.0.0.1:8787", "[::1]:8787"]
  ) {
    const response = await system.app.request("/api/pools", { headers: { host } });
    assert.equal(response.status, 200, host);
  }
});

Deno.test("guard() answers 421 to any other host name without a token, so that no rebound name gets in", async () => {
  await using system = await running();
  const names = [
    "evil.example",
    "localhost.evil.example",
    "127.0.0.1.evil.example",
    "127.0.0.1@evil.example",
    "192.168.1.5:8787",
    "0.0.0.0:8787",
    "",
  ];

  await system.app.request("/api/pools", { headers: { host: "localhost" } });
  for (const host of names) {
    for (const [method, path] of [["GET", "/"], ["GET", "/api/config"], ...WRITES] as const) {
      const response = await system.app.request(path, { method, headers: { host } });
      assert.equal(response.status, 421, `${method} ${path} ${host}`);
    }
  }
  const response = await system.app.request("/api/pools", { headers: { host: "evil.example:80" } });
  assert.equal(
    (await problemOf(response)).detail,
    'The host name "evil.example" is not allowed without a token: use 127.0.0.1 or localhost, list it in allowedHosts, or set admin.tokens in the config, or adminToken of admin()',
  );
});

Deno.test("guard() answers the host names that are allowed", async () => {
  await using system = await running({ allowedHosts: ["Queue.internal"] });

  const listed = await system.app.request("/api/pools", { headers: { host: "queue.internal:80" } });
  const other = await system.app.request("/api/pools", { headers: { host: "queue.other" } });

  assert.deepEqual([listed.status, other.status], [200, 421]);
});

Deno.test("guard() answers 403 to another machine without a token, whatever host name it sends", async () => {
  await using system = await running();
  const from = async (hostname: string) =>
    await system.app.request("/api/pools", { headers: { host: "localhost" } }, {
      remoteAddr: { transport: "tcp", hostname, port: 5000 },
    });

  const other = await from("192.168.1.5");

  assert.equal(other.status, 403);
  assert.equal(
    (await problemOf(other)).detail,
    "Without a token, only this machine has access: set admin.tokens in the config, or adminToken of admin() to allow others",
  );
  assert.equal((await from("127.0.0.1")).status, 200);
  assert.equal((await from("::1")).status, 200);
});

Deno.test("isLoopback() knows loopback addresses from those that look like them", () => {
  for (const address of ["127.0.0.1", "127.8.9.1", "::1", "[::1]", "::ffff:127.0.0.1"]) {
    assert.equal(isLoopback(address), true, address);
  }
  for (
    const address of ["0.0.0.0", "::", "10.0.0.1", "127.0.0.1.x.org", "1127.0.0.1", "", "::11"]
  ) {
    assert.equal(isLoopback(address), false, address);
  }
});

Deno.test("guard() answers 403 to what a page of another site has a browser send, without a token", async () => {
  await using system = await running();
  const from = (origin: string, method: string, path: string) =>
    system.app.request(path, { method, headers: { host: "localhost:8787", origin } });

  for (
    const origin of ["https://evil.example", "null", "http://localhost:3000", "localhost:8787"]
  ) {
    for (const [method, path] of WRITES) {
      assert.equal((await from(origin, method, path)).status, 403, `${origin} ${method} ${path}`);
    }
  }
  const foreign = await from("https://evil.example", "POST", "/api/pools/mail/drain");
  const own = await from("http://localhost:8787", "POST", "/api/pools/mail/pause");

  assert.equal(
    (await problemOf(foreign)).detail,
    "The site https://evil.example may not change anything without a token: set admin.tokens in the config, or adminToken of admin()",
  );
  assert.equal(own.status, 200);
  assert.equal(system.sluice.pool("mail").snapshot().draining, false);
});

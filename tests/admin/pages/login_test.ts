import assert from "node:assert/strict";
import { Hono } from "hono";
import { VirtualClock } from "../../../src/time/virtual_clock.ts";
import { problemOf, type Running, running } from "../_app.ts";

const ADMIN = "admin-token-0123456789";
const VIEWER = "viewer-token-0123456789";
const TOKENS = { adminToken: ADMIN, viewerToken: VIEWER };
const HOST = "http://localhost";

/** Sends a login as a program does. */
async function logIn(system: Running, token: unknown, env?: object): Promise<Response> {
  return await system.app.request("/login", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ token }),
  }, env);
}

/** The cookie that an answer sets, as it is sent back. */
function cookieOf(response: Response): string {
  return response.headers.get("set-cookie")?.split(";")[0] ?? "";
}

/** What a page of this site sends. */
function own(cookie: string): Record<string, string> {
  return { cookie, origin: HOST, "sec-fetch-site": "same-origin" };
}

Deno.test("POST /login opens a session with the rights of the token, that no script can read", async () => {
  await using system = await running(TOKENS);

  const admin = await logIn(system, ADMIN);
  const viewer = await logIn(system, VIEWER);

  assert.deepEqual([admin.status, viewer.status], [200, 200]);
  assert.match(
    admin.headers.get("set-cookie") ?? "",
    /^sluice_session=admin\.\d+\.[\w-]+\.[\w-]+; Max-Age=43200; Path=\/; HttpOnly; SameSite=Strict$/,
  );
  assert.equal((await admin.json()).role, "admin");
  const read = await system.app.request("/api/pools", { headers: { cookie: cookieOf(viewer) } });
  const write = await system.app.request("/api/pools/mail/pause", {
    method: "POST",
    headers: own(cookieOf(viewer)),
  });
  const adminWrite = await system.app.request("/api/pools/mail/pause", {
    method: "POST",
    headers: own(cookieOf(admin)),
  });
  assert.deepEqual([read.status, write.status, adminWrite.status], [200, 403, 200]);
});

Deno.test("POST /login sets the cookie for secure connections only, when it came by one", async () => {
  await using system = await running(TOKENS);
  const post = async (url: string, headers: Record<string, string> = {}) =>
    (await system.app.request(url, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify({ token: ADMIN }),
    })).headers.get("set-cookie") ?? "";

  assert.match(await post("https://queue.example/login"), /; Secure/);
  assert.match(await post("http://localhost/login", { "x-forwarded-proto": "https" }), /; Secure/);
  assert.doesNotMatch(await post("http://localhost/login"), /Secure/);
});

Deno.test("POST /login refuses a token that is not known, without a session", async () => {
  const lines: unknown[] = [];
  await using system = await running({
    ...TOKENS,
    log: {
      debug() {},
      info() {},
      error() {},
      warn: (message, fields) => lines.push([message, fields]),
    },
  });

  for (const token of ["wrong-token-0123456789", "", undefined, 5]) {
    const response = await logIn(system, token);
    assert.equal(response.status, 401);
    assert.equal(response.headers.get("www-authenticate"), 'Bearer realm="sluice"');
    assert.equal(response.headers.get("set-cookie"), null);
    assert.equal(
      (await problemOf(response)).detail,
      "Unknown token: check it against the config",
    );
  }
  assert.deepEqual(lines[0], ["A login was refused", { from: "unknown" }]);
  assert.doesNotMatch(JSON.stringify(lines), /wrong-token/);
});

Deno.test("POST /login refuses a body that is no login, however long", async () => {
  await using system = await running(TOKENS);

  for (const body of ["{", "[]", `{"token":"${"x".repeat(100_000)}"}`]) {
    const response = await system.app.request("/login", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body,
    });
    assert.equal(response.status, 401);
  }
});

Deno.test("POST /login answers 429 after five that failed, even to the right token, until time has passed", async () => {
  const clock = new VirtualClock();
  await using system = await running({ ...TOKENS, clock });
  const from = (hostname: string) => ({ remoteAddr: { transport: "tcp", hostname, port: 1 } });

  for (let failed = 0; failed < 5; failed++) await logIn(system, "wrong", from("10.0.0.1"));
  const limited = await logIn(system, ADMIN, from("10.0.0.1"));
  const other = await logIn(system, ADMIN, from("10.0.0.2"));
  await clock.advance(12_000);
  const later = await logIn(system, ADMIN, from("10.0.0.1"));

  assert.deepEqual([limited.status, other.status, later.status], [429, 200, 200]);
  assert.equal(limited.headers.get("retry-after"), "12");
  assert.equal((await problemOf(limited)).detail, "Too many logins failed: try again in 12 s");
});

Deno.test("POST /login and /logout refuse what a page of another site sends", async () => {
  await using system = await running(TOKENS);
  const cookie = cookieOf(await logIn(system, ADMIN));

  for (const path of ["/login", "/logout"]) {
    for (
      const headers of [
        { origin: "https://evil.example" },
        { origin: "null" },
        { origin: HOST, "sec-fetch-site": "cross-site" },
        { "sec-fetch-site": "same-site" },
      ]
    ) {
      const response = await system.app.request(path, {
        method: "POST",
        headers: { "content-type": "application/json", cookie, ...headers },
        body: JSON.stringify({ token: ADMIN }),
      });
      assert.equal(response.status, 403, `${path} ${JSON.stringify(headers)}`);
      assert.equal(
        (await problemOf(response)).detail,
        "Another site made this request: log in on this site's own page",
      );
    }
  }
});

Deno.test("guard() answers 403 to a write by a session, unless a page of this site sends it", async () => {
  await using system = await running(TOKENS);
  const cookie = cookieOf(await logIn(system, ADMIN));
  const write = async (headers: Record<string, string>) =>
    await system.app.request("/api/pools/mail/jobs", {
      method: "POST",
      headers: { "content-type": "application/json", cookie, ...headers },
      body: JSON.stringify({ lane: "urgent", payload: 1 }),
    });

  const refused = [
    await write({}),
    await write({ origin: "https://evil.example" }),
    await write({ origin: HOST, "sec-fetch-site": "cross-site" }),
  ];
  const taken = [
    await write({ origin: HOST }),
    await write({ origin: "https://queue.example", "sec-fetch-site": "same-origin" }), // by a proxy
    await write({ authorization: `Bearer ${ADMIN}` }), // no browser sends that by itself
  ];

  assert.deepEqual(refused.map(({ status }) => status), [403, 403, 403]);
  assert.deepEqual(taken.map(({ status }) => status), [202, 202, 202]);
  assert.equal(
    (await problemOf(refused[0] ?? new Response())).detail,
    "Another site made this request: a login counts only for this site's pages",
  );
});

Deno.test("guard() goes by the token alone, when there are a token and a session", async () => {
  await using system = await running(TOKENS);
  const cookie = cookieOf(await logIn(system, ADMIN));

  const response = await system.app.request("/api/pools", {
    headers: { cookie, authorization: "Bearer not-the-token-at-all" },
  });

  assert.equal(response.status, 401);
});

Deno.test("POST /logout ends the session, also where its cookie was copied to", async () => {
  await using system = await running(TOKENS);
  const cookie = cookieOf(await logIn(system, ADMIN));

  const out = await system.app.request("/logout", { method: "POST", headers: own(cookie) });
  const after = await system.app.request("/api/pools", { headers: { cookie } });

  assert.deepEqual([out.status, await out.json()], [200, { loggedOut: true }]);
  assert.match(out.headers.get("set-cookie") ?? "", /^sluice_session=; Max-Age=0; Path=\/$/);
  assert.equal(after.status, 401);
});

Deno.test("A session ends after twelve hours", async () => {
  const clock = new VirtualClock();
  await using system = await running({ ...TOKENS, clock });
  const cookie = cookieOf(await logIn(system, ADMIN));
  const look = async () => (await system.app.request("/api/pools", { headers: { cookie } })).status;

  const before = await look();
  await clock.advance(12 * 3_600_000);

  assert.deepEqual([before, await look()], [200, 401]);
});

Deno.test("GET /login shows a form that works without a script, under a strict policy", async () => {
  await using system = await running(TOKENS);

  const page = await system.app.request("/login");
  const text = await page.text();
  const style = await system.app.request("/assets/style.css");

  assert.equal(page.status, 200);
  assert.match(text, /<form class="login" method="post" action="\/login">/);
  assert.doesNotMatch(text, /<script(?! src="\/assets\/theme\.js">)| style="| on\w+="/);
  const policy = page.headers.get("content-security-policy") ?? "";
  assert.match(policy, /default-src 'none'; script-src 'self'; style-src 'self';/);
  assert.match(policy, /form-action 'self'; frame-ancestors 'none'/);
  assert.doesNotMatch(policy, /unsafe/);
  assert.deepEqual([style.status, style.headers.get("content-type")], [
    200,
    "text/css; charset=utf-8",
  ]);
});

Deno.test("The login form leads to the start page, or says on the page what is wrong", async () => {
  await using system = await running(TOKENS);
  const submit = async (token: string) =>
    await system.app.request("/login", {
      method: "POST",
      headers: { "content-type": "application/x-www-form-urlencoded", origin: HOST },
      body: new URLSearchParams({ token }),
    });

  const wrong = await submit("<script>");
  const right = await submit(ADMIN);

  assert.equal(wrong.status, 401);
  assert.match(await wrong.text(), /role="alert">Unknown token/);
  assert.deepEqual([right.status, right.headers.get("location")], [303, "/"]);
  const start = await system.app.request("/", { headers: { cookie: cookieOf(right) } });
  assert.equal(start.status, 200);
  await start.body?.cancel();
});

Deno.test("A browser without a session is sent to the login, wherever the app is mounted", async () => {
  await using system = await running(TOKENS);
  const outer = new Hono().route("/ops/queue", system.app);
  const headers = { accept: "text/html,application/xhtml+xml" };

  const root = await system.app.request("/", { headers });
  const mounted = await outer.request("/ops/queue", { headers });
  const login = await outer.request("/ops/queue/login", {
    method: "POST",
    headers: { "content-type": "application/x-www-form-urlencoded" },
    body: new URLSearchParams({ token: ADMIN }),
  });
  const page = await outer.request("/ops/queue/login");

  assert.deepEqual([root.status, root.headers.get("location")], [303, "/login"]);
  assert.deepEqual([mounted.status, mounted.headers.get("location")], [303, "/ops/queue/login"]);
  assert.equal(login.headers.get("location"), "/ops/queue");
  assert.match(login.headers.get("set-cookie") ?? "", /; Path=\/ops\/queue; HttpOnly/);
  assert.match(await page.text(), /action="\/ops\/queue\/login"/);
});

Deno.test("The login leads back to the page that was asked for, also after a wrong token", async () => {
  await using system = await running(TOKENS);
  const outer = new Hono().route("/ops", system.app);
  const form = { "content-type": "application/x-www-form-urlencoded", origin: HOST };
  const wanted = "/ops/jobs?pool=mail&match=a%26b";

  const asked = await outer.request(wanted, { headers: { accept: "text/html" } });
  const login = asked.headers.get("location") ?? "";
  const page = await (await outer.request(login)).text();
  const action = /<form [^>]*action="([^"]+)"/.exec(page)?.[1]?.replaceAll("&amp;", "&") ?? "";
  const submit = async (token: string) =>
    await outer.request(action, {
      method: "POST",
      headers: form,
      body: new URLSearchParams({ token }),
    });
  const wrong = await (await submit("nobody's")).text();
  const right = await submit(ADMIN);

  assert.equal(login, `/ops/login?next=${encodeURIComponent(wanted)}`);
  assert.ok(wrong.includes(`action="${action}"`), wrong);
  assert.deepEqual([right.status, right.headers.get("location")], [303, wanted]);
});

for (
  const next of [
    "//evil.example/",
    "https://evil.example/",
    "https:evil.example",
    "/\\evil.example",
    "\\\\evil.example",
    "/.//evil.example",
    "/..//evil.example",
    "/ops/..//evil.example",
    "\t//evil.example",
    "/\t/evil.example",
    "javascript:alert(1)",
    "data:text/html,x",
    "http://nowhere.invalid//evil.example",
    "/elsewhere",
    "/opsy",
    "/ops/login",
    "jobs",
    "",
  ]
) {
  Deno.test(`The login leads to the start page, when next is ${JSON.stringify(next)}`, async () => {
    await using system = await running(TOKENS);
    const outer = new Hono().route("/ops", system.app);

    for (const [app, start] of [[outer, "/ops"], [system.app, "/"]] as const) {
      const base = start === "/" ? "" : start;
      const response = await app.request(`${base}/login?next=${encodeURIComponent(next)}`, {
        method: "POST",
        headers: { "content-type": "application/x-www-form-urlencoded", origin: HOST },
        body: new URLSearchParams({ token: ADMIN }),
      });

      const to = response.headers.get("location") ?? "";
      assert.equal(response.status, 303);
      // Without a mount every path of this origin is one of the app.
      if (start === "/ops") assert.equal(to, start);
      else assert.match(to, /^\/(?![\/\\])/);
      assert.equal(new URL(to, "http://localhost/ops").origin, "http://localhost");
    }
  });
}

Deno.test("There is no login without tokens", async () => {
  await using system = await running();

  assert.equal((await logIn(system, "anything-at-all-0123")).status, 404);
});

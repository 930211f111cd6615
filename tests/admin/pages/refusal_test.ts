import assert from "node:assert/strict";
import { Hono } from "hono";
import { problemOf, running } from "../_app.ts";

const ADMIN = "admin-token-0123456789";
const BROWSER = { accept: "text/html,application/xhtml+xml,*/*;q=0.8" };
const ELSEWHERE = { remoteAddr: { transport: "tcp", hostname: "192.0.2.7", port: 5000 } };

Deno.test("A browser on another machine is shown what is missing, and programs get the problem", async () => {
  await using system = await running();
  const open = async (path: string, headers = {}): Promise<Response> =>
    await system.app.request(path, { headers }, ELSEWHERE);

  const response = await open("/pools/mail", BROWSER);
  const page = await response.text();
  const program = await open("/pools/mail");
  const api = await open("/api/pools", BROWSER);

  assert.equal(response.status, 403);
  assert.match(response.headers.get("content-type") ?? "", /^text\/html/);
  assert.match(response.headers.get("content-security-policy") ?? "", /default-src 'none'/);
  assert.match(page, /<h1>Only this machine has access<\/h1>/);
  assert.match(page, /Without a token, only this machine has access: set admin\.tokens/);
  assert.match(page, /&quot;tokens&quot;: \{ &quot;admin&quot;: \{ &quot;env&quot;/);
  assert.doesNotMatch(page, /<nav|frame\.js/); // there is nowhere to go
  for (const answer of [program, api]) assert.equal((await problemOf(answer)).status, 403);
});

Deno.test("A browser that uses another name is shown the address that is answered, wherever the app is mounted", async () => {
  await using system = await running();
  const outer = new Hono().route("/queue", system.app);
  const url = "http://queue.example:8787/queue/jobs?state=dead&match=%3Cb%3E";

  const response = await outer.request(url, { headers: BROWSER });
  const page = await response.text();

  assert.equal(response.status, 421);
  assert.match(page, /<h1>This host name is not allowed<\/h1>/);
  assert.match(page, /The host name &quot;queue\.example&quot; is not allowed without a token/);
  const here = "http://127.0.0.1:8787/queue/jobs?state=dead&amp;match=%3Cb%3E";
  assert.ok(page.includes(`<a href="${here}">${here}</a>`), page);
  assert.match(page, /&quot;allowedHosts&quot;: \[&quot;NAME&quot;\]/);
  assert.match(page, /href="\/queue\/assets\/style\.css"/);
  assert.equal((await problemOf(await outer.request(url))).status, 421);
});

Deno.test("A browser that sends a token that is not known is shown the way to the login, with the challenge", async () => {
  await using system = await running({ adminToken: ADMIN });
  const headers = { ...BROWSER, authorization: "Basic bWU6c2VjcmV0" };

  const response = await system.app.request("/", { headers });
  const page = await response.text();

  assert.equal(response.status, 401);
  assert.match(response.headers.get("www-authenticate") ?? "", /^Bearer realm="sluice", error=/);
  assert.match(page, /<h1>Access denied<\/h1>/);
  assert.match(page, /Expected a bearer token/);
  assert.match(page, /<a href="\/login">log in here<\/a>/);
});

Deno.test("A browser that opens what only takes other methods is shown so", async () => {
  await using system = await running({ adminToken: ADMIN });
  const login = await system.app.request("/login", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ token: ADMIN }),
  });
  const cookie = (login.headers.get("set-cookie") ?? "").split(";")[0] ?? "";

  const response = await system.app.request("/logout", { headers: { ...BROWSER, cookie } });
  const page = await response.text();
  const program = await system.app.request("/logout", { headers: { cookie } });

  assert.deepEqual([response.status, response.headers.get("allow")], [405, "POST"]);
  assert.match(page, /<h1>Not a page<\/h1>/);
  assert.match(page, /\/logout is not a page: it only accepts POST\./);
  assert.match(page, /<a href="\/">All pools<\/a>/);
  assert.equal((await problemOf(program)).status, 405);
});

import assert from "node:assert/strict";
import type { AdminOptions } from "../../../src/admin/mod.ts";
import type { PoolEvent } from "../../../src/contract/event.ts";
import { type Running, running } from "../_app.ts";

const ADMIN = "admin-token-0123456789";

type Audit = Extract<PoolEvent, { readonly kind: "audit" }>;

/** What is written down of `run`: by observers, and in the log. */
async function audited(
  options: AdminOptions,
  run: (system: Running) => Promise<unknown>,
): Promise<{ readonly events: readonly Audit[]; readonly lines: readonly unknown[] }> {
  const events: Audit[] = [];
  const lines: unknown[] = [];
  await using system = await running({
    ...options,
    log: { debug() {}, warn() {}, error() {}, info: (...line) => lines.push(line) },
  });
  system.sluice.observe((event) => void (event.kind === "audit" && events.push(event)));
  await run(system);
  return { events, lines };
}

function told({ kind: _, atMs: __, ...rest }: Audit): Omit<Audit, "kind" | "atMs"> {
  return rest;
}

Deno.test("Each write is audited: who, what, before and after", async () => {
  const { events, lines } = await audited({}, async (system) => {
    const { send } = system;
    await send("POST", "/api/pools/mail/pause", { lane: "batch" });
    await send("POST", "/api/pools/mail/resume");
    await send("PUT", "/api/pools/mail/override", { max: 2, expiresInMs: 60_000 });
    await send("DELETE", "/api/pools/mail/override");
    const { id } = await (await send("POST", "/api/pools/mail/jobs", {
      lane: "batch",
      payload: 1,
    })).json();
    await send("POST", `/api/jobs/${id}/cancel`);
    await send("DELETE", `/api/jobs/${id}`);
    await send("POST", "/api/pools/mail/drain", { deadlineMs: 1 });
  });

  const pool = "mail";
  const who = "local";
  const [pause, resume, override, overrideEnd, cancel, discard, drain] = events.map(told);
  assert.deepEqual(pause, {
    pool,
    who,
    action: "pause",
    target: "batch",
    before: { paused: false },
    after: { paused: true },
  });
  assert.deepEqual(resume, {
    pool,
    who,
    action: "resume",
    before: { paused: false },
    after: { paused: false },
  });
  const { untilMs, ...bounds } = override?.after as { untilMs: number }; // as the route answers it
  assert.ok(untilMs > 0);
  assert.deepEqual(bounds, { max: 2 });
  assert.equal(override?.action, "override");
  assert.deepEqual([overrideEnd?.action, overrideEnd?.before], ["override-end", override?.after]);
  assert.deepEqual([cancel?.action, cancel?.before, cancel?.after], [
    "cancel",
    "ready",
    "cancelled",
  ]);
  assert.deepEqual([discard?.action, discard?.before, discard?.after], [
    "discard",
    "cancelled",
    "removed",
  ]);
  assert.deepEqual([drain?.action, drain?.before, drain?.after], [
    "drain",
    { draining: false },
    { draining: true },
  ]);
  assert.equal(events.length, 7);
  assert.deepEqual(lines, events.map((event) => ["Changed through the admin API", told(event)]));
});

Deno.test("What is refused or only read is not audited", async () => {
  const { events } = await audited({}, async (system) => {
    await system.send("GET", "/api/pools");
    await system.send("POST", "/api/pools/mail/pause", { lane: "none" });
    await system.send("PUT", "/api/pools/mail/override", { max: 99, expiresInMs: 1 });
    await system.send("POST", "/api/jobs/none/cancel");
    await system.app.request("/api/pools/mail/pause", {
      method: "POST",
      headers: { host: "evil.example" },
    });
  });

  assert.deepEqual(events, []);
});

Deno.test("An audit tells how someone was known and from where, and never a secret", async () => {
  const env = { remoteAddr: { transport: "tcp", hostname: "10.0.0.1", port: 1 } };
  const { events, lines } = await audited({ adminToken: ADMIN }, async ({ app }) => {
    await app.request("/api/pools/mail/pause", {
      method: "POST",
      headers: { authorization: `Bearer ${ADMIN}` },
    }, env);
    const login = await app.request("/login", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ token: ADMIN }),
    }, env);
    const cookie = login.headers.get("set-cookie")?.split(";")[0] ?? "";
    const headers = { cookie, "sec-fetch-site": "same-origin" };
    await app.request("/api/pools/mail/resume", { method: "POST", headers }, env);
    await app.request("/logout", { method: "POST", headers }, env);
  });

  const [token, login, session, logout] = events;
  assert.equal(token?.who, "admin by token from 10.0.0.1");
  assert.match(login?.who ?? "", /^admin by session [\w-]{12} from 10\.0\.0\.1$/);
  assert.deepEqual([login?.action, logout?.action], ["login", "logout"]);
  assert.deepEqual([session?.who, logout?.who], [login?.who, login?.who]);
  assert.doesNotMatch(JSON.stringify([events, lines]), new RegExp(ADMIN));
});

Deno.test("An audit hides listed fields", async () => {
  const { events, lines } = await audited({ redact: ["paused"] }, async (system) => {
    await system.send("POST", "/api/pools/mail/pause");
  });

  assert.deepEqual(events[0]?.after, { paused: "[redacted]" });
  assert.doesNotMatch(JSON.stringify(lines), /true/);
});

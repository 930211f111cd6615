import assert from "node:assert/strict";
import type { PoolEvent } from "../../src/contract/event.ts";
import { sluice } from "../cli/_io.ts";
import { served } from "../cli/_served.ts";
import { problemOf, type Running, running } from "./_app.ts";

/** Opens the breaker of a key of pool `typed`, and that of pool `mail`. */
async function refused({ sluice, clock }: Running): Promise<void> {
  const payload = { refuse: 20_000 };
  sluice.post("typed", { lane: "only", type: "send", key: 'ac"me & Söhne', payload });
  sluice.post("typed", { lane: "only", type: "send", payload });
  for (let index = 0; index < 3; index++) sluice.post("mail", { lane: "urgent", payload });
  await clock.advance(100);
}

Deno.test("GET a pool has its breakers, POST close-breaker closes one, and says who did", async () => {
  await using system = await running();
  const events: PoolEvent[] = [];
  system.sluice.observe((event) => void events.push(event));
  await refused(system);

  const { breakers, openKeys } = await (await system.send("GET", "/api/pools/typed")).json();
  assert.equal(openKeys, 2);
  assert.deepEqual(
    breakers.map((one: Record<string, unknown>) => [one.key, one.state, one.cause]),
    [
      ['ac"me & Söhne', "open", "overloaded"],
      ["", "open", "overloaded"],
    ],
  );
  const path = "/api/pools/typed/close-breaker";
  const close = async (body?: unknown): Promise<unknown> =>
    await (await system.send("POST", path, body)).json();
  const key = 'ac"me & Söhne';
  assert.deepEqual(await close({ key }), { pool: "typed", key, closed: true });
  assert.deepEqual(await close({ key }), { pool: "typed", key, closed: false });
  assert.deepEqual(await close({ key: "" }), { pool: "typed", key: "", closed: true });
  assert.deepEqual(await close(), { pool: "typed", key: null, closed: false });
  const mail = await (await system.send("POST", "/api/pools/mail/close-breaker", {})).json();
  assert.deepEqual(mail, { pool: "mail", key: null, closed: true });

  const ends = events.flatMap((event) => event.kind === "cooldown-ended" ? [event] : []);
  assert.deepEqual(ends.map((event) => [event.pool, event.key, event.by]), [
    ["typed", key, "hand"],
    ["typed", "", "hand"],
    ["mail", undefined, "hand"],
  ]);
  const audits = events.flatMap((event) => event.kind === "audit" ? [event] : []);
  assert.deepEqual([audits[0]?.action, audits[0]?.after], [
    "close-breaker",
    { closed: true, of: "a key" },
  ]);
});

Deno.test("POST close-breaker refuses what is no key", async () => {
  await using system = await running();

  for (const key of [1, null, "x".repeat(1025)]) {
    const answer = await system.send("POST", "/api/pools/typed/close-breaker", { key });
    assert.equal(answer.status, 400);
    assert.equal((await problemOf(answer)).errors?.[0]?.pointer, "/key");
  }
});

Deno.test("The page of a pool shows its breakers, each with a button, quoted as a shell needs it", async () => {
  await using system = await running();
  await refused(system);
  const page = async (name: string): Promise<string> =>
    await (await system.send("GET", `/pools/${name}`)).text();

  const typed = await page("typed");
  assert.match(typed, /Jobs of the key &quot;ac&quot;me &amp; Söhne&quot; wait for \d+ ms, since/);
  assert.match(typed, /Jobs without a key wait for/);
  assert.match(typed, /the receiver refused 1 job in a row: one tries again in \d+/);
  assert.match(typed, /sluice pools close-breaker typed --key &#39;ac&quot;me &amp; Söhne&#39;/);
  assert.match(typed, /sluice pools close-breaker typed --key &#39;&#39;/);
  const mail = await page("mail");
  assert.match(mail, /All jobs wait for/);
  assert.match(mail, /data-path="\/api\/pools\/mail\/close-breaker"/);
  assert.doesNotMatch(
    await page("mail").then((text) => text.replace(/id="breakers".*/s, "")),
    /--key/,
  );
});

Deno.test("pools close-breaker closes that of the pool or of a key, and pools describe shows them", async () => {
  await using remote = await served();
  await refused(remote.system);

  const shown = await remote.run(["pools", "describe", "typed"]);
  const mail = await remote.run(["pools", "close-breaker", "mail"]);
  const again = await remote.run(["pools", "close-breaker", "mail"]);
  const key = await remote.run(["pools", "close-breaker", "typed", "--key", 'ac"me & Söhne']);

  assert.match(shown.out, /2 keys held/);
  assert.match(shown.out, /^Jobs without a key wait for \d+ ms, since the receiver refused 1 job/m);
  assert.equal(mail.out, 'Pool "mail": jobs start again\n');
  assert.equal(again.out, 'Pool "mail": no circuit breaker is open\n');
  assert.equal(key.out, 'The key "ac"me & Söhne" of pool "typed": jobs start again\n');
  assert.equal((await sluice(["pools", "close-breaker", "--help"])).code, 0);
});

Deno.test("A job says that the receiver of its key refuses jobs, until when", async () => {
  await using system = await running();
  await refused(system);
  const accepted = await system.send("POST", "/api/pools/typed/jobs", {
    lane: "only",
    type: "send",
    key: 'ac"me & Söhne',
    payload: 1,
  });
  const { id } = await accepted.json();
  await system.clock.advance(10);

  const { waiting } = await (await system.send("GET", `/api/jobs/${id}/waiting`)).json();
  assert.equal(waiting.holds[0].code, "cooldown");
  assert.match(
    waiting.holds[0].detail,
    /^The receiver of its key refuses jobs: one job tries again in/,
  );
  assert.equal(waiting.basis, "Unknown: depends on the receiver");
});

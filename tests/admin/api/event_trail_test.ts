import assert from "node:assert/strict";
import { EventTrail } from "../../../src/admin/api/event_trail.ts";
import type { EventJson, PastEventsJson } from "../../../src/admin/http/wire.ts";
import type { Observer, PoolEvent } from "../../../src/contract/event.ts";
import { type Running, running } from "../_app.ts";

async function past(system: Running, query = ""): Promise<PastEventsJson> {
  return await (await system.send("GET", `/api/events/past${query}`)).json();
}

function kindsOf(events: readonly EventJson[]): readonly string[] {
  return events.map(({ kind, pool }) => `${kind} ${pool}`);
}

Deno.test("GET /api/events/past has what people and the system did, newest first", async () => {
  await using system = await running();
  const { clock, send } = system;
  await send("POST", "/api/pools/mail/pause", { lane: "batch" });
  await system.sluice.pool("typed").pause(); // by code: nobody is to be named
  await clock.advance(1_000);
  await send("POST", "/api/pools/mail/jobs", { lane: "urgent", payload: 1 });
  await clock.advance(1_000);
  await send("PUT", "/api/pools/mail/override", { max: 1, expiresInMs: 10_000 });
  await clock.advance(20_000);

  const all = await past(system);
  const audits = await past(system, "?kind=audit&limit=1");
  const later = await past(system, `?sinceMs=${Date.UTC(2026, 0, 1) + 1_500}&kind=audit`);

  assert.deepEqual(kindsOf(all.events), [
    "override-ended mail",
    "audit mail",
    "paused typed",
    "audit mail",
  ]);
  assert.deepEqual([audits.events.length, later.events.length], [1, 1]);
  assert.equal(all.keptSinceMs, Date.UTC(2026, 0, 1));
  assert.deepEqual(kindsOf((await past(system, "?pool=typed")).events), ["paused typed"]);
});

Deno.test("GET /api/events/past hides what is redacted, and refuses what it does not know", async () => {
  await using system = await running();
  system.sluice.audit({ pool: "", who: "me", action: "x", after: { password: "hunter2" } });

  const response = await system.send("GET", "/api/events/past");
  const faulty = await system.send("GET", "/api/events/past?kind=audits&pool=male&since=1");

  assert.doesNotMatch(await response.text(), /hunter2/);
  assert.equal(faulty.status, 400);
  const { errors } = await faulty.json();
  assert.equal(errors.length, 3);
});

Deno.test("What is kept makes no event of a job: nobody observes those", async () => {
  await using system = await running();
  const seen: PoolEvent[] = [];
  const stop = system.sluice.observe((event) => void seen.push(event), { jobs: false });
  await system.send("POST", "/api/pools/mail/jobs", { lane: "urgent", payload: 1 });
  await system.clock.advance(1_000);
  await system.send("POST", "/api/pools/mail/pause", {});
  stop();
  await system.send("POST", "/api/pools/mail/resume", {});

  assert.deepEqual(seen.map(({ kind }) => kind), ["paused", "audit"]);
});

Deno.test("An event that comes often pushes out none of another kind, and a trail ends with its server", () => {
  let tell: Observer = () => {};
  let ended = 0;
  const stop = new AbortController();
  const trail = new EventTrail(
    (observer) => {
      tell = observer;
      return () => void ended++;
    },
    5,
    stop.signal,
  );
  const all = { pools: [], kinds: [], sinceMs: 0, limit: 1_000 };
  tell({ kind: "draining", atMs: 1, pool: "a" });
  for (let atMs = 0; atMs < 1_000; atMs++) tell({ kind: "store-recovered", atMs, pool: "a" });
  stop.abort();

  const kept = trail.list(all);
  assert.equal(kept.length, 201);
  assert.deepEqual([kept[0]?.atMs, kept.at(-1)?.kind], [999, "draining"]);
  assert.deepEqual([ended, trail.sinceMs], [1, 5]);
});

import assert from "node:assert/strict";
import { EndWaiters } from "../../../src/admin/api/ends.ts";
import type { Observer, PoolEvent } from "../../../src/contract/event.ts";
import type { JobRecord } from "../../../src/contract/job.ts";
import { VirtualClock } from "../../../src/time/virtual_clock.ts";
import { problemOf, running } from "../_app.ts";

function record(state: JobRecord["state"]): JobRecord {
  return {
    id: "j1",
    pool: "mail",
    lane: "urgent",
    type: "",
    payload: null,
    createdAtMs: 0,
    dueAtMs: 0,
    attempt: 1,
    state,
  };
}

function watched(state: () => JobRecord | undefined, signal?: AbortSignal) {
  const clock = new VirtualClock();
  const observers = new Set<Observer>();
  let looks = 0;
  const ends = new EndWaiters({
    observe: (observer) => {
      observers.add(observer);
      return () => observers.delete(observer);
    },
    find: () => {
      looks++;
      return Promise.resolve(state());
    },
    clock,
    signal,
  });
  const tell = (event: PoolEvent): void => observers.forEach((observer) => observer(event));
  return { ends, clock, observers, tell, looks: () => looks };
}

Deno.test("until() answers when the end is told, and observes only while it waits", async () => {
  let job = record("running");
  const { ends, clock, observers, tell } = watched(() => job);

  const answer = ends.until("j1", 60_000);
  await clock.advance(10);
  const during = observers.size;
  job = record("done");
  tell({
    kind: "job-done",
    atMs: 0,
    pool: "mail",
    lane: "urgent",
    id: "other",
    attempt: 1,
    serviceMs: 1,
  });
  tell({
    kind: "job-done",
    atMs: 0,
    pool: "mail",
    lane: "urgent",
    id: "j1",
    attempt: 1,
    serviceMs: 1,
  });

  assert.equal((await answer)?.state, "done");
  assert.deepEqual([during, observers.size], [1, 0]);
});

Deno.test("until() looks every second at what another process may have ended", async () => {
  let job = record("ready");
  const { ends, clock, looks } = watched(() => job);

  const answer = ends.until("j1", 60_000);
  await clock.advance(2_500);
  job = record("dead");
  await clock.advance(500);

  assert.equal((await answer)?.state, "dead");
  assert.equal(looks(), 4);
});

Deno.test("until() answers what there is when the time is over or the server stops", async () => {
  const stopping = new AbortController();
  const late = watched(() => record("running"));
  const stopped = watched(() => record("ready"), stopping.signal);

  const answers = [late.ends.until("j1", 300), stopped.ends.until("j1", 60_000)];
  await late.clock.advance(300);
  stopping.abort();

  const states = (await Promise.all(answers)).map((job) => job?.state);
  assert.deepEqual(states, ["running", "ready"]);
  assert.deepEqual([late.observers.size, stopped.observers.size], [0, 0]);
});

Deno.test("until() without a wait looks once, and observes nothing", async () => {
  let asked = 0;
  const ends = new EndWaiters({
    observe: () => {
      asked++;
      return () => {};
    },
    find: () => Promise.resolve(record("running")),
    clock: new VirtualClock(),
  });

  assert.equal((await ends.until("j1", 0))?.state, "running");
  assert.equal(asked, 0);
});

Deno.test("until() answers undefined at once for a job that nobody knows", async () => {
  const { ends, observers } = watched(() => undefined);

  assert.equal(await ends.until("j1", 60_000), undefined);
  assert.equal(observers.size, 0);
});

Deno.test("GET /api/jobs/:id?waitMs= holds the answer until the job has ended", async () => {
  await using system = await running();
  const posted = await system.send("POST", "/api/pools/mail/jobs", {
    lane: "urgent",
    payload: { hang: true },
  });
  const { id } = await posted.json();

  const held = system.app.request(`/api/jobs/${id}?waitMs=60000`);
  await system.clock.advance(1);
  const now = await (await system.app.request(`/api/jobs/${id}`)).json();
  system.release();

  assert.deepEqual([now.state, (await (await held).json()).state], ["running", "done"]);
});

Deno.test("GET /api/jobs/:id refuses what is no time, and queries it does not know", async () => {
  await using system = await running();

  const response = await system.app.request("/api/jobs/x?waitMs=soon&wait=1");

  assert.deepEqual((await problemOf(response)).errors, [
    { pointer: "?wait", detail: 'No query parameter is named "wait": expected "waitMs"' },
    {
      pointer: "?waitMs",
      detail: 'Expected waitMs to be a whole number >= 0 but received "soon"',
    },
  ]);
});

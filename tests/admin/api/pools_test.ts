import assert from "node:assert/strict";
import { routeDocs } from "../../../src/admin/openapi/document.ts";
import { problemOf, running } from "../_app.ts";

Deno.test("GET pools shows every pool with its lanes and latest decision", async () => {
  await using system = await running();
  await system.clock.advance(100);

  const response = await system.send("GET", "/api/pools");
  const pools = await response.json();

  assert.deepEqual(pools.map((pool: { pool: string }) => pool.pool), ["mail", "typed"]);
  assert.deepEqual(pools[0].lanes.map((lane: { name: string }) => lane.name), [
    "urgent",
    "batch",
    "full",
  ]);
  assert.equal(typeof pools[0].decision.sentence, "string");
  assert.equal(response.headers.get("content-type"), "application/json");
});

Deno.test("GET pool writes what is unbounded as null", async () => {
  await using system = await running();
  await system.clock.advance(100);

  const pool = await (await system.send("GET", "/api/pools/mail")).json();

  assert.equal(pool.lanes[0].maxRunning, null);
  assert.equal(pool.lanes[1].targetWaitMs, null);
  assert.deepEqual(pool.size, { min: 1, max: 4 });
});

Deno.test("Routes of a pool answer 404, when there is none of that name", async () => {
  await using system = await running();

  const routes = routeDocs().filter(({ path }) => path.includes("/:pool"));
  for (const { method, path } of routes) {
    const response = await system.send(method, path.replace(":pool", "mial"));
    assert.equal(response.status, 404, path);
    assert.equal(
      (await problemOf(response)).detail,
      'No pool is named "mial": did you mean "mail"?',
    );
  }
  assert.ok(routes.length > 10, `${routes.length}`);
});

Deno.test("GET decisions gives the newest first, at most limit", async () => {
  await using system = await running();
  for (let index = 0; index < 20; index++) {
    await system.send("POST", "/api/pools/mail/jobs", { lane: "urgent", payload: { hang: true } });
  }
  await system.clock.advance(500);

  const all = await (await system.send("GET", "/api/pools/mail/decisions")).json();
  const one = await (await system.send("GET", "/api/pools/mail/decisions?limit=1")).json();

  assert.ok(all.length >= 2);
  assert.ok(all[0].atMs >= all[1].atMs);
  assert.equal(one.length, 1);
  assert.deepEqual(one[0], all[0]);
});

Deno.test("GET decisions answers 400 to a limit that is no number", async () => {
  await using system = await running();

  const response = await system.send("GET", "/api/pools/mail/decisions?limit=-5");

  assert.deepEqual((await problemOf(response)).errors, [{
    pointer: "?limit",
    detail: 'Expected limit to be a whole number >= 1 but received "-5"',
  }]);
});

Deno.test("GET history gives samples, oldest first, and with afterMs only those taken later", async () => {
  await using system = await running();
  await system.send("POST", "/api/pools/mail/jobs", { lane: "urgent", payload: { hang: true } });
  await system.clock.advance(3_500);
  const { pool, controller, samples } = await (await system.send("GET", "/api/pools/mail/history"))
    .json();
  const times: readonly number[] = samples.map(({ atMs }: { atMs: number }) => atMs);
  const after = async (atMs = 0): Promise<unknown> =>
    (await (await system.send("GET", `/api/pools/mail/history?afterMs=${Math.ceil(atMs)}`)).json())
      .samples;

  const later = await after(times[0]);
  const none = await after(times.at(-1));
  const wrong = await system.send("GET", "/api/pools/mail/history?afterMs=now&befor=1");

  assert.deepEqual([pool, controller], ["mail", "age-scaler"]);
  assert.ok(times.length >= 3);
  assert.deepEqual(times.toSorted((a, b) => a - b), times);
  assert.deepEqual(later, samples.slice(1));
  assert.equal(samples.at(-1).busy, 1);
  assert.equal(samples.at(-1).lanes[0].name, "urgent");
  assert.deepEqual(none, []);
  assert.deepEqual((await problemOf(wrong)).errors?.map(({ pointer }) => pointer), [
    "?befor",
    "?afterMs",
  ]);
});

Deno.test("POST pause stops a lane, POST resume lets it go on", async () => {
  await using system = await running();

  const paused = await system.send("POST", "/api/pools/mail/pause", { lane: "batch" });
  const held = await (await system.send("POST", "/api/pools/mail/jobs", {
    lane: "batch",
    payload: 1,
  })).json();
  await system.clock.advance(100);
  const before = await (await system.send("GET", `/api/jobs/${held.id}`)).json();
  const resumed = await system.send("POST", "/api/pools/mail/resume", { lane: "batch" });
  await system.clock.advance(100);
  const after = await (await system.send("GET", `/api/jobs/${held.id}`)).json();

  assert.deepEqual(await paused.json(), { pool: "mail", lane: "batch", paused: true });
  assert.deepEqual(await resumed.json(), { pool: "mail", lane: "batch", paused: false });
  assert.deepEqual([before.state, after.state], ["ready", "done"]);
});

Deno.test("POST pause without a body pauses the pool", async () => {
  await using system = await running();

  const response = await system.app.request("/api/pools/mail/pause", { method: "POST" });
  const pool = await (await system.send("GET", "/api/pools/mail")).json();

  assert.deepEqual(await response.json(), { pool: "mail", lane: null, paused: true });
  assert.equal(pool.paused, true);
});

Deno.test("POST pause answers 400 for a lane or field that does not exist", async () => {
  await using system = await running();

  const lane = await system.send("POST", "/api/pools/mail/pause", { lane: "bacth" });
  const field = await system.send("POST", "/api/pools/mail/pause", { lnae: "batch" });
  const list = await system.send("POST", "/api/pools/mail/pause", []);

  assert.deepEqual((await problemOf(lane)).errors, [
    { pointer: "/lane", detail: 'No lane is named "bacth": did you mean "batch"?' },
  ]);
  assert.deepEqual((await problemOf(field)).errors, [
    { pointer: "/lnae", detail: 'No field is named "lnae": did you mean "lane"?' },
  ]);
  assert.equal((await problemOf(list)).detail, "Expected an object but received an empty list");
});

Deno.test("PUT override holds other bounds, DELETE goes back", async () => {
  await using system = await running();

  const put = await system.send("PUT", "/api/pools/mail/override", {
    min: 2,
    max: 3,
    expiresInMs: 60_000,
  });
  await system.clock.advance(100);
  const during = await (await system.send("GET", "/api/pools/mail")).json();
  const removed = await system.send("DELETE", "/api/pools/mail/override");
  const after = await (await system.send("GET", "/api/pools/mail")).json();

  const { override } = await put.json();
  assert.deepEqual([override.min, override.max], [2, 3]);
  assert.equal(during.live, 2);
  assert.deepEqual(await removed.json(), { pool: "mail", override: null });
  assert.equal(after.override, undefined);
});

Deno.test("PUT override answers 400 for what is no whole number, and when it does not end", async () => {
  await using system = await running();

  const wrong = await system.send("PUT", "/api/pools/mail/override", {
    min: -1,
    max: 2.5,
    target: "3",
    expiresInMs: 10,
  });
  const endless = await system.send("PUT", "/api/pools/mail/override", { min: 1 });

  assert.deepEqual((await problemOf(wrong)).errors, [
    { pointer: "/min", detail: "Expected min to be a whole number >= 0 but received -1" },
    { pointer: "/max", detail: "Expected max to be a whole number >= 0 but received 2.5" },
    { pointer: "/target", detail: 'Expected target to be a whole number >= 0 but received "3"' },
  ]);
  assert.deepEqual((await problemOf(endless)).errors, [
    { pointer: "/expiresInMs", detail: "Say when the override ends: send expiresInMs" },
  ]);
});

Deno.test("PUT override answers 400 with the field at fault, when it does not fit the pool", async () => {
  await using system = await running();
  const wanted = (name: string, from: number, to: string, given: number): string =>
    `Expected override ${name} to be a whole number from ${from} to ${to} but received ${given}`;

  for (
    const [pointer, detail, body] of [
      ["/max", wanted("max", 0, "size.max (4)", 99), { max: 99 }],
      ["/min", wanted("min", 0, "max (2)", 3), { min: 3, max: 2 }],
      ["/target", wanted("target", 2, "max (4)", 1), { min: 2, target: 1 }],
      [
        "/expiresInMs",
        "Expected expiresInMs > 0 and at most 604800000 (7 days) but received 0: change the config for longer",
        { max: 1, expiresInMs: 0 },
      ],
      ["", "Expected an override with min, max or target but received none", {}],
    ] as const
  ) {
    const response = await system.send("PUT", "/api/pools/mail/override", {
      expiresInMs: 10,
      ...body,
    });

    assert.equal(response.status, 400);
    assert.deepEqual((await problemOf(response)).errors, [{ pointer, detail }]);
  }
});

Deno.test("POST drain lets running jobs end and reports what is left", async () => {
  await using system = await running();
  await system.send("POST", "/api/pools/mail/jobs", { lane: "full", payload: 1 });

  const response = await system.send("POST", "/api/pools/mail/drain", { deadlineMs: 10 });
  const later = await system.send("POST", "/api/pools/mail/jobs", { lane: "urgent", payload: 1 });

  assert.deepEqual(await response.json(), { handedBack: [], stuck: [], unstored: 0, waiting: 1 });
  assert.equal(later.status, 503);
});

Deno.test("Routes that steer a pool answer 409 once it was drained, and jobs are told", async () => {
  await using system = await running();
  await system.send("POST", "/api/pools/mail/drain", { deadlineMs: 10 });

  const answers = await Promise.all([
    system.send("POST", "/api/pools/mail/pause"),
    system.send("POST", "/api/pools/mail/resume"),
    system.send("POST", "/api/pools/mail/close-breaker"),
    system.send("PUT", "/api/pools/mail/override", { max: 1, expiresInMs: 10 }),
    system.send("DELETE", "/api/pools/mail/override"),
  ]);
  const job = await system.send("POST", "/api/pools/mail/jobs", { lane: "urgent", payload: 1 });
  const shown = await (await system.send("GET", "/api/pools/mail")).json();

  for (const response of answers) {
    assert.equal(response.status, 409);
    const { detail } = await problemOf(response);
    assert.equal(detail, 'Pool "mail" has stopped: only a restart makes it available again');
  }
  assert.equal(job.status, 503);
  const why = 'pool "mail" is stopping and accepts no jobs until the process restarts';
  assert.equal((await problemOf(job)).detail, `The job was rejected: ${why}`);
  assert.deepEqual([shown.draining, shown.stopped], [true, true]);
});

Deno.test("POST pause takes an empty body of no announced length, of any type", async () => {
  await using system = await running();

  for (const type of ["application/json", "text/plain"]) {
    const body = new ReadableStream<Uint8Array>({ start: (controller) => controller.close() });
    const response = await system.app.request("/api/pools/mail/pause", {
      method: "POST",
      headers: { "content-type": type },
      body,
    });

    assert.equal(response.status, 200, type);
  }
});

Deno.test("Routes answer 400 for a query parameter that does not exist", async () => {
  await using system = await running();
  const job = { lane: "urgent", payload: 1 };

  const answers = await Promise.all([
    system.send("GET", "/api/pools/mail/decisions?limt=3"),
    system.send("GET", "/api/pools/mail/jobs?limt=3"),
    system.send("GET", "/api/events?limt=3"),
    system.send("POST", "/api/pools/mail/jobs?limt=3", job),
    system.send("POST", "/api/pools/mail/jobs?limt=3", [job]),
    system.send("POST", "/api/reload?limt=3", {}),
  ]);

  for (const response of answers) {
    assert.equal(response.status, 400);
    assert.match((await problemOf(response)).detail, /^No query parameter is named "limt"/);
  }
});

Deno.test("Routes answer 400 for a query parameter that is given again, with its name", async () => {
  await using system = await running();
  const job = { lane: "urgent", payload: 1 };
  const detail = (name: string, times: number) =>
    `The query parameter "${name}" is given ${times} times: give it once`;

  for (
    const [name, times, method, path, body] of [
      ["limit", 2, "GET", "/api/pools/mail/decisions?limit=3&limit=4"],
      ["afterMs", 2, "GET", "/api/pools/mail/history?afterMs=3&afterMs=3"],
      ["lane", 3, "GET", "/api/pools/mail/jobs?lane=urgent&lane=batch&limit=3&lane=full"],
      ["waitMs", 2, "GET", "/api/jobs/any?waitMs=0&waitMs=1"],
      ["waitMs", 2, "POST", "/api/pools/mail/jobs?waitMs=0&waitMs=1", job],
      ["waitMs", 2, "POST", "/api/pools/mail/jobs?waitMs=0&waitMs=1", [job]],
      ["after", 2, "GET", "/api/events?pool=mail&pool=typed&after=1&after=2"],
      ["dryRun", 2, "POST", "/api/reload?dryRun=0&dryRun=1", {}],
    ] as const
  ) {
    const response = await system.send(method, path, body);

    assert.equal(response.status, 400, path);
    assert.deepEqual((await problemOf(response)).errors, [
      { pointer: `?${name}`, detail: detail(name, times) },
    ]);
  }
  for (const path of ["/jobs?lane=urgent&lane=batch", "/dead?pool=mail&pool=typed"]) {
    const page = await system.app.request(path);

    assert.equal(page.status, 400, path);
    assert.match(await page.text(), /is given 2 times: give it once/);
  }
});

Deno.test("Changes answer 400 for a query parameter, where they take none, and change nothing", async () => {
  await using system = await running();
  const delayed = await system.send("POST", "/api/pools/mail/jobs", {
    lane: "batch",
    payload: 1,
    delayMs: 60_000,
  });
  const { id }: { id: string } = await delayed.json();
  const inBody = 'No query parameter is named "lane": send it in the body';
  const leaveOut = 'No query parameter is named "lane": leave it out';

  for (
    const [detail, method, path, body] of [
      [inBody, "POST", "/api/pools/mail/pause", {}],
      [inBody, "POST", "/api/pools/mail/resume", {}],
      [inBody, "POST", "/api/pools/mail/close-breaker", {}],
      [inBody, "POST", "/api/pools/mail/drain", {}],
      [inBody, "PUT", "/api/pools/mail/override", { max: 1, expiresInMs: 1_000 }],
      [inBody, "POST", "/api/pools/mail/operations", { purge: true }],
      [leaveOut, "DELETE", "/api/pools/mail/override"],
      [leaveOut, "DELETE", "/api/operations/any"],
      [leaveOut, "POST", `/api/jobs/${id}/cancel`],
      [leaveOut, "POST", `/api/jobs/${id}/retry`],
      [leaveOut, "DELETE", `/api/jobs/${id}`],
    ] as const
  ) {
    const response = await system.send(method, `${path}?lane=urgent`, body);

    assert.equal(response.status, 400, path);
    assert.deepEqual((await problemOf(response)).errors, [{ pointer: "?lane", detail }]);
  }
  const { paused, override, draining } = system.sluice.pool("mail").snapshot();
  assert.deepEqual([paused, override, draining], [false, undefined, false]);
  assert.equal((await system.sluice.pool("mail").find(id))?.state, "delayed");
});

Deno.test("Routes answer 405 with what is allowed, where only the method is wrong", async () => {
  await using system = await running();

  const pause = await system.send("GET", "/api/pools/mail/pause");
  const override = await system.send("POST", "/api/pools/mail/override");
  const nowhere = await system.send("POST", "/api/pools/mail/nowhere");
  const nameless = await system.send("GET", "/api/pools/");

  assert.equal(pause.status, 405);
  assert.equal(pause.headers.get("allow"), "POST");
  assert.equal((await problemOf(pause)).detail, "Expected POST but received GET");
  assert.equal(override.headers.get("allow"), "PUT, DELETE");
  assert.equal(nowhere.status, 404);
  assert.equal(nameless.status, 404);
});

Deno.test("PUT override refuses what holds for more than a week", async () => {
  await using system = await running();
  const body = { max: 1, expiresInMs: 604_800_001 };

  const response = await system.send("PUT", "/api/pools/mail/override", body);

  assert.equal(
    (await problemOf(response)).detail,
    "Expected expiresInMs > 0 and at most 604800000 (7 days) but received 604800001: change the config for longer",
  );
});

Deno.test("GET pool shows times to three digits after the point", async () => {
  await using system = await running();
  await system.clock.advance(100.123456789);

  const text = await (await system.send("GET", "/api/pools/mail")).text();

  assert.doesNotMatch(text, /Ms":-?\d+\.\d{4,}/);
});

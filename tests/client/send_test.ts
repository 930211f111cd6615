import assert from "node:assert/strict";
import { connect, RejectedError, UnavailableError } from "../../src/client/mod.ts";
import { readRetryAfter } from "../../src/client/send.ts";
import { ANN, mail, type Pools } from "./_mail.ts";
import { dropping, json, scripted, still } from "./_server.ts";

Deno.test("enqueue() waits as long as a 429 says, and sends the same key again", async () => {
  await using server = scripted(
    json(429, { detail: "full", reason: "full", retryAfterMs: 1_500 }, { "retry-after": "2" }),
    json(429, "busy", { "retry-after": "3" }), // of a proxy
    json(202, { id: "a" }),
  );
  const { options, waits } = still();

  assert.deepEqual(await connect(server.url, options).enqueue("mail", ANN), {
    id: "a",
    duplicate: false,
  });
  assert.deepEqual(waits, [1_500, 3_000]);
  assert.equal(new Set(server.seen.map(({ key }) => key)).size, 1);
  assert.match(server.seen[0]?.key ?? "", /^[0-9a-f]{32}$/);
});

Deno.test("enqueue() throws RejectedError at once, if the wait is longer than it has", async () => {
  await using system = await mail();
  const { options, waits } = still();
  const client = connect<Pools>(system.url, options);
  await client.enqueue("mail", { lane: "full", payload: { to: "a" } });

  const full = client.enqueue("mail", { lane: "full", payload: { to: "b" } }, { deadlineMs: 900 });

  await assert.rejects(full, (error) => {
    assert.ok(error instanceof RejectedError);
    assert.equal(error.reason, 'lane "full" is at its maxDepth of 1');
    assert.equal(error.retryAfterMs, 1_000);
    return true;
  });
  assert.deepEqual(waits, []);
});

Deno.test("enqueue() waits twice as long each time while a server answers 503, and gives up", async () => {
  await using server = scripted(json(503, { detail: "draining" }));
  const { options, waits } = still({ attempts: 5, maxMs: 1_000 });

  const answer = connect(server.url, options).enqueue("mail", ANN, { idempotencyKey: "k" });

  await assert.rejects(answer, (error) => {
    assert.ok(error instanceof UnavailableError);
    assert.equal(error.message, `${server.url} answered 503 (draining): try again later`);
    assert.deepEqual([error.status, error.idempotencyKey], [503, "k"]);
    return true;
  });
  assert.deepEqual(waits, [100, 200, 400, 500]);
  assert.deepEqual(server.seen.map(({ key }) => key), ["k", "k", "k", "k", "k"]);
});

Deno.test("enqueue() heeds the Retry-After of a 503", async () => {
  await using server = scripted(
    json(503, {}, { "retry-after": "7" }),
    json(502, {}),
    json(504, {}),
    json(200, { id: "a", duplicateOf: "a" }),
  );
  const { options, waits } = still();

  assert.deepEqual(await connect(server.url, options).enqueue("mail", ANN), {
    id: "a",
    duplicate: true,
  });
  assert.deepEqual(waits, [7_000, 200, 400]);
});

Deno.test("enqueue() does not repeat what a server answers 500 to", async () => {
  await using server = scripted(json(500, { detail: "The server failed to answer" }));

  await assert.rejects(connect(server.url, still().options).enqueue("mail", ANN), {
    name: "UnavailableError",
    status: 500,
  });
  assert.equal(server.seen.length, 1);
});

Deno.test("enqueue() sends a job again when the connection was dropped before it arrived", async () => {
  await using system = await mail();
  await using proxy = dropping(system.url, { times: 2, after: false });
  const { options, waits } = still();
  const client = connect<Pools>(proxy.url, options);

  const { id, duplicate } = await client.enqueue("mail", ANN);
  await connect(system.url).wait(id);

  assert.equal(duplicate, false);
  assert.deepEqual(waits, [100, 200]);
  assert.deepEqual(system.ran, ["ann@example.com"]);
});

Deno.test("run() runs a job once when the connection was dropped after it arrived", async () => {
  await using system = await mail();
  await using proxy = dropping(system.url, { times: 3, after: true });
  const client = connect<Pools>(proxy.url, still().options);

  const { state, result } = await client.run("mail", ANN);

  assert.deepEqual([state, result], ["done", "sent to ann@example.com"]);
  assert.deepEqual(system.ran, ["ann@example.com"]);
});

Deno.test("connect() takes addresses of http and https, and paths, and nothing else", async () => {
  for (const url of ["ftp://x", "localhost:8787", "127.0.0.1:8787", "[::1]:8787", "file:///x"]) {
    assert.throws(() => connect(url), {
      name: "TypeError",
      message:
        `Expected an address that begins with http:// or https://, or a path, but received "${url}"`,
    });
  }
  for (const url of ["http://x?y=1", "/queue#jobs"]) {
    const message = `Expected an address without "?" and "#" but received "${url}"`;
    assert.throws(() => connect(url), { name: "TypeError", message });
  }
  for (const url of ["HTTP://x", "https://x/queue/", "", "/queue", "queue"]) {
    const asked: string[] = [];
    const fetch = (address: string): Promise<Response> => {
      asked.push(address);
      return Promise.resolve(Response.json({ id: "1" }));
    };

    await connect(url, { fetch }).enqueue("mail", ANN);

    assert.deepEqual(asked, [`${url.replace(/\/$/, "")}/api/pools/mail/jobs`]);
  }
});

Deno.test("enqueue() throws UnavailableError with the key, if nothing answers", async () => {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr as Deno.NetAddr; // of a TCP listener
  listener.close();
  const { options, waits } = still({ attempts: 3 });

  const answer = connect(`http://127.0.0.1:${port}`, options).enqueue("mail", ANN, {
    idempotencyKey: "k",
  });

  await assert.rejects(answer, (error) => {
    assert.ok(error instanceof UnavailableError);
    assert.match(
      error.message,
      /^Nothing answers at http:\/\/127.0.0.1:\d+ \(.+\): check that the system runs, and the address$/,
    );
    assert.deepEqual([error.status, error.idempotencyKey], [undefined, "k"]);
    return true;
  });
  assert.deepEqual(waits, [100, 200]);
});

for (
  const [what, token, idempotencyKey, message] of [
    [
      "key",
      "t",
      "order 😀",
      "Expected an idempotencyKey that a header can carry: encode it, such as by encodeURIComponent",
    ],
    [
      "token",
      "t\n",
      "k",
      "Expected a token that a header can carry: remove line breaks and non-ASCII characters",
    ],
  ] as const
) {
  Deno.test(`enqueue() throws a TypeError at once, when no header can carry its ${what}`, async () => {
    await using server = scripted(json(202, { id: "a" }));
    const { options, waits } = still({ token });

    const answer = connect(server.url, options).enqueue("mail", ANN, { idempotencyKey });

    await assert.rejects(answer, { name: "TypeError", message });
    assert.deepEqual([server.seen, waits], [[], []]);
  });
}

Deno.test("run() says how long it was to wait, when the time was over before the job was stored", async () => {
  await using server = scripted(json(202, { id: "a" }), json(200, { state: "running" }));
  let asked = 0;
  const time = { nowMs: () => 700 * asked++, after: () => () => {} };

  const answer = connect(server.url, { time }).run("mail", ANN, { deadlineMs: 500 });

  await assert.rejects(answer, {
    message: 'The job "a" has not ended within 500 ms: it continues, wait for it again by its id',
  });
});

Deno.test("enqueue() gives an attempt up that takes too long", async () => {
  await using server = scripted("silence", json(202, { id: "a" }));
  const time = still({ attempts: 1 });
  const client = connect(server.url, {
    ...time.options,
    fetch: (url, init) => {
      const answer = fetch(url, init);
      time.expire();
      return answer;
    },
  });

  await assert.rejects(client.enqueue("mail", ANN), {
    message:
      `${server.url} has not answered within 7777 ms: check that the system runs, and the address`,
  });
});

Deno.test("enqueue() throws the reason of its signal, in an attempt and between two", async () => {
  await using silent = scripted("silence");
  await using busy = scripted(json(503, {}));
  const time = still();

  const during = new AbortController();
  const sent = connect(silent.url, {
    ...time.options,
    fetch: (url, init) => {
      queueMicrotask(() => during.abort(new Error("gone")));
      return fetch(url, init);
    },
  }).enqueue("mail", ANN, { signal: during.signal });
  const between = new AbortController();
  time.onWait = () => between.abort(new Error("gone too"));
  const waiting = connect(busy.url, time.options).enqueue("mail", ANN, { signal: between.signal });

  await assert.rejects(sent, { message: "gone" });
  await assert.rejects(waiting, { message: "gone too" });
  assert.equal(busy.seen.length, 1);
});

Deno.test("readRetryAfter() reads seconds and dates, and nothing else", () => {
  const soon = new Date(Date.now() + 3_600_000).toUTCString();

  const late = readRetryAfter(soon) ?? 0;

  assert.ok(late > 3_500_000 && late <= 3_600_000);
  assert.deepEqual(
    ["7", "Sun, 06 Nov 1994 08:49:37 GMT", "soon", null].map(readRetryAfter),
    [7_000, 0, undefined, undefined],
  );
});

for (const status of [301, 302, 303, 307, 308]) {
  Deno.test(`enqueue() and wait() follow no redirect by ${status}: they say so at once`, async () => {
    const location = "/elsewhere";
    await using server = scripted(() => new Response(null, { status, headers: { location } }));
    const { options, waits } = still();
    const client = connect(server.url, options);
    const message = `${server.url} redirects elsewhere: pass the address that it redirects to`;

    await assert.rejects(client.enqueue("mail", ANN), { name: "RequestError", message, status });
    await assert.rejects(client.wait("a"), { name: "RequestError", message, status });

    assert.deepEqual([server.seen.length, waits], [2, []]);
  });
}

import assert from "node:assert/strict";
import { hc } from "hono/client";
import { type AdminApp, type EventJson, serveAdmin } from "../../../src/admin/mod.ts";
import { problemOf, running } from "../_app.ts";

const FREE = {
  hostname: "127.0.0.1",
  port: 0,
  adminToken: undefined,
  viewerToken: undefined,
  allowedHosts: [],
};

/** Reads messages of an event stream until one passes; then leaves. */
async function readUntil(
  response: Pick<Response, "body">,
  isLast: (message: string) => boolean,
): Promise<readonly string[]> {
  assert.ok(response.body !== null);
  let text = "";
  for await (const part of response.body.pipeThrough(new TextDecoderStream())) {
    text += part;
    const messages = text.split("\n\n").slice(0, -1);
    if (messages.some(isLast)) return messages;
  }
  return text.split("\n\n").slice(0, -1);
}

function dataOf(message: string): EventJson {
  return JSON.parse(/^data: (.*)$/m.exec(message)?.[1] ?? "null");
}

Deno.test("GET /api/events streams what happens, over a real socket", async () => {
  await using system = await running();
  const server = await serveAdmin(system.sluice, FREE);
  const client = hc<AdminApp>(server.url);

  const response = await client.api.events.$get({ query: { pool: "mail" } });
  assert.ok(response.status === 200);
  await system.sluice.enqueue("typed", { lane: "only", type: "send", payload: 1 });
  const job = await system.sluice.enqueue("mail", { lane: "urgent", payload: 1 });
  await job.done;
  const messages = await readUntil(response, (message) => message.includes("job-done"));
  await server.stop();

  assert.equal(response.headers.get("content-type"), "text/event-stream");
  assert.equal(response.headers.get("cache-control"), "no-store");
  assert.match(messages[0] ?? "", /^event: beat\n/);
  const events = messages.slice(1).map(dataOf);
  assert.deepEqual(
    events.filter((event) => event.kind.startsWith("job-")).map((event) => event.kind),
    ["job-added", "job-started", "job-done"],
  );
  assert.ok(events.every((event) => event.pool === "mail"));
});

Deno.test("GET /api/events tells the error of a job, and no stack: that is for those who may change it", async () => {
  await using system = await running();
  const stacks: unknown[] = [];
  system.sluice.observe((event) => void (event.kind === "job-dead" && stacks.push(event.stack)));
  const server = await serveAdmin(system.sluice, FREE);
  const response = await fetch(`${server.url}/api/events?kind=job-dead`);
  await system.sluice.enqueue("mail", { lane: "urgent", payload: { fail: "no route" } });
  await system.clock.advance(10);
  const messages = await readUntil(response, (message) => message.includes("job-dead"));
  await server.stop();

  assert.match(messages.join(), /"error":"no route"/);
  assert.doesNotMatch(messages.join(), /stack|_app\.ts/);
  assert.match(String(stacks[0]), /_app\.ts/);
});

Deno.test("GET /api/events goes on after Last-Event-ID, or ?after=", async () => {
  await using system = await running();
  const server = await serveAdmin(system.sluice, FREE);
  const url = `${server.url}/api/events?kind=paused&kind=resumed`;
  const first = await fetch(url);
  await system.sluice.pool("mail").pause("batch");
  const messages = await readUntil(first, (message) => message.includes('"paused"'));
  const id = /^id: (.*)$/m.exec(messages.at(-1) ?? "")?.[1] ?? "";
  await system.sluice.pool("mail").resume("batch");

  const byHeader = await fetch(url, { headers: { "last-event-id": id } });
  const byQuery = await fetch(`${url}&after=${id}`);
  const got = [
    await readUntil(byHeader, (message) => message.includes("beat")),
    await readUntil(byQuery, (message) => message.includes("beat")),
  ];
  await server.stop();

  for (const [first] of got) {
    assert.equal(dataOf(first ?? "").kind, "resumed");
  }
});

Deno.test("HEAD /api/events answers, and opens no stream", async () => {
  await using system = await running({ maxStreams: 1 });

  const head = await system.app.request("/api/events", { method: "HEAD" });
  const again = await system.app.request("/api/events", { method: "HEAD" });
  const get = await system.app.request("/api/events");

  assert.deepEqual([head.status, again.status, get.status], [200, 200, 200]);
  assert.equal(head.headers.get("content-type"), "text/event-stream");
  assert.equal(head.body, null);
  await get.body?.cancel();
});

Deno.test("GET /api/events answers 503 with a time to come back, when too many are open", async () => {
  await using system = await running({ maxStreams: 1 });

  const first = await system.app.request("/api/events");
  const second = await system.app.request("/api/events");
  await first.body?.cancel();
  const third = await system.app.request("/api/events");

  assert.deepEqual([first.status, second.status, third.status], [200, 503, 200]);
  assert.equal(second.headers.get("retry-after"), "10");
  assert.equal(
    (await problemOf(second)).detail,
    "There are 1 event streams already: close one, or poll snapshots instead",
  );
  await third.body?.cancel();
});

Deno.test("GET /api/events answers 400 for a pool or kind that does not exist", async () => {
  await using system = await running();

  const response = await system.app.request("/api/events?pool=mial&kind=job-ended");

  assert.deepEqual((await problemOf(response)).errors, [
    { pointer: "?pool", detail: 'No pool is named "mial": did you mean "mail"?' },
    {
      pointer: "?kind",
      detail: 'No kind of event is named "job-ended": did you mean "job-added"?',
    },
  ]);
});

Deno.test("GET /api/events answers 503, once the server stops", async () => {
  const stopping = new AbortController();
  await using system = await running({ signal: stopping.signal });
  stopping.abort();

  const response = await system.app.request("/api/events");

  assert.equal(response.status, 503);
  assert.equal(
    (await problemOf(response)).detail,
    "The server is stopping: no new event streams",
  );
});

Deno.test("serveAdmin() stops at once with ten streams open, each told of the end", async () => {
  await using system = await running();
  const server = await serveAdmin(system.sluice, FREE);
  const streams = await Promise.all(
    Array.from({ length: 10 }, () => fetch(`${server.url}/api/events`)),
  );
  const texts = streams.map((stream) => stream.text());

  await server.stop(); // cuts connections after 3 s: then a text would be rejected

  for (const text of await Promise.all(texts)) assert.match(text, /event: end\ndata: \{\}\n\n$/);
});

Deno.test("GET /api/events hides listed fields in what was changed", async () => {
  await using system = await running({ redact: ["password"] });
  const response = await system.app.request("/api/events?kind=audit");

  system.sluice.audit({
    pool: "mail",
    who: "admin",
    action: "test",
    before: { password: "hunter2", left: 1 },
  });
  const messages = await readUntil(response, (message) => message.includes("audit"));

  const { atMs: _, ...event } = dataOf(messages.at(-1) ?? "");
  assert.deepEqual(event, {
    pool: "mail",
    who: "admin",
    action: "test",
    before: { password: "[redacted]", left: 1 },
    kind: "audit",
  });
});

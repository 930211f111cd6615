import assert from "node:assert/strict";
import { RemoteConnection } from "../../../../stores/deno_kv/io/remote_connection.ts";
import { until, withServer } from "../_remote.ts";

const ANSWER_MS = 200;

/** A line to databases in memory, and how many were opened. */
async function withLine(
  test: (line: RemoteConnection, opened: () => number) => Promise<void>,
): Promise<void> {
  let opened = 0;
  const open = (): Promise<Deno.Kv> => {
    opened++;
    return Deno.openKv(":memory:");
  };
  const line = new RemoteConnection(await open(), { open, answerMs: ANSWER_MS });
  try {
    await test(line, () => opened);
  } finally {
    await line.close();
  }
}

/** An operation that fails so often, and then answers. */
function failing(times: number, message: string): () => Promise<number> {
  let calls = 0;
  return () => ++calls <= times ? Promise.reject(new Error(message)) : Promise.resolve(calls);
}

const BROKEN_OFF = "KV Connect failed to read response body: connection reset";
// What Deno up to 2.5 says of a token that has expired; later ones get another by themselves.
const LOCKED_OUT = "KV Connect failed to call 'http://x/' (status=401 Unauthorized): expired";

Deno.test("RemoteConnection reads again what broke off, some times", async () => {
  await withLine(async (line) => {
    assert.equal(await line.read(failing(3, BROKEN_OFF)), 4);
    await assert.rejects(line.read(failing(4, BROKEN_OFF)), { message: BROKEN_OFF });
    await assert.rejects(line.read(failing(1, "too many ranges")), { message: "too many ranges" });
  });
});

Deno.test("RemoteConnection opens another handle when it is not let in any more, and reads by that", async () => {
  await withLine(async (line, opened) => {
    const { kv } = line;

    assert.equal(await line.read(failing(1, LOCKED_OUT)), 2);

    assert.equal(opened(), 2);
    assert.notEqual(line.kv, kv);
  });
});

Deno.test("RemoteConnection calls nothing while nothing is answered, and goes on with a handle that is", async () => {
  let isOut = false;
  let handles = 0;
  const open = async (): Promise<Deno.Kv> => {
    handles++;
    if (isOut) throw new Error("refused");
    return await Deno.openKv(":memory:");
  };
  const line = new RemoteConnection(await open(), { open, answerMs: ANSWER_MS });
  const message = "The database has not answered for 0.2 s: check that it runs and that " +
    "this process can reach it";
  let calls = 0;
  const counted = (): Promise<number> => Promise.resolve(++calls);
  try {
    isOut = true;
    await assert.rejects(line.call(() => new Promise(() => {})), { message });
    await assert.rejects(line.call(counted), { message });
    assert.equal(calls, 0);
    isOut = false;

    await until(() => line.call(counted).then(() => true, () => false));

    assert.equal(calls, 1);
    assert.ok(handles > 2, "it tried again by itself");
  } finally {
    await line.close();
  }
});

Deno.test("RemoteConnection takes a late answer for the end of an outage", async () => {
  await withLine(async (line, opened) => {
    const late = Promise.withResolvers<string>();
    await assert.rejects(line.call(() => late.promise));
    late.resolve("late");

    assert.equal(await line.call(() => Promise.resolve("in time")), "in time");
    assert.ok(opened() >= 1);
  });
});

Deno.test("RemoteConnection sends no read before a large request while another one is on its way", async () => {
  await withServer({}, async (server) => {
    const open = (): Promise<Deno.Kv> => Deno.openKv(server.url);
    const line = new RemoteConnection(await open(), { open });
    const answered = Promise.withResolvers<void>();
    const pending = line.call(() => answered.promise);
    line.hurry(2000);
    answered.resolve();
    await pending;
    line.hurry(700);
    await line.call(() => line.kv.get(["a"]));
    assert.equal(server.requests.snapshot_read, 1);
    line.hurry(701);
    await until(() => server.requests.snapshot_read === 2);
    await line.call(() => line.kv.get(["a"])); // it has been answered too
    await line.close();
  });
});

import assert from "node:assert/strict";
import { join } from "node:path";
import type { ScenarioInput } from "../../src/simulate/mod.ts";
import { sluice, temporaryFolder } from "./_io.ts";

/** What a fake system says: its pool, then its streams, one after the other. */
function standIn(
  streams: readonly string[],
): AsyncDisposable & { readonly url: string; readonly asked: readonly (string | null)[] } {
  const asked: (string | null)[] = [];
  const lane = { name: "urgent", ready: 0, blocked: 0, meanServiceMs: 0 };
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, (request) => {
    if (!request.url.includes("/api/events")) {
      return Response.json({ pool: "mail", peers: 3, lanes: [lane] });
    }
    asked.push(request.headers.get("last-event-id"));
    const text = streams[asked.length - 1];
    return new Response(text ?? "event: end\ndata: {}\n\n");
  });
  return {
    url: `http://127.0.0.1:${server.addr.port}`,
    asked,
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}

function message(id: number, atMs: number, rest: object): string {
  const event = { atMs, pool: "mail", lane: "urgent", id: `job-${id}`, ...rest };
  return `id: x-${id}\ndata: ${JSON.stringify(event)}\n\n`;
}

const BEAT = 'event: beat\nid: x-0\ndata: {"atMs":1000}\n\n';

Deno.test("record goes on where its stream was cut off, and says when events are missing", async () => {
  await using folder = await temporaryFolder();
  await using system = standIn([
    BEAT + message(1, 1010, { kind: "job-added", dueAtMs: 1010 }) +
    message(1, 1012, { kind: "job-started", attempt: 1, waitMs: 2, worker: "w1" }),
    'event: gap\ndata: {"missed":7}\n\n' +
    message(2, 1030, { kind: "job-started", attempt: 1, waitMs: 5, worker: "w1" }) +
    message(2, 1040, { kind: "job-done", attempt: 1, serviceMs: 10 }) +
    "event: end\ndata: {}\n\n",
  ]);
  const file = join(folder.path, "scenario.json");

  const args = ["record", "mail", "--for", "1h", "--out", file, "--url", system.url];
  const { code, err } = await sluice(args);

  const scenario: ScenarioInput = JSON.parse(await Deno.readTextFile(file));
  assert.deepEqual(system.asked, [null, "x-1"]);
  assert.equal(code, 1);
  assert.equal(
    err,
    `Recorded 2 jobs in 40 ms to ${file}\n` +
      "1 job did not run to an end that was seen: a run time of the others is drawn\n" +
      "3 processes share mail: jobs of the other processes are missing from it\n" +
      "7 events or more did not reach the recorder: the scenario has gaps\n",
  );
  assert.equal(scenario.recorded?.missed, 7);
  assert.deepEqual(scenario.pools.mail?.lanes.urgent, {
    arrivals: { kind: "trace", atMs: [10, 25] },
    serviceMs: { kind: "trace", runs: [null, 10] },
  });
});

Deno.test("record says where it knows no run time", async () => {
  await using system = standIn([
    BEAT + message(1, 1010, { kind: "job-added", dueAtMs: 1010 }) + "event: end\ndata: {}\n\n",
  ]);

  const { code, out, err } = await sluice(["record", "mail", "--for", "1h", "--url", system.url]);

  assert.equal(code, 1);
  assert.match(err, /^No job of mail\/urgent has ended yet: replace the 0 by its run time$/m);
  assert.deepEqual(JSON.parse(out).pools.mail.lanes.urgent.serviceMs, { kind: "fixed", ms: 0 });
});

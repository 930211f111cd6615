import assert from "node:assert/strict";
import { start } from "../../mod.ts";
import { serveAdmin } from "../../src/admin/mod.ts";
import type { Job } from "../../src/contract/job.ts";
import type { Sluice } from "../../src/runtime/handles.ts";
import { VirtualClock } from "../../src/time/virtual_clock.ts";
import { running } from "../admin/_app.ts";
import { sluice } from "./_io.ts";

const SERVED = {
  hostname: "127.0.0.1",
  port: 0,
  adminToken: undefined,
  viewerToken: undefined,
  allowedHosts: [],
};

Deno.test("pools ls says stuck and stalled of a pool whose workers hang, failing where attempts fail", async () => {
  const handler = ({ payload }: Job) =>
    payload === "hang" ? new Promise(() => {}) : Promise.reject(new Error("no"));
  const clock = new VirtualClock();
  const lanes = [{ name: "l", attempts: 1 }];
  const system: Sluice = await start({
    pools: {
      hung: { handler, timeoutMs: 1000, admission: "admit-all", size: { min: 1, max: 1 }, lanes },
      bad: { handler, size: { min: 1, max: 1 }, lanes },
    },
  }, { clock });
  const server = await serveAdmin(system, SERVED);
  await clock.advance(100);
  for (let job = 0; job < 6; job++) {
    await system.enqueue("hung", { lane: "l", payload: "hang" });
    await system.enqueue("bad", { lane: "l", payload: "fail" });
    await clock.advance(1_000);
  }
  await clock.advance(30_000);

  const { out } = await sluice(["pools", "--url", server.url]);

  const [, hung, bad] = out.split("\n");
  assert.match(hung ?? "", /^hung +stuck, stalled +0\/0 of 1 /);
  assert.match(bad ?? "", /^bad +failing +\d\/1 of 1 /);
  await server.stop();
  const stopped = system.stop();
  await clock.advance(60_000);
  await stopped;
});

Deno.test("jobs show and ls let no escape sequence of an error through", async () => {
  await using system = await running();
  const server = await serveAdmin(system.sluice, SERVED);
  const fail = "\x1b[2Jgone\x9b31m\u202e";
  const job = await system.sluice.enqueue("mail", { lane: "urgent", payload: { fail } });
  await system.clock.advance(1);

  const at = ["--url", server.url];
  for (const color of [false, true]) {
    const shown = await sluice(["jobs", "show", job.id, ...at], { color });
    const listed = await sluice(["dlq", "ls", "mail", ...at], { color });

    assert.ok(shown.out.includes("\\u001b[2Jgone\\u009b31m\\u202e"), shown.out);
    assert.ok(listed.out.includes("\\u001b[2Jgone\\u009b31m\\u202e"), listed.out);
  }
  await server.stop();
});

/** A server that reads a request and breaks the connection, or breaks it in its answer. */
function breaking(answer: string): { readonly url: string; stop(): Promise<void> } {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const served = (async (): Promise<void> => {
    for await (const connection of listener) {
      await connection.read(new Uint8Array(10_000));
      await connection.write(new TextEncoder().encode(answer));
      connection.close();
    }
  })();
  return {
    url: `http://127.0.0.1:${listener.addr.port}`,
    stop: async () => {
      listener.close();
      await served;
    },
  };
}

for (
  const [when, answer] of [["before", ""], ["in", "HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n{"]]
) {
  Deno.test(`jobs says what may have happened, when the connection breaks ${when} the answer`, async () => {
    const server = breaking(answer!);
    const at = ["--url", server.url];

    const change = await sluice(["jobs", "cancel", "x", "--yes", ...at]);
    const look = await sluice(["jobs", "show", "x", ...at]);
    const many = await sluice(["enqueue", "mail", "-", "--lane", "batch", ...at], {
      readInput: () => Promise.resolve("1\n2\n"),
    });
    await server.stop();

    const broke = `The connection to ${server.url} broke before the answer was there`;
    const lookAgain = "it may have taken effect, so check before you try again";
    assert.deepEqual([change.code, change.err], [1, `${broke}: ${lookAgain}\n`]);
    assert.deepEqual([look.code, look.err], [1, `${broke}: try again\n`]);
    assert.deepEqual([many.code, many.err], [
      1,
      `${broke}: ${lookAgain}; 0 jobs were stored, of those from line 1 on, some may be\n`,
    ]);
  });
}

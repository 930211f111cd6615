import assert from "node:assert/strict";
import type { OperationJson } from "../../src/admin/http/wire.ts";
import { sluice } from "./_io.ts";

const RUNNING: OperationJson = {
  id: "op",
  pool: "mail",
  action: "retry",
  status: "running",
  startedAtMs: 0,
  seen: 0,
  matched: 0,
  changed: 0,
};

/** A system that only knows one operation; each look gets the next answer. */
async function withOperation(
  answers: readonly Partial<OperationJson>[],
  test: (url: string, methods: readonly string[], looked: () => Promise<void>) => Promise<void>,
): Promise<void> {
  const methods: string[] = [];
  let next = 0;
  const looks = Promise.withResolvers<void>();
  await using server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => {} },
    (request) => {
      methods.push(request.method);
      if (request.method === "POST") return Response.json(RUNNING, { status: 202 });
      if (request.method === "DELETE") {
        return Response.json({ ...RUNNING, status: "cancelled", seen: 3, matched: 3, changed: 2 });
      }
      looks.resolve();
      const answer = answers[Math.min(next++, answers.length - 1)];
      return Response.json({ ...RUNNING, ...answer });
    },
  );
  await test(`http://127.0.0.1:${server.addr.port}`, methods, () => looks.promise);
}

Deno.test("Long work is looked at until it has ended, and what came of it is said", async () => {
  const end = { status: "done", seen: 9, matched: 9, changed: 8 } as const;
  await withOperation([{ seen: 4 }, end], async (url, methods) => {
    const { code, out } = await sluice(["dlq", "retry", "mail", "--all", "--url", url]);

    assert.deepEqual([code, out], [
      0,
      'Pool "mail": 8 jobs made ready again; 1 other had changed meanwhile\n',
    ]);
    assert.deepEqual(methods, ["POST", "GET", "GET"]);
  });
});

Deno.test("A signal cancels long work, and the verb exits 130", async () => {
  await withOperation([{ seen: 1 }], async (url, methods, looked) => {
    let signal = (): void => assert.fail("Nobody listens");
    const running = sluice(["dlq", "retry", "mail", "--all", "--url", url], {
      onSignal: (handler) => {
        signal = handler;
        return () => {};
      },
    });
    await looked();
    signal();

    const { code, out, err } = await running;

    assert.equal(code, 130);
    assert.match(out, /^Pool "mail": 2 jobs made ready again/);
    assert.equal(err, "Interrupted: the operation was cancelled\n");
    assert.equal(methods.at(-1), "DELETE");
  });
});

Deno.test("Long work that someone else cancels fails the verb, and it says so", async () => {
  await withOperation([{ status: "cancelled", matched: 3, changed: 2 }], async (url) => {
    const { code, err } = await sluice(["dlq", "retry", "mail", "--all", "--url", url]);

    assert.deepEqual([code, err], [
      1,
      "Another user cancelled the operation, or the system is stopping\n",
    ]);
  });
});

Deno.test("Long work that fails on the server fails the verb, and says where to look", async () => {
  await withOperation([{ status: "failed" }], async (url) => {
    const { code, err } = await sluice(["dlq", "discard", "mail", "--all", "--yes", "--url", url]);

    assert.deepEqual([code, err], [1, "The operation failed: the log of the system says why\n"]);
  });
});

Deno.test("Long work shows how far it is on a terminal, and takes it away again", async () => {
  const slow = Array.from({ length: 5 }, (_, index) => ({ seen: index * 10, total: 100 }));
  const end = { status: "done", seen: 100, matched: 100, changed: 100, total: 100 } as const;
  await withOperation([...slow, end], async (url) => {
    const args = ["dlq", "retry", "mail", "--all", "--url", url];

    const { err } = await sluice(args, { terminal: true });
    const piped = await sluice(args);

    assert.match(err, /\r#+-+ \d+ %/);
    assert.match(err, /\r +\r$/);
    assert.equal(piped.err, "");
  });
});

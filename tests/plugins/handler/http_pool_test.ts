import assert from "node:assert/strict";
import { start } from "../../../mod.ts";
import { withReceiver } from "./_receiver.ts";

Deno.test("a pool of http sends each job where it says, and rests those whose receiver is gone", async () => {
  const calls = new Map<string, number>();
  const receive = (request: Request): Response => {
    const { pathname } = new URL(request.url);
    calls.set(pathname, (calls.get(pathname) ?? 0) + 1);
    return new Response(null, { status: pathname === "/gone" ? 410 : 200 });
  };
  await withReceiver(receive, async (origin) => {
    const sluice = await start({
      pools: {
        hooks: {
          handler: {
            use: "http",
            with: { url: { from: "payload.url", allow: [origin], privateAddresses: true } },
          },
          size: { min: 4, max: 4 },
          lanes: [{ name: "all", maxRunningPerKey: 2 }],
          cooldown: { by: "key", after: 3, minMs: 60_000, maxMs: 60_000, gone: true },
        },
      },
    });
    const jobs = [];
    for (let index = 0; index < 60; index++) {
      const key = ["gone", "a", "b"][index % 3] ?? "";
      jobs.push(
        await sluice.enqueue("hooks", { lane: "all", key, payload: { url: `${origin}/${key}` } }),
      );
    }
    const others = await Promise.all(
      jobs.filter((_, index) => index % 3 > 0).map(({ done }) => done),
    );
    assert.ok(others.every(({ state }) => state === "done"));
    assert.deepEqual([calls.get("/a"), calls.get("/b")], [20, 20]);
    assert.ok((calls.get("/gone") ?? 0) <= 5, `${calls.get("/gone")}`);
    await sluice.stop();
  });
});

Deno.test("a job whose URL is not allowed is refused over HTTP, and nothing is stored", async () => {
  await using sluice = await start({
    admin: { port: 0 },
    pools: {
      hooks: {
        handler: {
          use: "http",
          with: { url: { from: "payload.url", allow: ["https://*.example.com"] } },
        },
        size: { min: 0, max: 1 },
        lanes: [{ name: "all" }],
      },
    },
  });
  const response = await fetch(`${sluice.adminUrl}/api/pools/hooks/jobs`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ lane: "all", payload: { url: "https://example.com.evil.com" } }),
  });

  assert.ok(response.status >= 400 && response.status < 500, `${response.status}`);
  assert.match(await response.text(), /Expected payload\.url to be a URL of https:/);
  const { pools: [pool] } = sluice;
  assert.ok(pool !== undefined);
  assert.equal(pool.snapshot().lanes.reduce((sum, lane) => sum + lane.ready, 0), 0);
});

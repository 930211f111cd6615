import assert from "node:assert/strict";
import { start } from "../../mod.ts";
import { serveAdmin } from "../../src/admin/mod.ts";
import { sluice } from "./_io.ts";

Deno.test("a lane with startWithinMs is shown with that, and not as one without a target", async () => {
  const lanes = [
    { name: "urgent", targetWaitMs: 50 },
    { name: "batch", targetWaitMs: null, startWithinMs: 600_000 },
    { name: "bulk", targetWaitMs: null, startWithinMs: 0 },
    { name: "rest", targetWaitMs: null },
  ];
  const pool = { handler: () => {}, size: { min: 1, max: 2 }, lanes };
  const system = await start({ pools: { p: pool } });
  const server = await serveAdmin(system, {
    hostname: "127.0.0.1",
    port: 0,
    adminToken: undefined,
    viewerToken: undefined,
    allowedHosts: [],
  });
  try {
    const described = (await sluice(["pools", "describe", "p", "--url", server.url])).out;
    const page = async (path: string): Promise<string> =>
      (await (await fetch(`${server.url}${path}`)).text()).replaceAll(/<[^>]*>|\s+/g, " ")
        .replaceAll(/ +/g, " ");

    for (
      const [lane, aim] of [
        ["urgent", "50 ms"],
        ["batch", "start within 10 min"],
        ["bulk", "start as fast as the caps allow"],
        ["rest", "none"],
      ]
    ) {
      assert.match(described, new RegExp(`^ *${lane} +0 ms +${aim} `, "m"));
    }
    assert.match(await page("/"), / batch .*0 ms start within 10 min .* bulk .*0 ms start as fast/);
    assert.match(await page("/pools/p"), / batch .*0 ms start within 10 min /);
    assert.match(await page("/pools/p"), / rest .*0 ms no target /);
  } finally {
    await server.stop();
    await system.stop();
  }
});

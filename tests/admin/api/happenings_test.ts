import assert from "node:assert/strict";
import type { Happening } from "../../../src/admin/http/happening.ts";
import { running } from "../_app.ts";

const ENDED = "The override has ended: the bounds are the config's again";

Deno.test("GET /api/pools/:pool/history has what people and the system did in the last hour", async () => {
  await using system = await running();
  const read = async (query = ""): Promise<readonly string[]> => {
    const response = await system.send("GET", `/api/pools/mail/history${query}`);
    const { happenings }: { happenings: readonly Happening[] } = await response.json();
    return happenings.map(({ text }) => text);
  };
  await system.send("POST", "/api/pools/mail/pause", { lane: "batch" });
  await system.send("PUT", "/api/pools/mail/override", { max: 2, expiresInMs: 1_000 });
  await system.clock.advance(2_000);
  await system.sluice.pool("mail").pause();
  const soon = await read();
  const later = await read(`?afterMs=${system.clock.nowMs() - 500}`);
  await system.clock.advance(3_601_000);

  assert.match(soon[1] ?? "", /^Pause of lane batch, by /);
  assert.match(soon[2] ?? "", /^Override max 2, by /);
  assert.deepEqual([soon[0], ...soon.slice(3)], ["The process started", ENDED, "Paused"]);
  assert.deepEqual(later, ["Paused"]);
  assert.deepEqual(await read(), []);
});

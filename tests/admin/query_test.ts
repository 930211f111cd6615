import assert from "node:assert/strict";
import { routeDocs } from "../../src/admin/openapi/document.ts";
import { problemOf, running } from "./_app.ts";

Deno.test("Every route below /api answers 400 for a query parameter that it does not know", async () => {
  await using system = await running();
  const { id } = await system.sluice.enqueue("mail", { lane: "full", payload: 1 });
  const started = await system.send("POST", "/api/pools/mail/operations", { retry: true });
  const operation: { id: string } = await started.json();

  for (const { method, path, requestBody, responses } of routeDocs()) {
    if (!path.startsWith("/api/")) continue;
    const of = path.startsWith("/api/operations") ? operation.id : id;
    const there = path.replace(":pool", "mail").replace(":id", of);
    const sent = requestBody === undefined ? undefined : {};
    const response = await system.send(method, `${there}?nosuch=1`, sent);

    assert.equal(response.status, 400, `${method} ${path}`);
    const fault = (await problemOf(response)).errors?.find(({ pointer }) => pointer === "?nosuch");
    assert.match(
      fault?.detail ?? "",
      /^No query parameter is named "nosuch": (leave|send|expected)/,
    );
    assert.ok("400" in responses, `${method} ${path} is documented without 400`);
  }
  assert.equal((await system.sluice.pool("mail").find(id))?.state, "ready");
});

Deno.test("Health, metrics and files answer whatever is asked with them", async () => {
  await using system = await running();
  await system.clock.advance(100);

  for (const path of ["/healthz", "/readyz", "/metrics", "/openapi.json", "/assets/live.js"]) {
    const response = await system.app.request(`${path}?nosuch=1`);

    assert.equal(response.status, 200, path);
    await response.body?.cancel();
  }
});

import assert from "node:assert/strict";
import { problemOf, running } from "./_app.ts";

const JOB = JSON.stringify({ lane: "urgent", payload: { to: "Zoë" } });

Deno.test("Routes answer 415 to JSON that is not in UTF-8, and take it under every name of UTF-8", async () => {
  await using system = await running();
  const statusOf = async (path: string, type: string, body: string): Promise<number> => {
    const headers = { "content-type": type };
    const response = await system.app.request(path, { method: "POST", headers, body });
    if (response.status !== 415) return response.status;
    assert.match(
      (await problemOf(response)).detail,
      /^Expected a body in UTF-8 but received the charset "[a-z0-9-]+": send it in UTF-8$/,
    );
    return 415;
  };

  for (
    const [type, status] of [
      ["application/json", 202],
      ["application/json; charset=utf-8", 202],
      ['Application/JSON ;profile=x; Charset="UTF8"', 202],
      ["application/vnd.api+json;charset=us-ascii", 202],
      ["application/json; charset=", 202],
      ["application/json; charset=utf-16", 415],
      ['application/json;charset="iso-8859-1"', 415],
      ["application/json; profile=x; charset = utf-16le", 415],
    ] as const
  ) {
    assert.equal(await statusOf("/api/pools/mail/jobs", type, JOB), status, type);
  }
  const type = "application/json; charset=utf-16";
  assert.equal(await statusOf("/api/pools/mail/pause", type, '{"lane":"urgent"}'), 415);
  assert.equal(await statusOf("/api/reload", type, "{}"), 415);
  assert.equal(system.sluice.pool("mail").snapshot().lanes[0]?.paused, false);
});

Deno.test("POST jobs answers 415 to a packed body, and says so", async () => {
  await using system = await running();
  const packed = new Blob([JOB]).stream().pipeThrough(new CompressionStream("gzip"));

  const response = await system.app.request("/api/pools/mail/jobs", {
    method: "POST",
    headers: { "content-type": "application/json", "content-encoding": "gzip" },
    body: await new Response(packed).arrayBuffer(),
  });

  assert.equal(response.status, 415);
  assert.equal(
    (await problemOf(response)).detail,
    'Expected a body without Content-Encoding but received "gzip": send it as it is',
  );
});

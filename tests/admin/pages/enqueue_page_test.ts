import assert from "node:assert/strict";
import { running } from "../_app.ts";

const TOKENS = { adminToken: "admin-token-0123456789", viewerToken: "viewer-token-0123456789" };

Deno.test("GET /pools/:pool/enqueue has the pool's lanes and types, and is linked from its page", async () => {
  await using system = await running();
  const at = async (path: string): Promise<string> => await (await system.send("GET", path)).text();

  const mail = await at("/pools/mail/enqueue");
  const typed = await at("/pools/typed/enqueue");

  assert.match(mail, /data-path="\/api\/pools\/mail\/jobs"/);
  assert.match(mail, /<option value="urgent".*<option value="batch".*<option value="full"/);
  assert.doesNotMatch(mail, /Type<\/label>/);
  assert.match(
    typed,
    /<select id="enqueue-type" name="type"><option value="send".*<option value="count"/,
  );
  assert.match(await at("/pools/mail"), /href="\/pools\/mail\/enqueue"/);
  assert.match(
    await at("/pools/mial/enqueue"),
    /No pool is named &quot;mial&quot;: did you mean &quot;mail&quot;\?</,
  );
});

Deno.test("GET /jobs/:id/again is filled with the job, as it may be shown", async () => {
  await using system = await running();
  const payload = { password: "hunter22", said: "</textarea><b>" };
  const job = { lane: "batch", payload, key: "tenant-1", delayMs: 60_000 };
  const { id } = await system.sluice.enqueue("mail", job);

  const page = await (await system.send("GET", `/jobs/${id}/again`)).text();
  const missing = await system.send("GET", "/jobs/nope/again");

  assert.match(page, new RegExp(`data-path="/api/jobs/${id}/again"`));
  assert.match(page, /<option value="batch" selected/);
  assert.match(page, /value="tenant-1"/);
  assert.match(page, /What is left as “\[redacted\]” is taken from that job/);
  assert.match(page, /&quot;password&quot;: &quot;\[redacted\]&quot;/);
  assert.doesNotMatch(page, /hunter22|<\/textarea><b>/);
  assert.equal(missing.status, 404);
  assert.match(await (await system.send("GET", `/jobs/${id}`)).text(), /Edit and enqueue again…/);
});

Deno.test("Pages that enqueue are not for the viewer's token, nor linked for it", async () => {
  await using system = await running(TOKENS);
  const { id } = await system.sluice.enqueue("mail", { lane: "full", payload: 1 });
  const headers = { authorization: `Bearer ${TOKENS.viewerToken}`, accept: "text/html" };

  for (const path of ["/pools/mail/enqueue", `/jobs/${id}/again`]) {
    const response = await system.app.request(path, { headers });
    assert.equal(response.status, 403);
    assert.match(await response.text(), /Only the admin token may enqueue jobs/);
  }
  for (const path of ["/pools/mail", `/jobs/${id}`]) {
    assert.doesNotMatch(
      await (await system.app.request(path, { headers })).text(),
      /\/(enqueue|again)"/,
    );
  }
  const post = await system.app.request(`/api/jobs/${id}/again`, {
    ...{ method: "POST", body: "{}" },
    headers: { ...headers, "content-type": "application/json" },
  });
  assert.equal(post.status, 403);
});

import assert from "node:assert/strict";
import { running } from "../_app.ts";

Deno.test("GET /dead offers to retry and to discard all that match, as one operation a pool", async () => {
  await using system = await running();
  for (let index = 0; index < 3; index++) {
    const job = { lane: "urgent", payload: { fail: `no ${index}` } };
    await system.send("POST", "/api/pools/mail/jobs", job);
  }
  await system.clock.advance(100);

  const all = await (await system.send("GET", "/dead")).text();
  const some = await (await system.send("GET", "/dead?pool=mail&lane=urgent&match=no+1")).text();

  assert.equal([...all.matchAll(/<tr id="job-/g)].length, 3);
  assert.match(
    all,
    /data-path="\/api\/pools\/mail\/operations" data-body="{&quot;retry&quot;:true}"/,
  );
  assert.match(all, /data-cli="sluice dlq retry mail --all"/);
  assert.doesNotMatch(all, /pools\/typed\/operations/);
  assert.equal([...some.matchAll(/<tr id="job-/g)].length, 1);
  assert.match(
    some,
    /{&quot;discard&quot;:true,&quot;lane&quot;:&quot;urgent&quot;,&quot;match&quot;:&quot;no 1&quot;}/,
  );
  assert.match(some, /sluice dlq discard mail --all --lane urgent --match &#39;no 1&#39;/);
  assert.match(
    some,
    /Discard 1 dead job of &quot;mail&quot;, lane &quot;urgent&quot; with &quot;no 1&quot; in them\?/,
  );
});

Deno.test("GET /dead and /jobs?state=dead say when a job died, by which they are ordered", async () => {
  await using system = await running();
  const job = { lane: "urgent", payload: { fail: "no" }, delayMs: 5_000 };
  await system.send("POST", "/api/pools/mail/jobs", job);
  await system.clock.advance(7_000);

  const dead = await (await system.send("GET", "/dead")).text();
  const state = await (await system.send("GET", "/jobs?state=dead")).text();
  const all = await (await system.send("GET", "/jobs")).text();

  for (const page of [dead, state]) {
    assert.match(page, /<th [^>]*>Died<\/th>/);
    assert.match(page, /data-label="Died">2 s ago</);
    assert.doesNotMatch(page, /Created/);
  }
  assert.match(all, /data-label="Created">7 s ago</);
});

Deno.test("GET /dead shows bulk work that runs or has just ended, with its figures", async () => {
  await using system = await running();
  await system.send("POST", "/api/pools/mail/jobs", { lane: "urgent", payload: { fail: "no" } });
  await system.clock.advance(100);
  const started = await system.send("POST", "/api/pools/mail/operations", { discard: true });
  const { id } = await started.json();
  await system.send("DELETE", `/api/operations/${id}`); // waits until nothing changes

  const page = await (await system.send("GET", "/dead")).text();

  assert.match(page, new RegExp(`<li [^>]*id="operation-${id}"`));
  assert.match(page, /Discard in mail/);
  assert.match(page, /<span class="(mark|mark good)">(cancelled|done)<\/span>/);
  assert.match(page, /looked at, \d matched, \d discarded/);
});

Deno.test("GET /dead opens with groups of errors, each with its number, and what to do with it", async () => {
  await using system = await running();
  for (
    const [pool, job] of [
      ["mail", { lane: "urgent", payload: { fail: "no user 17" } }],
      ["mail", { lane: "urgent", payload: { fail: "no user 18" } }],
      ["mail", { lane: "urgent", payload: { fail: "<b>down</b>" } }],
      ["typed", { lane: "only", type: "send", payload: { fail: "<b>down</b>" } }],
    ] as const
  ) {
    await system.send("POST", `/api/pools/${pool}/jobs`, job);
    await system.clock.advance(60_000);
  }

  const page = await (await system.send("GET", "/dead")).text();
  const group = await (await system.send("GET", "/dead?group=no+user+%3Cn%3E")).text();
  const other = await (await system.send("GET", "/dead?match=down")).text();

  assert.match(page, /4 dead jobs in 2 groups\./);
  assert.match(page, /<a href="\/dead\?group=no\+user\+%3Cn%3E">no user &lt;n&gt;<\/a>/);
  assert.match(page, /Retry 2 dead jobs of &quot;mail&quot; with this error\?/);
  assert.match(page, /sluice dlq discard mail --all --group &#39;no user &lt;n&gt;&#39;/);
  assert.match(page, /mail, typed .*first .* ago, last .* ago/);
  assert.doesNotMatch(page, /of &quot;typed&quot; with this error|<b>down/);
  assert.equal([...group.matchAll(/<tr id="job-/g)].length, 2);
  assert.match(group, /Dead jobs with this error: <strong>no user &lt;n&gt;<\/strong>/);
  assert.match(group, /Discard 2 dead jobs of &quot;mail&quot; with this error\?/);
  assert.match(group, /&quot;group&quot;:&quot;no user &lt;n&gt;&quot;/);
  assert.match(group, /<input type="hidden" name="group" value="no user &lt;n&gt;">/);
  assert.doesNotMatch(group, /Why jobs are dead/);
  assert.doesNotMatch(other, /Why jobs are dead/);
});

Deno.test("GET /pools/:pool shows the three groups of errors with most jobs, if there are any", async () => {
  await using system = await running();
  for (const fail of ["a", "a", "b", "b", "c", "c", "d"]) {
    await system.send("POST", "/api/pools/mail/jobs", { lane: "urgent", payload: { fail } });
  }
  await system.clock.advance(60_000);

  const page = await (await system.send("GET", "/pools/mail")).text();
  const none = await (await system.send("GET", "/pools/typed")).text();

  assert.equal([...page.matchAll(/<span class="count">2<\/span>/g)].length, 3);
  assert.match(page, /<a href="\/dead\?pool=mail">1 other group<\/a>/);
  assert.doesNotMatch(none, /Why jobs are dead/);
});

import assert from "node:assert/strict";
import { served } from "./_served.ts";

Deno.test("doctor looks at all pools: exits 0 where nothing is wrong, 1 where jobs suffer", async () => {
  await using remote = await served();
  const well = await remote.run(["doctor"]);
  const calm = await remote.run(["doctor", "--md"]);
  for (let index = 0; index < 60; index++) {
    const job = { lane: "urgent", payload: { fail: `no route to 10.0.0.${index}` } };
    await remote.system.send("POST", "/api/pools/mail/jobs", job);
    await remote.system.clock.advance(1_000);
  }

  const wrong = await remote.run(["doctor"]);
  const report = await remote.run(["doctor", "--md"]);
  const one = await remote.run(["doctor", "typed", "--md"]);
  const mail = await remote.run(["doctor", "mail", "--md"]);
  const json = await remote.run(["doctor", "--json"]);

  assert.equal(well.code, 0);
  assert.match(well.out, /^Nothing is wrong in the recent past of 2 pools: mail, typed\n$/);
  assert.match(calm.out, /^2 pools: nothing is wrong, at \S+Z\n$/);
  assert.deepEqual([wrong.code, wrong.err], [
    1,
    'Something is wrong with 1 of 2 pools: pool "mail"\n',
  ]);
  assert.match(
    wrong.out,
    /^mail: failing\n {2}.*\n {2}Change: .*\n[^]*^Nothing is wrong in the recent past of 1 pool: typed\n$/m,
  );
  assert.equal(report.code, 1);
  assert.match(report.out, /^### mail: failing[^\n]*\n2026-\S+Z\. .*\n- \*\*failing\*\*: /);
  assert.match(report.out, /^Workers \d\/\d of 4 · target .* · failed 1\.0\/s · shed 0\.0\/s$/m);
  assert.match(report.out, /^Last decisions:\n- 2026-\S+Z \d+ -> \d+, bound by /m);
  assert.match(report.out, /^Top errors of dead jobs:\n- \d+x `no route to .*`, 2026-/m);
  assert.match(report.out, /^```sh\nsluice explain mail\n[^]*```\n$/m);
  assert.doesNotMatch(report.out, /### typed/);
  assert.deepEqual([mail.code, mail.err], [1, 'Something is wrong with pool "mail"\n']);
  assert.match(mail.out, /^### mail: failing/);
  assert.deepEqual([one.code, one.out.split("\n")[0]], [0, "### typed: nothing is wrong"]);
  assert.equal(JSON.parse(json.out)[0].pool, "mail");
  await remote.system.sluice.pool("typed").pause();
  const { out } = await remote.run(["doctor"]);
  assert.match(out, /^typed: it is paused: no job starts until it is resumed/m);
});

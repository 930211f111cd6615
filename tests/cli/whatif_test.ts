import assert from "node:assert/strict";
import { join } from "node:path";
import { temporaryFolder } from "./_io.ts";
import { served } from "./_served.ts";

Deno.test("whatif lays what happened beside what would have been", async () => {
  await using at = await served();
  await using folder = await temporaryFolder();
  const mail = at.system.sluice.pools[0]!;
  for (let second = 0; second < 5; second++) {
    await mail.enqueueAll(
      Array.from({ length: 20 }, (_, payload) => ({ lane: "urgent", payload })),
    );
    await at.system.clock.advance(1000);
  }
  const html = join(folder.path, "whatif.html");

  const change = ["whatif", "mail", "size.max=1", "lanePolicy=fifo"];
  const { code, out, err } = await at.run([...change, "--html", html]);
  const json = await at.run([...change, "--json"]);

  assert.deepEqual([code, err], [0, ""]);
  assert.match(
    out,
    /^mail: the last \d+ s with pools\.mail\.size\.max: 4 -> 1, pools\.mail\.lanePolicy: "strict-priority" -> "fifo"$/m,
  );
  assert.match(out, /^happened +\S+ +\d+ +urgent +(?:80|100) +0 /m);
  assert.match(out, /^simulated as it is +\S+ +\d+ +urgent +(?:80|100) +0 /m);
  assert.match(out, /^simulated with the change +1 +1 +urgent /m);
  assert.deepEqual(Object.keys(JSON.parse(json.out)), ["happened", "edits", "changed", "asItIs"]);
  assert.match(await Deno.readTextFile(html), /^<!doctype html>/);
});

Deno.test("whatif exits 2 with what is wrong with a change, and 1 where there is no past", async () => {
  await using at = await served();
  const early = await at.run(["whatif", "mail", "size.max=1"]);
  await at.system.clock.advance(60_000);
  await at.system.sluice.pools[0]!.enqueue({ lane: "urgent", payload: 1 });
  await at.system.clock.advance(2000);

  const faults: readonly (readonly [string, RegExp])[] = [
    ["size.max", /Expected a change such as size\.max=30 but received "size\.max"/],
    ["lanes.urgnt.maxRunning=1", /did you mean "urgent"\?/],
    ["size.mx=1", /No key is named "mx"/],
    ["size.max=0", /size\/max/],
  ];
  for (const [change, said] of faults) {
    const { code, err } = await at.run(["whatif", "mail", change]);
    assert.equal(code, 2, err);
    assert.match(err, said);
  }
  assert.equal(early.code, 1);
  assert.match(early.err, /No job came to pool "mail" in that time/);
});

import assert from "node:assert/strict";
import { join } from "node:path";
import { sluice, temporaryFolder } from "./_io.ts";

const GOOD = `{
  // Two pools.
  "pools": {
    "a": { "handler": "sleep", "size": { "min": 1, "max": 2 }, "lanes": [{ "name": "x" }, { "name": "y" }] },
    "b": { "handler": "sleep", "size": { "min": 1, "max": 2 }, "lanes": [{ "name": "x" }, { "name": "y" }] }
  }
}
`;

const FAULTY = `{
  "pools": {
    "a": {
      "handler": "sleep",
      "size": { "min": 5, "max": 2 },
      "lanes": [{ "name": "x", "maxDeph": 3 }],
      "controller": "age-scalr"
    }
  }
}
`;

Deno.test("check counts what it found, when there is no fault", async () => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, "pools.json");
  await Deno.writeTextFile(path, GOOD);

  const plain = await sluice(["check", path]);
  const json = await sluice(["check", path, "--json"]);

  assert.deepEqual([plain.code, plain.out, plain.err], [
    0,
    `${path}: 2 pools, 4 lanes, no faults\n`,
    "",
  ]);
  assert.deepEqual(JSON.parse(json.out), { ok: true, pools: 2, lanes: 4, faults: [] });
});

Deno.test("check prints all faults, one a line with its place, and exits 2", async () => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, "pools.json");
  await Deno.writeTextFile(path, FAULTY);

  const plain = await sluice(["check", path]);
  const json = await sluice(["check", path, "--json"]);

  const lines = plain.err.trimEnd().split("\n");
  assert.equal(plain.code, 2);
  assert.equal(lines.length, 3);
  assert.match(lines[0] ?? "", /pools\.json:5:\d+ \/pools\/a\/size/);
  assert.match(lines[1] ?? "", /pools\.json:6:\d+ .*"maxDeph".*did you mean "maxDepth"\?$/);
  assert.match(lines[2] ?? "", /pools\.json:7:\d+ .*"age-scalr".*did you mean "age-scaler"\?$/);
  const { ok, faults } = JSON.parse(json.out);
  assert.equal(json.code, 2);
  assert.equal(ok, false);
  assert.deepEqual(
    faults.map(({ pointer, line }: { pointer: string; line: number }) => [pointer, line])[2],
    ["/pools/a/controller", 7],
  );
});

Deno.test("check exits 2, when there is no such file", async () => {
  const { code, err } = await sluice(["check", "/no/such/pools.json"]);

  assert.equal(code, 2);
  assert.match(err, /\/no\/such\/pools\.json/);
});

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
  assert.deepEqual(JSON.parse(json.out), {
    ok: true,
    pools: 2,
    lanes: 4,
    faults: [],
    concerns: [],
  });
});

/** Needs 17 workers. */
const TIGHT = `{
  "pools": {
    "a": {
      "handler": "sleep",
      "size": { "min": 1, "max": 12 },
      "lanes": [{ "name": "x", "expect": { "perSec": 800, "serviceMs": 20 } }]
    }
  }
}
`;

/** Retries come back in step. */
const JITTERLESS = `{
  "pools": {
    "a": {
      "handler": "sleep",
      "size": { "min": 1, "max": 12 },
      "lanes": [{ "name": "x", "backoff": { "jitter": 0 } }]
    }
  }
}
`;

async function written(text: string): Promise<AsyncDisposable & { readonly path: string }> {
  const folder = await temporaryFolder();
  const path = join(folder.path, "pools.json");
  await Deno.writeTextFile(path, text);
  return { path, [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose]() };
}

Deno.test("check says what cannot work, by which formula and numbers, and what would do, and exits 1", async () => {
  await using file = await written(TIGHT);

  const plain = await sluice(["check", file.path]);
  const json = await sluice(["check", file.path, "--json"]);

  assert.equal(plain.code, 1);
  assert.equal(
    plain.out,
    `${file.path}: 1 pool, 1 lane, no faults

error overload  /pools/a/size/max
  800 jobs/s of 20 ms keep 16 workers busy but size.max allows 12: the queue grows without bound
  By perSec x serviceMs / 1000 >= workers with perSec 800, serviceMs 20, load 16, workers 12
  Change: Raise size.max to 17 workers, or expect fewer than 600 jobs/s a process
`,
  );
  assert.equal(plain.err, "The config has no faults but 1 concern: overload\n");
  const { ok, concerns } = JSON.parse(json.out);
  assert.equal(json.code, 1);
  assert.equal(ok, false);
  assert.deepEqual([concerns.length, concerns[0].code, concerns[0].numbers.load], [
    1,
    "overload",
    16,
  ]);
});

Deno.test("check exits 0 with warnings, 1 with --strict", async () => {
  await using file = await written(JITTERLESS);

  const plain = await sluice(["check", file.path]);
  const strict = await sluice(["check", file.path, "--strict"]);

  assert.equal(plain.code, 0);
  assert.match(plain.out, /^warning retry-in-step {2}\/pools\/a\/lanes\/0\/backoff\/jitter$/m);
  assert.equal(strict.code, 1);
  assert.equal(strict.err, "The config has no faults but 1 concern: retry-in-step\n");
});

Deno.test("check --platform holds the drain against the platform's kill time, and knows its platforms", async () => {
  await using file = await written(GOOD);

  const deploy = await sluice(["check", file.path, "--platform", "deploy", "--json"]);
  const other = await sluice(["check", file.path, "--platform", "mars"]);

  assert.deepEqual(
    JSON.parse(deploy.out).concerns.map(({ code }: { code: string }) => code),
    ["drain-past-kill", "drain-past-kill"],
  );
  assert.equal(other.code, 2);
  assert.equal(
    other.err,
    'Expected --platform to be one of deploy, docker, kubernetes, systemd but received "mars"\n',
  );
});

Deno.test("check --alerts prints alert rules for the pools of the file, and nothing else", async () => {
  await using file = await written(GOOD);

  const { code, out } = await sluice(["check", file.path, "--alerts"]);

  assert.equal(code, 0);
  assert.ok(out.startsWith("groups:\n  - name: sluice\n"));
  assert.equal(out.match(/alert: SluiceAtCapacity/g)?.length, 2);
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

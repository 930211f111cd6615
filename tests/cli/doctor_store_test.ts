import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { start } from "../../mod.ts";
import { sluice, temporaryFolder } from "./_io.ts";

const HANDLERS = { plugins: { work: () => "done" } };

/** A config whose pool starts no job. */
function config(path: string, leaseMs = 30_000) {
  return {
    store: { use: "deno-kv", with: { path } },
    pools: {
      mail: {
        handler: "work",
        size: { min: 1, max: 1 },
        lanes: [{ name: "urgent", paused: true }],
        leaseMs,
      },
    },
  } as const;
}

/** A database with two jobs that nobody works on. */
async function database(folder: string): Promise<string> {
  const file = `${folder}/queue.db`;
  const system = await start(config(file), HANDLERS);
  await system.enqueue("mail", { lane: "urgent", payload: 1 });
  await system.enqueue("mail", { lane: "urgent", payload: 2 });
  await system.stop();
  return file;
}

async function broken(folder: string): Promise<string> {
  const file = await database(folder);
  using kv = await Deno.openKv(file);
  await kv.atomic().sum(["sluice", "pool", "mail", "c", 0, "r"], 3n)
    .set(["sluice", "pool", "mail", "i", "gone"], ["some-job", 0]).commit();
  return file;
}

const FINDINGS = [
  "mail: dedupe-stale",
  '  The dedupeKey "gone" belongs to some-job, which is no job with that key',
  "  Repair: free it",
  "mail: counter-wrong",
  '  The counter of ready jobs of lane "urgent" is 5, but there are 2',
  "  Repair: set it to 2",
];

Deno.test("doctor --store says that a database is sound", async () => {
  await using folder = await temporaryFolder();
  const file = await database(folder.path);

  const { code, out, err } = await sluice(["doctor", "--store", file]);

  assert.deepEqual([code, err], [0, ""]);
  assert.equal(out, `${file}: 1 pool, 2 jobs that have not ended, 0 findings\n`);
});

Deno.test("doctor --store says what is amiss, and changes nothing", async () => {
  await using folder = await temporaryFolder();
  const file = await broken(folder.path);

  const { code, out, err } = await sluice(["doctor", "--store", file]);
  const again = await sluice(["doctor", "--store", file, "--json"]);

  assert.deepEqual([code, err], [1, "2 findings: --repair repairs them\n"]);
  const head = `${file}: 1 pool, 5 jobs that have not ended, 2 findings`;
  assert.equal(out, `${[head, ...FINDINGS].join("\n")}\n`);
  assert.equal(again.code, 1);
  const { findings, left, pools } = JSON.parse(again.out);
  assert.deepEqual(pools, ["mail"]);
  assert.deepEqual(left, findings);
  assert.deepEqual(findings[1], {
    pool: "mail",
    kind: "counter-wrong",
    saw: 'The counter of ready jobs of lane "urgent" is 5, but there are 2',
    repair: "set it to 2",
  });
});

Deno.test("doctor --store --repair asks first, then repairs what it found", async () => {
  await using folder = await temporaryFolder();
  const file = await broken(folder.path);
  const args = ["doctor", "--store", file, "--repair"];

  const alone = await sluice(args);
  const no = await sluice(args, { confirm: () => false });
  const yes = await sluice(args, { confirm: () => true });
  const sound = await sluice([...args, "--yes", "--json"]);

  const question = `Repair 2 findings in ${file}?`;
  assert.deepEqual([alone.code, alone.err], [
    2,
    `No terminal to confirm "${question}": pass --yes\n`,
  ]);
  assert.deepEqual([no.code, no.err, no.asked], [1, "Nothing was changed\n", [question]]);
  assert.deepEqual([yes.code, yes.err], [0, ""]);
  assert.ok(yes.out.endsWith("Repaired: nothing is wrong any more\n"));
  assert.deepEqual(JSON.parse(sound.out), {
    file,
    pools: ["mail"],
    jobs: 2,
    findings: [],
    left: [],
  });
});

Deno.test("doctor --store --repair says what it cannot repair", async () => {
  await using folder = await temporaryFolder();
  const file = `${folder.path}/queue.db`;
  const system = await start(config(file), HANDLERS);
  await system.enqueue("mail", { lane: "urgent", payload: 1 });
  await system.stop();
  using kv = await Deno.openKv(file);
  await kv.delete(["sluice", "pool", "mail", "lanes"]);

  const found = await sluice(["doctor", "--store", file]);
  const { code, out, err } = await sluice(["doctor", "--store", file, "--repair", "--yes"]);

  assert.deepEqual([found.code, found.err], [1, "1 finding, none of which can be repaired\n"]);
  assert.deepEqual([code, err], [1, "1 finding left that cannot be repaired\n"]);
  assert.match(
    out,
    /mail: lanes-lost\n {2}The names of the lanes are lost: .*\n {2}Repair: none, inspect it by hand\n/,
  );
  assert.match(out, /\nRepaired, but for:\n/);
});

Deno.test("doctor --store refuses a database that a process works on", async () => {
  await using folder = await temporaryFolder();
  const file = await database(folder.path);
  const system = await start(config(file, 3000), HANDLERS);

  const { code, out, err } = await sluice(["doctor", "--store", file, "--repair", "--yes"]);
  await system.stop();

  assert.deepEqual([code, out], [2, ""]);
  assert.equal(
    err,
    `Watching for 2 s whether a process works on ${file}\n` +
      `A process works on ${file} (pool mail): stop it first, what it changes would look like faults\n`,
  );
});

Deno.test("doctor --store refuses files that are missing, of others, or of a newer release", async () => {
  await using folder = await temporaryFolder();
  const missing = `${folder.path}/missing.db`;
  const other = `${folder.path}/other.db`;
  const newer = `${folder.path}/newer.db`;
  (await Deno.openKv(other)).close();
  using kv = await Deno.openKv(newer);
  await kv.set(["sluice", "schema"], 99);

  for (
    const [file, why] of [
      [missing, "No such file"],
      [other, "Sluice has never written to this database"],
      [
        newer,
        "Expected a database of version 1 at most but received 99: a newer release of Sluice has written " +
        "it: use the doctor of that release",
      ],
    ]
  ) {
    const { code, err } = await sluice(["doctor", "--store", file!]);
    assert.deepEqual([code, err], [2, `Cannot examine ${file}: ${why}\n`]);
  }
  await assert.rejects(Deno.stat(missing), Deno.errors.NotFound);
});

/** Writes `bytes` into a file at `at`, over what is there. */
function overwrite(file: string, at: number, bytes: Uint8Array<ArrayBuffer>): void {
  using open = Deno.openSync(file, { write: true });
  open.seekSync(at, Deno.SeekMode.Start);
  open.writeSync(bytes);
}

const PAGE = 4096;

const DAMAGES: Readonly<Record<string, (file: string) => void>> = {
  "a page that is all zeros": (file) => overwrite(file, PAGE * 3, new Uint8Array(PAGE)),
  "a page of something else": (file) => {
    overwrite(file, PAGE * 4, crypto.getRandomValues(new Uint8Array(PAGE)));
  },
  "an end that is missing": (file) => Deno.truncateSync(file, PAGE * 3),
  "another head": (file) => overwrite(file, 0, new TextEncoder().encode("no database")),
  "an entry that its index does not know": (file) => {
    const database = new DatabaseSync(file, { readOnly: true });
    const name = "kv_expiration_ms_idx";
    const root = database.prepare("SELECT rootpage FROM sqlite_schema WHERE name = ?").get(name);
    database.close();
    overwrite(
      file,
      PAGE * (Number(root?.rootpage) - 1),
      new Uint8Array([10, 0, 0, 0, 0, 16, 0, 0]),
    );
  },
};

for (const [what, damage] of Object.entries(DAMAGES)) {
  Deno.test(`doctor --store leaves a damaged file alone and names the backup: ${what}`, async () => {
    await using folder = await temporaryFolder();
    const file = await broken(folder.path);
    damage(file);
    const before = await Deno.readFile(file);

    const { code, out, err } = await sluice(["doctor", "--store", file, "--repair", "--yes"]);
    const asJson = await sluice(["doctor", "--store", file, "--json"]);

    assert.deepEqual([code, out], [1, ""]);
    const start = `${file} is damaged: SQLite reports "`;
    const end = '". Stop what works on it and restore a backup: nothing was repaired, since its ' +
      "contents cannot be trusted\n";
    assert.ok(err.startsWith(start) && err.endsWith(end), err);
    assert.equal(asJson.code, 1);
    assert.ok(JSON.parse(asJson.out).damage.length > 0);
    assert.deepEqual(await Deno.readFile(file), before);
  });
}

Deno.test("doctor --store cannot examine a folder", async () => {
  await using folder = await temporaryFolder();

  const { code, err } = await sluice(["doctor", "--store", folder.path]);

  assert.equal(code, 2);
  assert.match(err, /^Cannot examine .*: /);
});

Deno.test("doctor takes no pool beside a file, and repairs only files", async () => {
  const both = await sluice(["doctor", "mail", "--store", "queue.db"]);
  const repair = await sluice(["doctor", "mail", "--repair"]);

  const text = "Expected the name of a pool, or --store with a file, not both\n";
  assert.deepEqual([both.code, both.err], [2, text]);
  assert.deepEqual([repair.code, repair.err], [2, "--repair needs --store with the file\n"]);
});

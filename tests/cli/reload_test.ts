import assert from "node:assert/strict";
import { join } from "node:path";
import { sluice, temporaryFolder } from "./_io.ts";
import { type Process, start } from "./_process.ts";

interface Parts {
  readonly tickMs?: number;
  readonly max?: number;
  readonly lanes?: readonly unknown[];
  readonly store?: unknown;
  readonly handler?: string;
}

function configText({ tickMs = 50, max = 2, handler = "sleep", ...parts }: Parts): string {
  const { lanes = [{ name: "x" }], store = "memory" } = parts;
  const main = { handler, size: { min: 1, max }, lanes, tickMs };
  return JSON.stringify({ store, pools: { main } }, null, 2);
}

async function urlOf(process: Process): Promise<string> {
  const [, url = ""] = await process.line(/^Admin {3}(http:\/\/127\.0\.0\.1:\d+)$/);
  return url;
}

async function tickMsAt(url: string): Promise<number> {
  const config = await (await fetch(`${url}/api/config`)).json();
  return config.pools.main.tickMs;
}

async function ended(process: Process): Promise<{ readonly code: number; readonly err: string }> {
  process.signal("SIGINT");
  return await process.ended();
}

Deno.test("run loads its config anew at SIGHUP; with faults the old one runs on", async () => {
  await using folder = await temporaryFolder();
  const file = join(folder.path, "pools.json");
  await Deno.writeTextFile(file, configText({}));
  await using process = start([file]);
  const url = await urlOf(process);
  await process.line(/^Try/);

  await Deno.writeTextFile(file, configText({ tickMs: 20 }));
  process.signal("SIGHUP");
  await process.line(/^Reloaded .*pools\.json$/);
  await process.line(/^1 change$/);
  const [change] = await process.line(/^ {2}changed .*$/);
  const after = await tickMsAt(url);
  await Deno.writeTextFile(file, configText({ tickMs: 30, max: 0 }));
  process.signal("SIGHUP");
  const [fault] = await process.errorLine(/^.*size\/max.*$/);
  await process.errorLine(/The config was not loaded: the previous one stays in use/);
  const kept = await tickMsAt(url);
  const { code } = await ended(process);

  assert.equal(change, "  changed /pools/main/tickMs: 50 -> 20");
  assert.deepEqual([after, kept, code], [20, 20, 0]);
  assert.match(fault, /pools\.json:\d+:\d+ \/pools\/main\/size\/max: /);
});

Deno.test("run --watch loads what is saved, by rename too, and outlives faults", async () => {
  await using folder = await temporaryFolder();
  const file = join(folder.path, "pools.json");
  await Deno.writeTextFile(file, configText({}));
  await using process = start([file, "--watch"]);
  const url = await urlOf(process);
  await process.line(/^Try/);

  await Deno.writeTextFile(file, configText({ tickMs: 20 }));
  await process.line(/tickMs: 50 -> 20$/);
  await Deno.writeTextFile(`${file}.tmp`, configText({ tickMs: 30 }));
  await Deno.rename(`${file}.tmp`, file);
  await process.line(/tickMs: 20 -> 30$/);
  await Deno.writeTextFile(file, "{ not JSON");
  await process.errorLine(/pools\.json:1:\d+/);
  await process.errorLine(/the previous one stays in use/);
  await Deno.remove(file);
  await Deno.writeTextFile(file, configText({ tickMs: 40, handler: "./late.ts" }));
  await process.errorLine(/Cannot find the module \\"\.\/late\.ts\\"/);
  await Deno.writeTextFile(join(folder.path, "late.ts"), `export default () => "late";`);
  await process.line(/tickMs: 30 -> 40$/);
  await Deno.writeTextFile(join(folder.path, "late.ts"), `export default () => "later";`);
  await process.line(
    /^The file of "\.\/late\.ts" has changed, but modules are loaded once: restart/,
  );
  const last = await tickMsAt(url);
  const { code } = await ended(process);

  assert.deepEqual([last, code], [40, 0]);
});

Deno.test("run --watch says that code needs a restart, of what a handler imports too", async () => {
  await using folder = await temporaryFolder();
  const file = join(folder.path, "pools.json");
  const write = (name: string, text: string) => Deno.writeTextFile(join(folder.path, name), text);
  await write("lib.ts", `export const word = "old";`);
  await write("handler.ts", `import { word } from "./lib.ts";\nexport default () => word;`);
  await write("handler_test.ts", "");
  await Deno.writeTextFile(file, configText({ handler: "./handler.ts" }));
  await using process = start([file, "--watch"]);
  await process.line(/^Try/);

  await write("lib.ts", `export const word = "new";`);
  await process.line(/^Nothing has changed$/);
  await process.line(
    /^"lib\.ts" was saved: where it is loaded, its old code runs on until a restart$/,
  );
  await write("handler_test.ts", "// more");
  await process.line(/^Nothing has changed$/);
  await write("handler.ts", `export default () => "newer";`);
  await process.line(/^The file of "\.\/handler\.ts" has changed, but modules are loaded once/);
  process.signal("SIGINT");
  const { code, out } = await process.ended();

  assert.equal(code, 0);
  assert.equal(out.match(/was saved/g)?.length, 1, out);
});

Deno.test("run --watch says once that the file is gone, runs on, and loads it when it is back", async () => {
  await using folder = await temporaryFolder();
  const file = join(folder.path, "pools.json");
  await Deno.writeTextFile(file, configText({}));
  await using process = start([file, "--watch"]);
  await process.line(/^Try/);

  await Deno.remove(file);
  await process.errorLine(/the previous one stays in use/);
  await Deno.writeTextFile(file, configText({}));
  await process.line(/^Reloaded .*pools\.json$/);
  await process.line(/^Nothing has changed$/);
  await Deno.remove(file);
  await process.errorLine(/the previous one stays in use/);
  await Deno.writeTextFile(file, configText({ tickMs: 20 }));
  await process.line(/tickMs: 50 -> 20$/);
  process.signal("SIGINT");
  const { code, err } = await process.ended();

  assert.equal(code, 0);
  assert.equal(
    err.match(/pools\.json Cannot read the config: no such file/g)?.length,
    2,
    err,
  );
  assert.equal(err.match(/the previous one stays in use/g)?.length, 2);
});

Deno.test("run --watch says at the start that it cannot list the folder, and sees changes of the config", async () => {
  await using folder = await temporaryFolder();
  const file = join(folder.path, "pools.json");
  await Deno.writeTextFile(file, configText({ handler: "sleep" }));
  await using process = start([file, "--watch"], {}, [`--allow-read=${file}`]);

  await process.errorLine(
    /The folder \\".*\\" cannot be listed: --watch notices changes of the config/,
  );
  await process.line(/^Try/);
  await Deno.writeTextFile(file, configText({ handler: "sleep", tickMs: 20 }));
  await process.line(/tickMs: 50 -> 20$/);
  const { code } = await ended(process);

  assert.equal(code, 0);
});

Deno.test("run --watch ignores what else happens in the folder", async () => {
  await using folder = await temporaryFolder();
  const file = join(folder.path, "pools.json");
  await Deno.writeTextFile(file, configText({}));
  await using process = start([file, "--watch", "--json"]);
  await process.line(/^\}$/);

  for (let i = 0; i < 5; i++) await Deno.writeTextFile(join(folder.path, "queue.db"), `${i}`);
  await Deno.writeTextFile(file, configText({}));
  await Deno.writeTextFile(`${file}.bak`, configText({ tickMs: 1 }));
  await Deno.writeTextFile(file, configText({ tickMs: 25 }));
  await process.line(/^\}$/);
  process.signal("SIGINT");
  const { out } = await process.ended();

  const [, reloaded, stopped] = out.split("\n}\n").map((text) => JSON.parse(`${text || "{"}}`));
  assert.deepEqual(reloaded.changes.map(({ to }: { to: unknown }) => to), [25]);
  assert.equal(stopped.stopped, true);
});

Deno.test("reload and check --against speak to a system that runs", async () => {
  await using folder = await temporaryFolder();
  const file = join(folder.path, "pools.json");
  const other = join(folder.path, "other.json");
  await Deno.writeTextFile(file, configText({}));
  await using process = start([file]);
  const url = await urlOf(process);
  await process.line(/^Try/);
  await Deno.writeTextFile(
    other,
    configText({ max: 3, lanes: [{ name: "y" }, { name: "x", targetWaitMs: 9 }] }),
  );

  const against = await sluice(["check", other, "--against", url]);
  await Deno.copyFile(other, file);
  const dry = await sluice(["reload", "--url", url, "--dry-run", "--json"]);
  const done = await sluice(["reload", "--url", url]);
  const again = await sluice(["reload", "--url", url]);
  await Deno.writeTextFile(file, configText({ store: { use: "nowhere" } }));
  const faulty = await sluice(["reload", "--url", url]);
  await Deno.writeTextFile(file, `{ "admin": {}, ${configText({ max: 3 }).slice(1)}`);
  const refused = await sluice(["reload", "--url", url, "--dry-run"]);
  await ended(process);

  const changes = [
    "  changed /pools/main/size/max: 2 -> 3",
    "    Applies from the next tick, which comes at once",
    '  added /pools/main/lanes/0 (lane "y")',
    "    Jobs may be sent to it at once",
    '  changed /pools/main/lanes/1/targetWaitMs (lane "x"): 50 -> 9',
    "    Applies from the next tick, which comes at once",
    "  renewed /pools/main/controller: age-scaler",
    "    Recreated for the new lanes: its memory is lost",
    "  renewed /pools/main/lanePolicy: reserved-lane",
    "    Recreated for the new lanes: its memory is lost",
    "  renewed /pools/main/admission: shed-at-cap",
    "    Recreated for the new lanes: its memory is lost",
    "",
  ].join("\n");
  assert.deepEqual([against.code, against.err], [0, ""]);
  assert.ok(
    against.out.endsWith(
      `\nAgainst ${url}:\n6 changes, none made: this is what a reload would do\n${changes}`,
    ),
    against.out,
  );
  assert.deepEqual([dry.code, JSON.parse(dry.out).changes.length], [0, 6]);
  assert.deepEqual([done.code, done.out], [0, `6 changes\n${changes}`]);
  assert.deepEqual([again.code, again.out], [0, "Nothing has changed\n"]);
  assert.equal(faulty.code, 2);
  assert.match(
    faulty.err,
    /^The config has faults:\n {2}\S*pools\.json:\d+:\d+ \/store\/use: No store is named "nowhere"/,
  );
  assert.equal(refused.code, 1);
  assert.match(refused.out, /^ {2}refused \/admin$/m);
  assert.equal(refused.err, "A reload would be refused for /admin\n");
});

import assert from "node:assert/strict";
import { Alive } from "../../../../stores/deno_kv/members/alive.ts";
import { withFolder } from "../_store.ts";
import { until } from "../_remote.ts";

/** Starts a process that shows that it lives beside `file`. Its name, and itself. */
async function another(file: string): Promise<[string, Deno.ChildProcess]> {
  const module = import.meta.resolve("../../../../stores/deno_kv/members/alive.ts");
  const code = `import { Alive } from ${JSON.stringify(module)};
    const alive = new Alive(${JSON.stringify(file)});
    console.log(alive.process);
    setInterval(() => {}, 1000);`;
  const child = new Deno.Command(Deno.execPath(), {
    args: ["eval", "--ext=ts", code],
    stdout: "piped",
    stderr: "inherit",
  }).spawn();
  const reader = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
  const { value = "" } = await reader.read();
  await reader.cancel();
  return [value.trim(), child];
}

Deno.test("Alive tells that another process was killed, and not before", async () => {
  await withFolder(async (folder) => {
    const file = `${folder}/queue.db`;
    const alive = new Alive(file);
    const [name, child] = await another(file);
    assert.equal(alive.isGone(name), false);
    child.kill("SIGSTOP");
    assert.equal(alive.isGone(name), false);
    child.kill("SIGKILL");
    await child.status;

    await until(() => alive.isGone(name));
    assert.equal(alive.isGone(name), true);
    alive.close();
    assert.deepEqual([...Deno.readDirSync(folder)], []);
  });
});

Deno.test("Alive takes the signs of killed processes away when it begins, and no others", async () => {
  await withFolder(async (folder) => {
    const file = `${folder}/queue.db`;
    const lives = new Alive(file);
    const [name, child] = await another(file);
    child.kill("SIGKILL");
    await child.status;
    Deno.writeTextFileSync(`${file}-alive-young`, "");
    const hourAgo = new Date(Date.now() - 3_600_000);
    for (const old of [name, lives.process]) {
      Deno.utimeSync(`${file}-alive-${old}`, hourAgo, hourAgo);
    }

    const alive = new Alive(file);

    assert.deepEqual(
      new Set([...Deno.readDirSync(folder)].map((entry) => entry.name)),
      new Set([lives.process, alive.process, "young"].map((left) => `queue.db-alive-${left}`)),
    );
    assert.equal(alive.isGone(name), true);
    assert.equal(alive.isGone(lives.process!), false);
    alive.close();
    lives.close();
  });
});

Deno.test("Alive takes nobody for gone of whom it knows nothing, and not itself", async () => {
  await withFolder((folder) => {
    const alive = new Alive(`${folder}/queue.db`);
    const other = new Alive(`${folder}/queue.db`);

    for (const process of [alive.process!, other.process!, "unknown", "../queue.db", ""]) {
      assert.equal(alive.isGone(process), false, process);
    }
    other.close();
    assert.equal(alive.isGone(other.process!), false);
    alive.close();
    return Promise.resolve();
  });
});

Deno.test("Alive where no file can be made shows nothing", () => {
  const alive = new Alive("/nowhere/at/all/queue.db");

  assert.equal(alive.process, undefined);
  alive.close();
});

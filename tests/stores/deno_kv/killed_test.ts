import assert from "node:assert/strict";
import { entry, NOW, openQueue, openStore, withFolder } from "./_store.ts";
import { until } from "./_remote.ts";

/** Starts a process that leases all jobs of the file. Resolves once it has. */
async function leaseholder(path: string): Promise<Deno.ChildProcess> {
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--unstable-kv", new URL("_leaseholder.ts", import.meta.url).href, path],
    stdout: "piped",
    stderr: "inherit",
  }).spawn();
  const reader = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
  assert.equal((await reader.read()).value, "2\n");
  await reader.cancel();
  return child;
}

const LOST = "Its process died, or did not renew its lease for leaseMs, while it ran";

Deno.test("renew() takes the jobs of a killed process back at once on a file, and not of a frozen one", async () => {
  await withFolder(async (folder) => {
    const path = `${folder}/queue.db`;
    const store = await openStore({ path });
    const queue = await openQueue(store);
    await queue.add([entry({ payload: 1 }), entry({ payload: 2 })], NOW);
    const child = await leaseholder(path);
    child.kill("SIGSTOP");
    assert.equal((await queue.renew(NOW)).reaped, 0);
    assert.equal((await queue.renew(NOW)).peers, 2);

    child.kill("SIGKILL");
    await child.status;
    let reaped = 0;
    await until(async () => (reaped = (await queue.renew(NOW)).reaped) > 0);

    assert.equal(reaped, 2);
    const held = await queue.lease([2], NOW);
    assert.deepEqual(held.map(({ payload, attempt }) => [payload, attempt]), [[1, 2], [2, 2]]);
    assert.equal((await queue.find(held[0]!.id))?.error, LOST);
    await store.close();
  });
});

Deno.test("renew() takes back at once what a store held that was closed and could not be left", async () => {
  await withFolder(async (folder) => {
    const path = `${folder}/queue.db`;
    const first = await openStore({ path });
    const left = await openQueue(first);
    await left.add([entry({ payload: 1 })], NOW);
    const [held] = await left.lease([1], NOW);
    await first.close();

    const second = await openStore({ path });
    const queue = await openQueue(second);
    const { reaped } = await queue.renew(NOW);

    assert.equal(reaped, 1);
    assert.deepEqual((await queue.lease([1], NOW)).map(({ id }) => id), [held!.id]);
    await queue.leave(NOW);
    await second.close();
    assert.deepEqual(
      [...Deno.readDirSync(folder)].map(({ name }) => name).filter((name) =>
        name.includes("alive")
      ),
      [],
    );
  });
});

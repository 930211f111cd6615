import assert from "node:assert/strict";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { start } from "../../../../mod.ts";
import { audit } from "../../../../stores/deno_kv/doctor/audit.ts";
import { startServer, TOKEN } from "../../../_kvconnect/server.ts";
import { end, entry, NOW, openQueue, openStore, withFolder } from "../_store.ts";

/** What a process with these variables says of the options. */
async function opened(
  options: Record<string, unknown>,
  env: Record<string, string> = {},
  flags: readonly string[] = ["--unstable-kv"],
): Promise<string> {
  const script = new URL("_open.ts", import.meta.url).pathname;
  const { stdout } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "--no-prompt", "-A", ...flags, script, JSON.stringify(options)],
    env,
    stderr: "inherit",
  }).output();
  return new TextDecoder().decode(stdout).trim();
}

Deno.test("denoKv refuses to guess where the database is", async () => {
  await assert.rejects(openStore({}), {
    name: "OptionError",
    message: "Expected path, the file that keeps the jobs, or url: only Deno Deploy has a " +
      "database without either",
  });
  await assert.rejects(openStore({ path: "a.db", url: "http://localhost:1" }), {
    name: "OptionError",
    message: "Expected path or url but received both: leave one out",
  });
});

Deno.test("denoKv names the file that it cannot open, and what to give instead", async () => {
  await withFolder(async (folder) => {
    const text = `${folder}/notes.txt`;
    await Deno.writeTextFile(text, "This is a text and not a database at all.\n".repeat(99));

    for (
      const [path, why] of [
        [text, "file is not a database"],
        [folder, `unable to open database file: ${folder}`],
        [`${text}/queue.db`, `File exists (os error 17): mkdir '${text}'`],
      ] as const
    ) {
      await assert.rejects(openStore({ path }), {
        name: "OptionError",
        path: ["path"],
        message:
          `The database "${path}" cannot be opened: ${why}; use a database that Sluice created, ` +
          "or a new file in a writable folder",
      });
    }
  });
});

Deno.test("denoKv says what to do where a full disk or a lock keeps it from opening its file", async () => {
  const open = Object.getOwnPropertyDescriptor(Deno, "openKv")!;
  const room = "check whether its disk is full or failing, free some space and start again";
  const lock = "another program has locked it: stop that program, or wait for it, and start again";
  try {
    await withFolder(async (folder) => {
      for (
        const [why, advice] of [
          ["database or disk is full", room],
          ["disk I/O error", room],
          ["No space left on device (os error 28)", room],
          ["database is locked", lock],
        ] as const
      ) {
        const value = () => Promise.reject(new TypeError(why));
        Object.defineProperty(Deno, "openKv", { value, configurable: true });
        await assert.rejects(openStore({ path: `${folder}/queue.db` }), {
          name: "OptionError",
          message: `The database "${folder}/queue.db" cannot be opened: ${why}; ${advice}`,
        });
      }
    });
  } finally {
    Object.defineProperty(Deno, "openKv", open);
  }
});

Deno.test("denoKv names its file where a disk gets full while a queue opens, or the store itself", async () => {
  const descriptor = Object.getOwnPropertyDescriptor(Deno, "openKv")!;
  const { openKv } = Deno;
  let isFull = true;
  const value = async (path: string) => {
    const kv = await openKv(path);
    const { atomic } = kv;
    kv.atomic = () => {
      const next = atomic.call(kv);
      if (isFull) next.commit = () => Promise.reject(new TypeError("database or disk is full"));
      return next;
    };
    return kv;
  };
  Object.defineProperty(Deno, "openKv", { value, configurable: true });
  try {
    await withFolder(async (folder) => {
      const message = `The database "${folder}/queue.db" cannot be opened: database or disk is ` +
        "full; check whether its disk is full or failing, free some space and start again";
      await assert.rejects(openStore({ path: `${folder}/queue.db` }), { message });
      isFull = false;
      const store = await openStore({ path: `${folder}/queue.db` });
      isFull = true;
      await assert.rejects(openQueue(store), { message });
      isFull = false;
      await store.close();
    });
  } finally {
    Object.defineProperty(Deno, "openKv", descriptor);
  }
});

Deno.test("denoKv refuses on Deno Deploy what would be forgotten with the instance", async () => {
  const env = { DENO_DEPLOYMENT_ID: "x", DENO_KV_DEFAULT_PATH: ":memory:" };

  const [withPath, without] = await Promise.all([opened({ path: "a.db" }, env), opened({}, env)]);

  assert.equal(
    withPath,
    'Expected no path on Deno Deploy but received "a.db": files there do not last, so leave it out ' +
      "and attach a database to the app",
  );
  assert.equal(
    without,
    "No database is attached to this app: the temporary one of Deno Deploy is lost with the " +
      "instance, so attach one",
  );
});

Deno.test("denoKv refuses an app without a database, whatever Deno Deploy does about that", async () => {
  const message = "No database is attached to this app: the temporary one of Deno Deploy is " +
    "lost with the instance, so attach one";
  const requires = (how: string): Promise<string> =>
    opened({}, {
      DENO_KV_REQUIRES_DISTRIBUTED_DATABASE: how,
      DENO_KV_DEFAULT_PATH: ":memory:",
    });

  const [warned, refused] = await Promise.all([requires("warn"), requires("error")]);

  assert.equal(warned, message);
  assert.ok(refused.startsWith(`${message} (`), refused);
});

Deno.test("denoKv opens the database that is attached to an app on Deno Deploy", async () => {
  await using server = startServer();
  const env = {
    DENO_DEPLOYMENT_ID: "x",
    DENO_KV_DEFAULT_PATH: server.url,
    DENO_KV_ACCESS_TOKEN: TOKEN,
  };

  assert.equal(await opened({}, env), "opened");
  assert.equal(server.requests.atomic_write, 1, "the version of the key space");
});

Deno.test("denoKv says how to switch KV on", async () => {
  await withFolder(async (folder) => {
    const ours = new URL("../../../../deno.json", import.meta.url);
    const { unstable: _, lock: __, ...config } = JSON.parse(await Deno.readTextFile(ours));
    await Deno.writeTextFile(`${folder}/deno.json`, JSON.stringify(config));

    const said = await opened({ path: ":memory:" }, {}, ["--config", `${folder}/deno.json`]);

    assert.equal(
      said,
      'Deno KV is not switched on: add "unstable": ["kv"] to deno.json, or run with --unstable-kv',
    );
  });
});

Deno.test("denoKv refuses a database of a newer release", async () => {
  await withFolder(async (folder) => {
    const path = `${folder}/queue.db`;
    await (await openStore({ path })).close();
    await (await openStore({ path })).close();
    const kv = await Deno.openKv(path);
    await kv.set(["sluice", "schema"], 2);
    kv.close();

    await assert.rejects(openStore({ path }), {
      name: "RangeError",
      message:
        "Expected a database of version 1 at most but received 2: a newer release of Sluice " +
        "has written it: run that release",
    });
  });
});

Deno.test("denoKv takes a path from the folder of the config, wherever the process runs", async () => {
  await withFolder(async (folder) => {
    const path = `${folder}/config/pools.json`;
    await Deno.mkdir(`${folder}/config`);
    const pool = { handler: "sleep", size: { min: 0, max: 1 }, lanes: [{ name: "a" }] };
    for (const file of ["./data/queue.db", "beside.db", "../up.db"]) {
      const store = { use: "deno-kv", with: { path: file } };
      await Deno.writeTextFile(path, JSON.stringify({ store, pools: { p: pool } }));
      const there = resolve(folder, "config", file);

      await (await start(path)).stop();
      await (await start(pathToFileURL(path))).stop();

      assert.ok((await Deno.stat(there)).isFile);
      await Deno.remove(there);
    }
  });
});

Deno.test("denoKv takes a path from the current directory if there is no config file", async () => {
  await withFolder(async (folder) => {
    const script = new URL("_open.ts", import.meta.url).pathname;
    const { stdout } = await new Deno.Command(Deno.execPath(), {
      args: ["run", "--no-prompt", "-A", "--unstable-kv", script, '{"path":"./data/queue.db"}'],
      cwd: folder,
    }).output();

    assert.equal(new TextDecoder().decode(stdout).trim(), "opened");
    assert.ok((await Deno.stat(`${folder}/data/queue.db`)).isFile);
  });
});

Deno.test("denoKv finds jobs that were done in a database of an earlier release", async () => {
  await withFolder(async (folder) => {
    const path = `${folder}/queue.db`;
    const before = await openStore({ path });
    const queue = await openQueue(before);
    const payloads = Array.from({ length: 9 }, (_, payload) => entry({ payload }));
    const ids = (await queue.add(payloads, NOW)).map(({ id }) => id);
    for (const job of await queue.lease([9], NOW)) await queue.settle([end(job)], NOW);
    await before.close();
    const kv = await Deno.openKv(path);
    const pointers = { prefix: ["sluice", "pool", "p", "m"] };
    for await (const { key } of kv.list(pointers)) await kv.delete(key);
    await kv.delete(["sluice", "schema", "pointers"]);
    assert.deepEqual(await audit(kv, "p"), []);
    kv.close();

    const store = await openStore({ path });

    const after = await openQueue(store);
    for (const [payload, id] of ids.entries()) {
      assert.equal((await after.find(id))?.payload, payload);
    }
    await store.close();
    const again = await Deno.openKv(path);
    assert.deepEqual(await audit(again, "p"), []);
    again.close();
  });
});

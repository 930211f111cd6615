import assert from "node:assert/strict";
import type { ConfigInput } from "../../src/config/input.ts";
import type { PoolParts } from "../_virtual.ts";
import { Bench, type Process } from "../cases/_bench.ts";
import { DATABASES, DurableBench } from "../cases/_durable.ts";

/** What the processes of a bench share: a store in memory that outlives them, or a database. */
const STORES: readonly (readonly [
  where: string,
  run: (test: (bench: Bench) => Promise<void>) => Promise<void>,
])[] = [["in memory", async (test) => {
  const bench = new Bench();
  try {
    await test(bench);
  } finally {
    await bench.stop();
  }
}], ...DATABASES];

/** A pool with these lanes; those marked with `!` are paused by the config. */
function lanes(...names: readonly string[]): PoolParts {
  return {
    lanes: names.map((name) => ({
      name: name.replace("!", ""),
      ...(name.endsWith("!") ? { paused: true } : {}),
    })),
  };
}

/** Names of the lanes that are paused in a process. */
function pausedIn({ pool }: Process): readonly string[] {
  return pool.snapshot().lanes.filter((lane) => lane.paused).map((lane) => lane.name);
}

/** Does something that waits for the store, while time passes. */
async function during<T>(bench: Bench, work: Promise<T>): Promise<T> {
  const done = work.finally(() => {});
  await bench.settle();
  await bench.advance(100);
  return await done;
}

/** Ends a process as a stop does. */
async function leave(bench: Bench, process: Process): Promise<void> {
  if (bench instanceof DurableBench) await bench.leave(process);
  else await during(bench, process.sluice.stop());
  bench.processes.splice(bench.processes.indexOf(process), 1);
}

/** Stops a process and starts one with another config in its place. */
async function restart(bench: Bench, process: Process, parts: PoolParts): Promise<Process> {
  await leave(bench, process);
  return await bench.start(parts);
}

/** Reloads a process with other lanes. */
async function reload(bench: Bench, process: Process, parts: PoolParts): Promise<void> {
  const config = { store: "shared", pools: { p: { ...process.given, ...parts } } };
  await during(bench, process.sluice.reload(config as ConfigInput)); // as the bench makes it
}

for (const [where, withStore] of STORES) {
  Deno.test(`a lane that the config pauses is paused at the first start ${where}`, async () => {
    await withStore(async (bench) => {
      assert.deepEqual(pausedIn(await bench.start(lanes("high", "low!"))), ["low"]);
    });
  });

  Deno.test(`a config that begins to pause a lane does so at a restart ${where}, though people have paused and resumed`, async () => {
    await withStore(async (bench) => {
      const first = await bench.start(lanes("high", "low"));
      await during(bench, first.pool.pause("high"));
      await during(bench, first.pool.pause());
      await during(bench, first.pool.resume());
      const second = await restart(bench, first, lanes("high", "low!", "new!"));

      assert.deepEqual(pausedIn(second), ["high", "low", "new"]);
    });
  });

  Deno.test(`what people did outlives a restart with the same config ${where}`, async () => {
    await withStore(async (bench) => {
      const parts = lanes("a!", "b", "c!", "d");
      const first = await bench.start(parts);
      await during(bench, first.pool.resume("a"));
      await during(bench, first.pool.pause("b"));
      const second = await restart(bench, first, parts);
      assert.deepEqual(pausedIn(second), ["b", "c"]);
      const third = await restart(bench, second, parts);

      assert.deepEqual(pausedIn(third), ["b", "c"]);
    });
  });

  Deno.test(`a lane goes on when the config no longer pauses it ${where}, unless people have paused it since`, async () => {
    await withStore(async (bench) => {
      const first = await bench.start(lanes("a!", "b!", "c"));
      await during(bench, first.pool.pause("c"));
      const second = await restart(bench, first, lanes("a", "b!", "c"));
      assert.deepEqual(pausedIn(second), ["b", "c"]);
      await during(bench, second.pool.pause("a"));
      const third = await restart(bench, second, lanes("a", "b", "c"));

      assert.deepEqual(pausedIn(third), ["a", "c"]);
    });
  });

  Deno.test(`a value that comes and goes in the config leaves no pause of before ${where}`, async () => {
    await withStore(async (bench) => {
      let process = await bench.start(lanes("a"));
      await during(bench, process.pool.pause("a"));
      process = await restart(bench, process, lanes("a!"));
      assert.deepEqual(pausedIn(process), ["a"]);
      process = await restart(bench, process, lanes("a"));

      assert.deepEqual(pausedIn(process), []);
    });
  });

  Deno.test(`a renamed lane is as the config says ${where}, and the pause stays with the old name`, async () => {
    await withStore(async (bench) => {
      const first = await bench.start(lanes("a", "b!"));
      await during(bench, first.pool.pause("a"));
      await during(bench, first.pool.resume("b"));
      const second = await restart(bench, first, lanes("a2", "b2!"));
      assert.deepEqual(pausedIn(second), ["b2"]);
      const third = await restart(bench, second, lanes("a", "b2!"));

      assert.deepEqual(pausedIn(third), ["a", "b2"]);
    });
  });

  Deno.test(`a start with another value holds for all processes ${where}, a reload too`, async () => {
    await withStore(async (bench) => {
      const one = await bench.start(lanes("a", "b"));
      const other = await bench.start(lanes("a!", "b"));
      await bench.advance(15_000);
      assert.deepEqual([one, other].map(pausedIn), [["a"], ["a"]]);

      await reload(bench, one, lanes("a", "b!"));
      await bench.advance(15_000);
      assert.deepEqual([one, other].map(pausedIn), [["a", "b"], ["a", "b"]]);

      await during(bench, one.pool.resume("b"));
      await reload(bench, other, lanes("a!", "b!")); // one has loaded that already
      await bench.advance(15_000);
      assert.deepEqual([one, other].map(pausedIn), [["a"], ["a"]]);
    });
  });

  Deno.test(`a reload pauses and resumes lanes ${where}: new, renamed, edited; others stay`, async () => {
    await withStore(async (bench) => {
      const process = await bench.start(lanes("a", "b!", "c"));
      await during(bench, process.pool.pause("c"));
      await reload(bench, process, lanes("a!", "b", "c", "d!"));
      assert.deepEqual(pausedIn(process), ["a", "c", "d"]);
      await during(bench, process.pool.resume("d"));
      await reload(bench, process, { ...lanes("a!", "b", "c", "d!"), tickMs: 40 });
      assert.deepEqual(pausedIn(process), ["a", "c"]);
      await reload(bench, process, lanes("a", "b", "c", "e!"));

      assert.deepEqual(pausedIn(process), ["c", "e"]);
    });
  });

  Deno.test(`a pause of the whole pool ${where} leaves what the config says of its lanes`, async () => {
    await withStore(async (bench) => {
      const first = await bench.start(lanes("a", "b!"));
      await during(bench, first.pool.pause());
      const second = await restart(bench, first, lanes("a", "b!"));
      assert.deepEqual(pausedIn(second), ["a", "b"]);
      await during(bench, second.pool.resume());

      assert.deepEqual(pausedIn(second), ["b"]);
    });
  });
}

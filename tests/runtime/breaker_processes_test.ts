import assert from "node:assert/strict";
import { RetryLater } from "../../src/contract/errors.ts";
import type { Job, JobContext } from "../../src/contract/job.ts";
import { type Bench, withBench } from "../cases/_bench.ts";

/** A receiver for all processes, which refuses some keys for a while, for 20 s each. */
class Receiver {
  readonly calls: { readonly key: string; readonly atMs: number }[] = [];
  readonly #bench: Bench;
  readonly #startMs: number;
  readonly #badUntilMs: number;

  constructor(bench: Bench, badForMs: number) {
    this.#bench = bench;
    this.#startMs = bench.clock.nowMs();
    this.#badUntilMs = badForMs;
  }

  readonly handler = async ({ key = "" }: Job, context: JobContext): Promise<void> => {
    const { clock } = this.#bench;
    const atMs = clock.nowMs() - this.#startMs;
    this.calls.push({ key, atMs });
    await new Promise<void>((resolve) => clock.at(clock.nowMs() + 5, resolve));
    if (!key.startsWith("bad") || atMs >= this.#badUntilMs) return;
    context.overloaded(20_000);
    throw new RetryLater(20_000);
  };

  refused(): number {
    return this.calls.filter(({ key, atMs }) => key.startsWith("bad") && atMs < this.#badUntilMs)
      .length;
  }
}

for (const processes of [1, 4]) {
  Deno.test(`${processes} processes learn each by itself that a key is refused, and hold it together`, async () => {
    await withBench(async (bench) => {
      const receiver = new Receiver(bench, 60_000);
      const parts = {
        handler: receiver.handler,
        size: { min: 4, max: 8 },
        lanes: [{ name: "only", maxRunningPerKey: 2 }],
        admission: "admit-all",
        cooldown: { by: "key" },
        tickMs: 200,
      } as const;
      for (let index = 0; index < processes; index++) await bench.start(parts, { cap: 8 });
      const { pool } = bench.processes[0]!;
      for (let index = 0; index < 500; index++) pool.post({ lane: "only", payload: 0, key: "bad" });
      for (let index = 0; index < 500; index++) {
        pool.post({ lane: "only", payload: 0, key: `good${index % 20}` });
      }
      await bench.advance(59_000, { stepMs: 250 });

      const events = bench.referee.events.filter(({ kind }) => kind === "job-deferred");
      assert.ok(receiver.refused() <= processes * (3 + 2 + 3), `${receiver.refused()} calls`);
      assert.ok(events.length <= processes * 20, `${events.length} jobs deferred`);
      assert.equal(receiver.calls.length - receiver.refused(), 500, "the others are done");

      await bench.advance(60_000, { stepMs: 250 });
      assert.equal(receiver.calls.length - receiver.refused(), 1000);
      await bench.advance(150_000, { stepMs: 5000 }); // who has no more jobs of it forgets the key
      assert.ok(bench.processes.every((one) => one.pool.snapshot().openKeys === 0));
    });
  });

  Deno.test(`${processes} processes send a probe each to a receiver that refuses all`, async () => {
    await withBench(async (bench) => {
      const receiver = new Receiver(bench, 60_000);
      const parts = {
        handler: receiver.handler,
        size: { min: 2, max: 8 },
        lanes: [{ name: "only" }],
        admission: "admit-all",
        tickMs: 200,
      } as const;
      for (let index = 0; index < processes; index++) await bench.start(parts, { cap: 8 });
      const { pool } = bench.processes[0]!;
      for (let index = 0; index < 2000; index++) {
        pool.post({ lane: "only", payload: 0, key: "bad" });
      }
      await bench.advance(59_000, { stepMs: 250 });

      // At first as many as there are workers, then a probe each 20 s.
      assert.ok(receiver.refused() <= processes * (8 + 3), `${receiver.refused()} calls`);
    });
  });
}

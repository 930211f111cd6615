import assert from "node:assert/strict";
import {
  type ConfigInput,
  Fatal,
  type JobContext,
  type JobRecord,
  RetryLater,
  type Sluice,
  start,
} from "../../mod.ts";

const STORES: Readonly<Record<string, Pick<ConfigInput, "store">>> = {
  "in memory": {},
  "in deno-kv": { store: { use: "deno-kv", with: { path: ":memory:" } } },
};

type Run = (job: { readonly payload: unknown; readonly attempt: number }, c: JobContext) => unknown;

/** One pool named `p` whose jobs fail as `handler` says, three times at most. */
async function startWith(where: string, handler: Run, workers = 1): Promise<Sluice> {
  return await start({
    ...STORES[where],
    pools: {
      p: {
        handler,
        size: { min: workers, max: workers },
        lanes: [{ name: "lane", attempts: 3, backoff: { baseMs: 1, maxMs: 1 } }],
      },
    },
  });
}

/** Runs one job to its end. */
async function ended(sluice: Sluice, payload: unknown): Promise<JobRecord> {
  const job = await sluice.enqueue("p", { lane: "lane", payload });
  await job.done;
  return await found(sluice, job.id);
}

async function found(sluice: Sluice, id: string): Promise<JobRecord> {
  const record = await sluice.pool("p").find(id);
  assert.ok(record !== undefined);
  return record;
}

for (const where of Object.keys(STORES)) {
  Deno.test(`Each attempt keeps start, duration, worker, error and stack, ${where}`, async () => {
    const before = Date.now();
    await using sluice = await startWith(where, ({ attempt }) => {
      if (attempt < 3) {
        throw new TypeError(`no ${attempt}`, { cause: new Error("the wire is cut") });
      }
      return "ok";
    });

    const { state, error, history, revived } = await ended(sluice, 1);

    assert.deepEqual([state, error, revived], ["done", undefined, undefined]);
    assert.deepEqual(history?.map((one) => [one.attempt, one.end, one.error, one.worker]), [
      [1, "failed", "no 1", "w1"],
      [2, "failed", "no 2", "w1"],
      [3, "done", undefined, "w1"],
    ]);
    assert.ok(history?.every(({ ms, startedAtMs }) => ms >= 0 && startedAtMs >= before));
    assert.match(
      history?.[0]?.stack ?? "",
      /^TypeError\n +at .*history_test[^]*\nCaused by Error: /,
    );
    assert.match(history?.[0]?.stack ?? "", /the wire is cut\n +at /);
  });

  Deno.test(`A dead job that is retried keeps what it was, and says that it was, ${where}`, async () => {
    let fails = true;
    await using sluice = await startWith(where, () => {
      if (fails) throw new Error("down");
    });
    const dead = await ended(sluice, 1);
    fails = false;

    await sluice.pool("p").change(dead.id, "revive");
    while ((await found(sluice, dead.id)).state !== "done") await turn();

    const { attempt, error, history, revived } = await found(sluice, dead.id);
    assert.equal(dead.error, "down");
    assert.equal(dead.revived, undefined);
    assert.deepEqual([attempt, error, revived?.attempts], [1, undefined, 3]);
    assert.ok(revived !== undefined && revived.atMs >= (dead.endedAtMs ?? Infinity) - 1);
    assert.deepEqual(history?.map((one) => [one.attempt, one.end]), [
      ...[[1, "failed"], [2, "failed"], [3, "failed"]],
      [1, "done"],
    ]);
    await sluice.pool("p").change(dead.id, "revive"); // it is done: nothing changes
    assert.equal((await found(sluice, dead.id)).revived?.attempts, 3);
  });

  Deno.test(`Of many attempts the last five are kept, deferrals in a row as one, ${where}`, async () => {
    let calls = 0;
    await using sluice = await startWith(where, () => {
      if (calls++ < 40) throw new RetryLater(0, calls < 20 ? "not now" : "later");
      throw new Fatal("no");
    });

    const { history, attempt } = await ended(sluice, 1);

    assert.equal(attempt, 1);
    assert.deepEqual(history?.map(({ end, error, times, stack }) => [end, error, times, !!stack]), [
      ["deferred", "not now", 19, false],
      ["deferred", "later", 21, false],
      ["failed", "no", undefined, true],
    ]);
  });

  Deno.test(`What a handler logs and reports is kept with its attempt, the last 100 lines, ${where}`, async () => {
    await using sluice = await startWith(where, async ({ attempt }, context) => {
      for (let line = 1; line <= 250; line++) context.log.info("at", { line });
      context.log.debug("x".repeat(5_000));
      await context.progress({ page: attempt });
      if (attempt === 1) throw new Error("no");
    });

    const { history } = await ended(sluice, 1);

    const [first, second] = history ?? [];
    assert.deepEqual([first?.end, first?.progress, second?.end], ["failed", { page: 1 }, "done"]);
    assert.equal(second?.log?.length, 100);
    assert.equal(second?.log?.[0]?.text, "at line=152");
    assert.deepEqual([second?.log?.at(-1)?.level, second?.log?.at(-1)?.text.length], [
      "debug",
      500,
    ]);
    assert.ok(JSON.stringify(history).length <= 12_000);
  });

  Deno.test(`A job that is done at its first attempt keeps nothing of it, ${where}`, async () => {
    await using sluice = await startWith(where, (_, context) => context.progress(1));

    const record = await ended(sluice, 1);

    assert.equal("history" in record, false);
    assert.equal("revived" in record, false);
  });

  for (const bytes of [0, 8_192, 49_900, 200_000]) {
    Deno.test(`Large errors, logs and results fit beside a payload of ${bytes} bytes, ${where}`, async () => {
      const payload = "p".repeat(bytes);
      await using sluice = await startWith(where, ({ attempt, payload }, { log }) => {
        for (let line = 0; line < 200; line++) log.info("é".repeat(600));
        const [fate] = payload as string; // as it is added below
        if (attempt < 3 || fate === "d") throw new Error("\u0001".repeat(100_000));
        return "r".repeat(59_000);
      }, 60);

      const jobs = await Promise.all(
        Array.from(
          { length: 60 },
          async (_, index) =>
            await sluice.enqueue("p", {
              lane: "lane",
              payload: (index < 30 ? "d" : "r") + payload,
            }),
        ),
      );
      await Promise.all(jobs.map(({ done }) => done));

      for (const [index, { id }] of jobs.entries()) {
        const { state, result, error, history, attempt } = await found(sluice, id);
        assert.equal(attempt, 3);
        assert.deepEqual(
          index < 30 ? [state, error?.startsWith("\u0001")] : [state, (result as string).length],
          index < 30 ? ["dead", true] : ["done", 59_000],
        );
        assert.ok(JSON.stringify(history ?? []).length <= 12_000);
        if (index < 30 && bytes < 40_000) assert.equal(history?.at(-1)?.end, "failed");
      }
    });
  }
}

async function turn(): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, 1));
}

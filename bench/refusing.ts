/**
 * What a receiver that refuses gets of several processes with circuit breakers, and without.
 *
 * @module
 */

import { delay } from "../src/base/async.ts";
import type { Bench, Figures } from "./_bench.ts";
import { shareQueue } from "./_rate_workers.ts";

const REFUSED_MS = 15_000;
const PATIENCE_MS = 60_000;
const JOBS = { none: 2000, some: 600 } as const; // slots of keys take their time over a network
/** How long the receiver takes to answer, ms. */
const ANSWER_MS = 20;

/** What is refused, and what the pool does about it. */
const SCENES = {
  "all, breaker": { keys: [], cooldown: {} },
  "all, none": { keys: [], cooldown: false },
  "1 key of 4, breakers by key": { keys: ["bad", "b", "c", "d"], cooldown: { by: "key" } },
  "1 key of 4, none": { keys: ["bad", "b", "c", "d"], cooldown: false },
} as const;

const CASES = Object.keys(SCENES).flatMap((scene) =>
  ["file", "KV Connect"].flatMap((store) =>
    [1, 4].map((processes) => `${scene}: ${processes} on ${store}`)
  )
);

/**
 * Figures: "refused", calls that were refused in 15 s; "othersMs" until all jobs of the other keys are
 * done; "lateMs" from the end of the refusals until all are.
 */
export const refusing: Bench = {
  name: "refusing",
  about:
    "2,000 jobs, or 600 of four keys, to a receiver that answers 429 for 15 s, to all or to one key",
  rounds: 1,
  cases: CASES,
  measure,
  targets: [],
};

async function measure(of: string): Promise<Figures> {
  const [, scene, processes, store] = /^(.+): (\d) on (.+)$/.exec(of)!; // names are made above
  const { keys, cooldown } = SCENES[scene as keyof typeof SCENES];
  const all = keys.length === 0 ? JOBS.none : JOBS.some;
  await using stack = new AsyncDisposableStack();
  const receiver = stack.use(receive());
  const queue = await shareQueue(stack, store!);
  const config = {
    store: queue.store,
    pools: {
      p: {
        handler: { use: "http", with: { url: receiver.url } },
        size: { min: 4, max: 32 },
        lanes: [{ name: "jobs", maxRunningPerKey: 5 }],
        admission: "admit-all",
        adaptive: false,
        cooldown,
      },
    },
  };
  await queue.work(Number(processes), { config, jobs: all, keys });
  const fromMs = receiver.startMs();
  const others = keys.length === 0 ? 0 : all - all / keys.length;
  let othersMs = 0;
  while (receiver.done.total < all && performance.now() - fromMs < PATIENCE_MS + REFUSED_MS) {
    if (othersMs === 0 && receiver.done.total - receiver.done.bad >= others) {
      othersMs = performance.now() - fromMs;
    }
    await delay(20);
  }
  return {
    refused: receiver.done.refused,
    ...others === 0 ? {} : { othersMs },
    lateMs: performance.now() - fromMs - REFUSED_MS,
  };
}

interface Done {
  total: number;
  bad: number;
  refused: number;
}

/** Refuses what is for the key "bad" for a while from its first call on. */
function receive(): AsyncDisposable & { url: string; startMs(): number; readonly done: Done } {
  const done: Done = { total: 0, bad: 0, refused: 0 };
  let startMs: number | undefined;
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, async (request) => {
    startMs ??= performance.now();
    const key: unknown = await request.json();
    await delay(ANSWER_MS);
    const isBad = key === "bad" || key === null;
    if (isBad && performance.now() - startMs < REFUSED_MS) {
      done.refused++;
      return new Response(null, { status: 429 });
    }
    done.total++;
    if (isBad) done.bad++;
    return new Response(null, { status: 204 });
  });
  const { hostname, port } = server.addr;
  return {
    url: `http://${hostname}:${port}`,
    startMs: () => startMs ?? performance.now(),
    done,
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}

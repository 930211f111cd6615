/** Stores and queues in Deno KV for tests. */

import assert from "node:assert/strict";
import { denoKv, type DenoKvOptions } from "../../../stores/deno_kv/mod.ts";
import { silentLogger } from "../../../src/runtime/log.ts";
import { bind } from "../../../src/contract/bind.ts";
import type {} from "../../../src/contract/plugin.ts";
import { randomStream } from "../../../src/base/random.ts";
import type {
  JobEntry,
  Leased,
  Queue,
  QueueOptions,
  Settlement,
  Store,
} from "../../../src/contract/store.ts";

/** When the clocks of tests begin. */
export const NOW = Date.UTC(2026, 0, 1);

/** Opens a store with options as a config gives them. */
export async function openStore(options: DenoKvOptions): Promise<Store> {
  const binding = bind(denoKv, options);
  assert.ok(binding.ok, JSON.stringify(binding));
  return await binding.bound.create({
    pool: "",
    lanes: [],
    size: { min: 0, max: 0 },
    random: randomStream(1),
    log: silentLogger(),
  });
}

/** Runs a test on a database in memory. */
export async function withStore(test: (store: Store) => Promise<void>): Promise<void> {
  const store = await openStore({ path: ":memory:" });
  try {
    await test(store);
  } finally {
    await store.close();
  }
}

/** Runs a test with a folder of its own. */
export async function withFolder(test: (folder: string) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir();
  try {
    await test(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** Opens pool "p" with lane "a", or as said. */
export async function openQueue(
  store: Store,
  options: Partial<QueueOptions> = {},
): Promise<Queue> {
  return await store.open({
    pool: "p",
    lanes: [{ name: "a", maxRunningPerKey: Infinity }],
    leaseMs: 30_000,
    attempts: [3, 3, 3],
    keep: { done: 10, dead: 10, forMs: Infinity },
    random: () => 0.5,
    nowMs: NOW,
    listener: { wake() {}, cancelled() {}, ended() {} },
    ...options,
  });
}

/** A job for lane 0, claimable at once. */
export function entry(given: Partial<JobEntry> = {}): JobEntry {
  return {
    lane: 0,
    type: "",
    payload: null,
    key: undefined,
    dueAtMs: 0,
    expiresAtMs: Infinity,
    dedupeKey: undefined,
    traceparent: undefined,
    ...given,
  };
}

/** The end of a lease. */
export function end(
  job: Leased,
  to: Settlement["to"] = "done",
  more: Partial<Settlement> = {},
): Settlement {
  const rest = { dueAtMs: 0, result: undefined, reason: undefined, error: undefined };
  return { job, fence: job.fence, to, charged: to !== "back", ...rest, ...more };
}

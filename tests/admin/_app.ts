/**
 * A running system in memory with the admin API over it, for tests of its routes.
 *
 * @module
 */

import assert from "node:assert/strict";
import { start } from "../../mod.ts";
import { admin, type AdminApp, type AdminOptions } from "../../src/admin/mod.ts";
import { RetryLater } from "../../src/contract/errors.ts";
import type { Job, JobContext } from "../../src/contract/job.ts";
import type { PoolHandle, Sluice } from "../../src/runtime/handles.ts";
import { VirtualClock } from "../../src/time/virtual_clock.ts";

/** A system under test. */
export interface Running {
  readonly app: AdminApp;
  readonly sluice: Sluice;
  readonly clock: VirtualClock;
  /** Lets jobs with the payload `{ hang: true }` end. */
  release(): void;
  /** Sends JSON. */
  send(method: string, path: string, body?: unknown): Promise<Response>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** A problem, as far as tests look at it. */
export interface ProblemBody {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly errors?: readonly { readonly pointer: string; readonly detail: string }[];
  readonly pools?: readonly string[];
  readonly reason?: string;
  readonly retryAfterMs?: number;
  readonly results?: readonly unknown[];
}

/** Starts pools `mail` (lanes `urgent`, `batch`, and `full` that is paused and takes one job) and `typed`. */
export async function running(options: AdminOptions = {}): Promise<Running> {
  const clock = new VirtualClock();
  const gate = Promise.withResolvers<void>();
  const handler = async ({ payload }: Job, context: JobContext): Promise<unknown> => {
    const wish = (payload ?? {}) as { hang?: boolean; fail?: string; refuse?: number }; // what these tests send
    if (wish.hang) await gate.promise;
    if (wish.fail !== undefined) throw new Error(wish.fail);
    if (wish.refuse !== undefined) {
      context.overloaded(wish.refuse);
      throw new RetryLater(wish.refuse);
    }
    return { echo: payload };
  };
  const sluice: Sluice = await start({
    redact: ["password"],
    pools: {
      mail: {
        handler,
        size: { min: 1, max: 4 },
        lanes: [
          { name: "urgent", targetWaitMs: 50, attempts: 1 },
          { name: "batch", targetWaitMs: null },
          { name: "full", paused: true, maxDepth: 1 },
        ],
        lanePolicy: "strict-priority",
      },
      typed: {
        handlers: { send: handler, count: handler },
        size: { min: 1, max: 1 },
        lanes: [{ name: "only", maxRunningPerKey: 1 }],
        cooldown: { by: "key", after: 1 },
        shadow: { controller: "littles-law" },
        schedules: [{ lane: "only", type: "send", cron: "@yearly", payload: { fail: "no" } }],
      },
    },
  }, { clock, seed: 1 });
  const app = admin(sluice, options);
  return {
    app,
    sluice,
    clock,
    release: () => gate.resolve(),
    send: async (method, path, body) =>
      await app.request(path, {
        method,
        headers: { "content-type": "application/json" },
        body: body === undefined ? null : JSON.stringify(body),
      }),
    async [Symbol.asyncDispose]() {
      gate.resolve();
      await sluice.stop();
    },
  };
}

/** Reads a problem and checks its form. */
export async function problemOf(response: Response): Promise<ProblemBody> {
  const body: ProblemBody = await response.json();
  if (response.headers.get("content-type") !== "application/problem+json") {
    throw new Error(`Not a problem: ${JSON.stringify(body)}`);
  }
  return body;
}

/** The same system with its first pool changed. */
export function withPool(
  sluice: Sluice,
  change: (pool: PoolHandle) => Partial<PoolHandle>,
): Sluice {
  const [first, ...rest] = sluice.pools;
  assert.ok(first !== undefined);
  const changes: Partial<PoolHandle> = change(first);
  const pool = new Proxy(first, {
    get: (target, key) => {
      const value = Reflect.get(key in changes ? changes : target, key, target);
      return typeof value === "function" && !(key in changes) ? value.bind(target) : value;
    },
  });
  return new Proxy(sluice, {
    get: (target, key) => {
      const value = key === "pools" ? [pool, ...rest] : Reflect.get(target, key, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

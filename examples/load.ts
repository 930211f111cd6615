/**
 * Sends a spike to a running pool and shows once a second how it grows and shrinks:
 *
 * `deno task load --pool limited --phases 50x5,200x10,50x5 --lanes urgent=1,batch=4`
 *
 * A phase is jobs a second x seconds. Lanes take turns by weight; without `--lanes` all take the
 * same share. Jobs keep an absolute schedule: what is due is sent, however late the timer fires.
 *
 * @module
 */

import { parseArgs } from "node:util";
import type { PoolJson } from "../src/admin/http/wire.ts";
import { delay } from "../src/base/async.ts";
import { messageOf } from "../src/contract/errors.ts";
import { dueAfter, parseLanes, parsePhases, type Phase, SPIKE, turns } from "./phases.ts";

/** Options of `sendLoad`. */
export interface LoadOptions {
  /** Where the admin API listens. */
  readonly adminUrl: string;
  /** Which pool to send to. */
  readonly pool: string;
  /** What to send, in order. @default {50/s, 800/s and 50/s for 10 s each} */
  readonly phases?: readonly Phase[];
  /** Weights of lanes. @default {all lanes of the pool alike} */
  readonly lanes?: Readonly<Record<string, number>> | undefined;
  /** Takes each line of the report. */
  readonly print: (line: string) => void;
  /** Ends it early. */
  readonly signal?: AbortSignal | undefined;
}

/** Most jobs of one request. */
const MOST_AT_ONCE = 1000;

/** Time between requests, ms: jobs that fell due meanwhile go together. */
const SEND_EVERY_MS = 10;

/** How long the report waits for the pool to shrink back, ms. */
const SETTLE_MS = 60_000;

/**
 * Sends the phases; resolves once the pool is empty and back at its minimum.
 *
 * @throws {TypeError} If the pool has no lane of a given name.
 */
export async function sendLoad(options: LoadOptions): Promise<void> {
  const { phases = SPIKE, signal } = options;
  const before = await readPool(options);
  const nextLane = turns(lanesOf(options, before));
  const endMs = phases.reduce((sum, { seconds }) => sum + seconds * 1000, 0);
  const total = dueAfter(phases, endMs);
  const sending = new Set<Promise<void>>();
  const startedMs = performance.now();
  let sent = 0;
  let fault: unknown;
  const report = reporter(options, startedMs, () => sent);
  while (sent < total && fault === undefined && signal?.aborted !== true) {
    const due = dueAfter(phases, performance.now() - startedMs);
    const jobs = Array.from({ length: Math.min(due - sent, MOST_AT_ONCE) }, () => ({
      lane: nextLane(),
      payload: { event: "order.paid", order: ++sent },
    }));
    if (jobs.length > 0) {
      const request = post(options, jobs)
        .catch((thrown) => fault ??= thrown)
        .finally(() => sending.delete(request));
      sending.add(request);
    }
    await Promise.all([report(), delay(SEND_EVERY_MS)]);
  }
  await Promise.all(sending);
  if (fault !== undefined) throw fault;
  const { live, totals } = await settle(options, report);
  const done = totals.completions - before.totals.completions;
  const shed = totals.shed - before.totals.shed;
  options.print(`Done: ${done} jobs done, ${shed} shed, ${live} workers live`);
}

function lanesOf({ lanes }: LoadOptions, pool: PoolJson): Readonly<Record<string, number>> {
  const known = pool.lanes.map((lane) => lane.name);
  if (lanes === undefined) return Object.fromEntries(known.map((name) => [name, 1]));
  const unknown = Object.keys(lanes).find((name) => !known.includes(name));
  if (unknown === undefined) return lanes;
  throw new TypeError(`No lane is named "${unknown}": the pool has ${known.join(", ")}`);
}

/** Goes on with the report until the pool is empty and at its minimum. */
async function settle(options: LoadOptions, report: () => Promise<void>): Promise<PoolJson> {
  const untilMs = performance.now() + SETTLE_MS;
  for (;;) {
    const pool = await readPool(options);
    const isEmpty = pool.lanes.every((lane) => lane.ready + lane.delayed + lane.running === 0);
    if (isEmpty && pool.live <= pool.size.min) return pool;
    if (performance.now() > untilMs || options.signal?.aborted === true) return pool;
    await report();
    await delay(100);
  }
}

/** Prints a line when a second has passed since the last one. */
function reporter(
  options: LoadOptions,
  startedMs: number,
  sent: () => number,
): () => Promise<void> {
  let second = 0;
  let before = { sent: 0, done: 0 };
  return async () => {
    const now = Math.floor((performance.now() - startedMs) / 1000);
    if (now === second) return;
    const pool = await readPool(options);
    const after = { sent: sent(), done: pool.totals.completions };
    const perSec = (from: number, to: number): string => {
      return `${Math.round((to - from) / (now - second))}/s`.padStart(5);
    };
    const waits = pool.lanes.map((lane) => `${lane.name} ${Math.round(lane.oldestWaitMs)} ms`);
    options.print([
      `${String(now).padStart(3)} s`,
      `sent ${perSec(before.sent, after.sent)}`,
      `done ${second === 0 ? "" : perSec(before.done, after.done)}`.padEnd(10),
      `workers ${String(pool.live).padStart(2)} (${pool.busy} busy)`.padEnd(19),
      `oldest wait: ${waits.join(", ")}`,
      `shed ${pool.totals.shed}`,
    ].join("  "));
    second = now;
    before = after;
  };
}

async function post(options: LoadOptions, jobs: readonly unknown[]): Promise<void> {
  const response = await ask(options, "/jobs", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(jobs),
  });
  await response.body?.cancel(); // jobs that were rejected: the report counts them
}

async function readPool(options: LoadOptions): Promise<PoolJson> {
  return await (await ask(options, "")).json();
}

async function ask(options: LoadOptions, path: string, init?: RequestInit): Promise<Response> {
  const { adminUrl, pool } = options;
  const response = await fetch(`${adminUrl}/api/pools/${pool}${path}`, init).catch((thrown) => {
    const message = `Cannot reach ${adminUrl}: start the example with "deno task start"`;
    throw new Error(message, { cause: thrown });
  });
  if (response.ok || response.status === 429) return response;
  throw new Error(`${adminUrl} answered ${response.status}: ${await response.text()}`);
}

const USAGE = "Usage: deno task load [--url URL] [--pool NAME] [--phases 50x5,200x10] " +
  "[--lanes urgent=1,batch=4]";

if (import.meta.main) {
  try {
    const { values } = parseArgs({
      options: {
        url: { type: "string", default: "http://127.0.0.1:8787" },
        pool: { type: "string", default: "webhooks" },
        phases: { type: "string" },
        lanes: { type: "string" },
      },
    });
    await sendLoad({
      adminUrl: values.url,
      pool: values.pool,
      phases: values.phases === undefined ? SPIKE : parsePhases(values.phases),
      lanes: values.lanes === undefined ? undefined : parseLanes(values.lanes),
      // deno-lint-ignore no-console
      print: console.log,
    });
  } catch (thrown) {
    const usage = thrown instanceof TypeError ? `\n${USAGE}` : "";
    // deno-lint-ignore no-console
    console.error(messageOf(thrown) + usage);
    Deno.exit(1);
  }
}

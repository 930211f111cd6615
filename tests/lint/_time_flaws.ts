/**
 * Flaws of retries, time limits, depths, growth and stores.
 *
 * @module
 */

import type { NamedSlot } from "../../src/config/slot_input.ts";
import { filled, type Flaw, FLOOD, load, RARE, run, SPIKE } from "./_flaws.ts";

const DRAIN = { name: "x", targetWaitMs: null, startWithinMs: 60_000 } as const;

const [EU, US, EU_ONE] = [
  { if: { key: "eu-*" }, lane: "x" },
  { if: { key: "us-*" }, lane: "x" },
  { if: { key: "eu-*-1" }, lane: "x" },
];

/** A handler that delivers, and gives each request so long. */
function delivery(timeoutMs: number): NamedSlot {
  return { use: "http", with: { url: "http://127.0.0.1:9/hook", timeoutMs } };
}

/** Each with the config in which it is fixed. */
export const TIME_FLAWS: readonly Flaw[] = [
  {
    code: "retry-load",
    severity: "warning",
    pointer: "/pools/p/size/max",
    given: {
      pool: { size: { min: 2, max: 19 }, lanes: [load(18, 2000)] },
    },
    mended: { pool: { size: { min: 2, max: 21 }, lanes: [load(18, 2000)] } },
    numbers: { load: 18, f: 0.1, workers: 19 },
    change: /^Raise size\.max to 2[01] workers$/,
  },
  {
    code: "retry-at-once",
    severity: "warning",
    pointer: "/pools/p/lanes/0/backoff/baseMs",
    given: { pool: { lanes: [{ name: "x", backoff: { baseMs: 0 } }] } },
    mended: { pool: { lanes: [{ name: "x", backoff: { baseMs: 0 }, attempts: 1 }] } },
    numbers: { baseMs: 0, attempts: 5 },
    change: /^Let it wait as long as the downstream needs to recover/,
  },
  {
    code: "retry-in-step",
    severity: "warning",
    pointer: "/pools/p/lanes/0/backoff/jitter",
    given: { pool: { lanes: [{ name: "x", backoff: { jitter: 0 } }] } },
    mended: { pool: { lanes: [{ name: "x", backoff: { jitter: 0.5 } }] } },
    numbers: { jitter: 0 },
    change: /^Set backoff\.jitter to 0\.5$/,
  },
  {
    code: "retry-past-ttl",
    severity: "warning",
    pointer: "/pools/p/lanes/0/ttlMs",
    given: { pool: { lanes: [{ name: "x", ttlMs: 500 }] } },
    mended: { pool: { lanes: [{ name: "x", ttlMs: 5000 }] } },
    numbers: { baseMs: 1000, ttlMs: 500 },
    change: /^Raise ttlMs above 1000 ms, or let it wait for less$/,
  },
  {
    code: "breaker-one-by-one",
    severity: "warning",
    pointer: "/pools/p/lanes/0/maxRunningPerKey",
    given: { pool: { lanes: [{ name: "x" }], cooldown: { by: "key" } } },
    mended: { pool: { lanes: [{ name: "x", maxRunningPerKey: 5 }], cooldown: { by: "key" } } },
    numbers: { maxRunningPerKey: Infinity },
    change: /^Set maxRunningPerKey, such as to 5/,
  },
  {
    code: "rate-forgotten",
    severity: "warning",
    pointer: "/pools/p/lanes/0/ratesPerKey",
    given: { pool: { lanes: [{ name: "x", ratesPerKey: [{ calls: 60, perMs: 60_000 }] }] } },
    mended: {
      store: "durable",
      pool: { lanes: [{ name: "x", ratesPerKey: [{ calls: 60, perMs: 60_000 }] }] },
    },
    numbers: { windowMs: 60_000 },
    change: /^Use a store that is kept/,
  },
  {
    code: "key-rate-unused",
    severity: "note",
    pointer: "/pools/p/lanes/0/ratesPerKey",
    given: {
      pool: { lanes: [{ ...run(1500), ratesPerKey: [{ calls: 2, perMs: 1000 }] }] },
    },
    mended: {
      pool: { lanes: [{ ...run(1500), ratesPerKey: [{ calls: 4, perMs: 2000 }] }] },
    },
    numbers: { slots: 2, rate: 2, needed: 3 },
    change: /^Give the rate as more calls in a longer window, and let 3 start at once by burst$/,
  },
  {
    code: "key-rate-unused",
    severity: "note",
    pointer: "/pools/p/lanes/0/maxRunningPerKey",
    given: {
      pool: {
        lanes: [{ ...run(500), maxRunningPerKey: 1, ratesPerKey: [{ calls: 4, perMs: 1000 }] }],
      },
    },
    mended: {
      pool: {
        lanes: [{ ...run(500), maxRunningPerKey: 2, ratesPerKey: [{ calls: 4, perMs: 1000 }] }],
      },
    },
    numbers: { slots: 1, needed: 2 },
    change: /^Raise maxRunningPerKey to 2/,
  },
  {
    code: "deadline-below-run",
    severity: "error",
    pointer: "/pools/p/lanes/0/deadlineMs",
    given: { pool: { lanes: [{ ...run(300), deadlineMs: 200 }] } },
    mended: { pool: { lanes: [{ ...run(300), deadlineMs: 2000 }] } },
    numbers: { serviceMs: 300, deadlineMs: 200 },
    change: /^Raise deadlineMs above 300 ms/,
  },
  {
    code: "timeout-below-run",
    severity: "error",
    pointer: "/pools/p/timeoutMs",
    given: { pool: { timeoutMs: 1000, lanes: [run(2000)] } },
    mended: { pool: { timeoutMs: 6000, lanes: [run(2000)] } },
    numbers: { serviceMs: 2000, timeoutMs: 1000 },
    change: /^Raise timeoutMs to 6000 ms$/,
  },
  {
    code: "timeout-tight",
    severity: "warning",
    pointer: "/pools/p/timeoutMs",
    given: { pool: { timeoutMs: 3000, lanes: [run(2000)] } },
    mended: { pool: { timeoutMs: 6000, lanes: [run(2000)] } },
    numbers: { serviceMs: 2000, timeoutMs: 3000 },
    change: /^Raise timeoutMs to 6000 ms$/,
  },
  {
    code: "lease-short",
    severity: "warning",
    pointer: "/pools/p/leaseMs",
    given: { store: "durable", pool: { leaseMs: 200 } },
    mended: { store: "durable", pool: { leaseMs: 1000 } },
    numbers: { leaseMs: 200 },
    change: /^Raise leaseMs to 1000 or more$/,
  },
  {
    code: "lease-below-run",
    severity: "note",
    pointer: "/pools/p/leaseMs",
    given: { store: "durable", pool: { leaseMs: 3000, lanes: [run(5000)] } },
    mended: { store: "durable", pool: { leaseMs: 6000, lanes: [run(5000)] } },
    numbers: { serviceMs: 5000, leaseMs: 3000 },
    change: /^Raise leaseMs above 5000 ms/,
  },
  {
    code: "deadline-below-lease",
    severity: "note",
    pointer: "/pools/p/lanes/0/deadlineMs",
    given: { store: "durable", pool: { lanes: [{ name: "x", deadlineMs: 5000 }] } },
    mended: { store: "durable", pool: { leaseMs: 3000, lanes: [{ name: "x", deadlineMs: 5000 }] } },
    numbers: { deadlineMs: 5000, leaseMs: 30_000 },
    change: /^Lower leaseMs below 5000 ms/,
  },
  {
    code: "drain-short",
    severity: "warning",
    pointer: "/pools/p/drainMs",
    given: { pool: { drainMs: 2000, lanes: [run(2000)] } },
    mended: { pool: { drainMs: 6000, lanes: [run(2000)] } },
    numbers: { serviceMs: 2000, drainMs: 2000 },
    change: /^Raise drainMs to 6000 ms$/,
  },
  {
    code: "drain-past-kill",
    severity: "warning",
    pointer: "/pools/p/drainMs",
    given: {},
    mended: { pool: { drainMs: 4500 } },
    platform: "deploy",
    numbers: { drainMs: 30_000, killMs: 5000 },
    change: /^Lower drainMs to 4500$/,
  },
  {
    code: "depth-past-deadline",
    severity: "warning",
    pointer: "/pools/p/lanes/0/maxDepth",
    given: {
      pool: {
        lanes: [{ name: "x", deadlineMs: 500, maxDepth: 10_000 }],
        caps: [{ use: "api-rate-cap", with: { callsPerSec: 100 } }],
      },
    },
    mended: {
      pool: {
        lanes: [{ name: "x", deadlineMs: 500, maxDepth: 48 }],
        caps: [{ use: "api-rate-cap", with: { callsPerSec: 100 } }],
      },
    },
    numbers: { maxDepth: 10_000, perSec: 96, deadlineMs: 500 },
    change: /^Lower maxDepth to 48$/,
  },
  {
    code: "depth-below-target",
    severity: "warning",
    pointer: "/pools/p/lanes/0/maxDepth",
    given: { pool: { lanes: [{ ...SPIKE[0], maxDepth: 20 }] } },
    mended: { pool: { lanes: [{ ...SPIKE[0], maxDepth: 80 }] } },
    numbers: { maxDepth: 20, perSec: 800, targetWaitMs: 50, depth: 40 },
    change: /^Raise maxDepth to 80$/,
  },
  {
    code: "growth-slow",
    severity: "warning",
    pointer: "/pools/p/controller",
    given: {
      pool: {
        size: { min: 1, max: 200 },
        lanes: FLOOD,
        controller: { use: "age-scaler", with: { rule: "step", growStep: 1 } },
      },
    },
    mended: {
      pool: { size: { min: 1, max: 200 }, lanes: FLOOD, controller: { use: "age-scaler" } },
    },
    numbers: { min: 1, need: 160 },
    change: /^Raise size\.min to \d+, or let the controller grow by more at a time$/,
  },
  {
    code: "growth-stalls",
    severity: "warning",
    pointer: "/pools/p/controller",
    given: { pool: { lanes: SPIKE, controller: { use: "fixed", with: { workers: 8 } } } },
    mended: { pool: { lanes: SPIKE, controller: { use: "fixed", with: { workers: 17 } } } },
    numbers: { workers: 8, load: 16, need: 16 },
    change: /^Let the controller ask for 16 workers, or set size\.min to 16$/,
  },
  {
    code: "never-grows",
    severity: "warning",
    pointer: "/pools/p/lanes/0/targetWaitMs",
    given: { pool: { size: { min: 1, max: 16 }, lanes: [{ ...RARE, targetWaitMs: null }] } },
    mended: {
      pool: {
        size: { min: 1, max: 16 },
        lanes: [{ ...RARE, targetWaitMs: null, startWithinMs: 600_000 }],
      },
    },
    numbers: { load: 8, others: 0, min: 1, left: 1 },
    change: /^Set "startWithinMs" beside it .*, or raise size\.min to 9$/,
  },
  {
    code: "reserve-below-chance",
    severity: "note",
    pointer: "/pools/p/lanePolicy",
    given: filled("strict-priority"),
    mended: filled({ use: "reserved-lane", with: { reserve: { urgent: 3 } } }),
    numbers: { kept: 0, load: 0.6, enough: 3, lowerMs: 200 },
    change: /^Reserve 3 workers for "urgent"$/,
  },
  {
    code: "reserve-below-chance",
    severity: "note",
    pointer: "/pools/p/lanePolicy",
    given: filled({ use: "reserved-lane", with: { reserve: { urgent: 2 } } }),
    mended: filled({ use: "reserved-lane", with: { reserve: "auto" } }), // learns from waits
    numbers: { kept: 2 },
    change: /^Reserve 3 workers for "urgent"$/,
  },
  {
    code: "weight-unread",
    severity: "warning",
    pointer: "/pools/p/lanes/0/weight",
    given: { pool: { lanes: [{ name: "x", weight: 3 }] } },
    mended: { pool: { lanes: [{ name: "x", weight: 3 }], lanePolicy: "weighed" } },
    numbers: { weight: 3 },
    change: /^Leave the weight out, or take a lane policy that reads it$/,
  },
  {
    code: "start-within-unread",
    severity: "warning",
    pointer: "/pools/p/lanes/0/startWithinMs",
    given: { pool: { lanes: [DRAIN], controller: "depth-scaler" } },
    mended: { pool: { lanes: [DRAIN], controller: "age-scaler" } },
    numbers: { startWithinMs: 60_000 },
    change: /^Take a controller that reads startWithinMs, or give the lane a targetWaitMs$/,
  },
  {
    code: "route-unreached",
    severity: "warning",
    pointer: "/pools/p/routes/2",
    given: { pool: { lanes: [{ name: "x" }], routes: [EU, US, EU_ONE] } },
    mended: { pool: { lanes: [{ name: "x" }], routes: [EU_ONE, EU, US] } },
    numbers: { route: 2, earlier: 0 },
    change: /^Move it before route 0, or remove it$/,
  },
  {
    code: "target-over-max",
    severity: "warning",
    pointer: "/pools/p/controller",
    given: { pool: { controller: { use: "fixed", with: { workers: 40 } } } },
    mended: { pool: { controller: { use: "fixed", with: { workers: 32 } } } },
    numbers: { workers: 40, max: 32 },
    change: /^Let the controller ask for 32 or fewer, or raise size\.max to 40$/,
  },
  {
    code: "request-past-timeout",
    severity: "note",
    pointer: "/pools/p/handler/with/timeoutMs",
    given: { pool: { handler: delivery(20_000), timeoutMs: 15_000 } },
    mended: { pool: { handler: delivery(15_000), timeoutMs: 15_000 } },
    numbers: { requestMs: 20_000, timeoutMs: 15_000 },
    change: /^Lower the handler's timeoutMs to 15000, or raise the pool's to 20000$/,
  },
  {
    code: "request-past-timeout",
    severity: "note",
    pointer: "/pools/p/handlers/hook/with/timeoutMs",
    given: { pool: { handlers: { hook: delivery(61_000) }, handler: undefined } },
    mended: { pool: { handlers: { hook: delivery(60_000) }, handler: undefined } },
    numbers: { requestMs: 61_000, timeoutMs: 60_000 },
    change: /^Lower the handler's timeoutMs to 60000/,
  },
  {
    code: "store-rate",
    severity: "warning",
    pointer: "/store",
    given: {
      store: "deno-kv",
      pool: { lanes: [{ name: "x", expect: { perSec: 20_000, serviceMs: 1 } }] },
    },
    mended: {
      store: "deno-kv",
      pool: { lanes: [{ name: "x", expect: { perSec: 9000, serviceMs: 1 } }] },
    },
    numbers: { perSec: 20_000, writesPerSec: 80_000 },
    change: /^Expect at most 9000 jobs\/s a store/,
  },
];

/**
 * A config that sets every key of the JSON Schema, and which keys of a schema a value sets.
 *
 * @module
 */

import { FINDING_CODES } from "../src/explain/diagnose.ts";
import { ROOT } from "./_source.ts";

/** As much of JSON Schema (draft-07) as ours uses. */
export interface Schema {
  readonly $ref?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema | boolean;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly definitions?: Readonly<Record<string, Schema>>;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly type?: string | readonly string[];
}

/** All keys below a schema, and the words that an enumeration allows. */
export function keysOf(root: Schema): ReadonlySet<string> {
  return visit(root, undefined);
}

/** The keys of a schema that `values` set between them. */
export function keysIn(root: Schema, values: readonly unknown[]): ReadonlySet<string> {
  return visit(root, values);
}

/**
 * Names each key once, by the place of its schema: `pool.keep.done`, `cap[fixed-cap].with.workers`.
 * With `values` only those that one of them sets.
 */
function visit(root: Schema, values: readonly unknown[] | undefined): ReadonlySet<string> {
  const found = new Set<string>();
  const seen = new Set<Schema>();

  function walk(schema: Schema, at: string, given: unknown): void {
    const isListing = values === undefined;
    if (isListing && seen.has(schema)) return;
    seen.add(schema);
    const ref = schema.$ref?.split("/").at(-1);
    if (ref !== undefined) return walk(root.definitions?.[ref] ?? {}, ref, given);
    for (const word of schema.enum ?? []) {
      if (isListing || word === given) found.add(`${at}=${word}`);
    }
    const record = isObject(given) ? given : {};
    for (const [key, own] of Object.entries(schema.properties ?? {})) {
      if (!isListing && !Object.hasOwn(record, key)) continue;
      found.add(`${at}.${key}`);
      walk(own, `${at}.${key}`, record[key]);
    }
    if (typeof schema.additionalProperties === "object") {
      const named = isListing ? [undefined] : Object.entries(record)
        .filter(([key]) => schema.properties?.[key] === undefined).map(([, value]) => value);
      for (const value of named) walk(schema.additionalProperties, `${at}.*`, value);
    }
    if (schema.items !== undefined) {
      const items = isListing ? [undefined] : Array.isArray(given) ? given : [];
      for (const item of items) walk(schema.items, `${at}[]`, item);
    }
    for (const one of [...schema.anyOf ?? [], ...schema.allOf ?? [], ...schema.oneOf ?? []]) {
      if (isListing || fits(one, given)) walk(one, `${at}${markOf(one)}`, given);
    }
  }

  for (const value of values ?? [undefined]) walk(root, "", value);
  return found;
}

/** What tells one alternative from the others: the plugin, the `kind`, or nothing. */
function markOf({ properties: { use, kind } = {} }: Schema): string {
  const mark = use?.const ?? kind?.const;
  return mark === undefined ? "" : `[${mark}]`;
}

/** True if a value may be meant by an alternative: of its type, its plugin and its kind, its keys known. */
function fits(schema: Schema, value: unknown): boolean {
  if (schema.type === "string") return typeof value === "string";
  if (schema.type === "object" || schema.properties !== undefined) {
    if (!isObject(value)) return false;
    return Object.entries(schema.properties ?? {}).every(([key, own]) =>
      own.const === undefined || own.const === value[key]
    ) && Object.keys(value).every((key) =>
      schema.additionalProperties !== false || schema.properties?.[key] !== undefined
    );
  }
  return true;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** What the config that sets every key needs of the outside. */
export interface Outside {
  /** The store. */
  readonly store: unknown;
  /** Address that takes each POST, PUT and PATCH. */
  readonly url: string;
}

/** A module that gives a built-in away as its own. */
function again(name: string, path: string): string {
  return `export { ${name} as default } from ${JSON.stringify(new URL(path, ROOT).href)};\n`;
}

/** Files that stand beside the config. */
export const MODULES: Readonly<Record<string, string>> = {
  "handler.ts": "export default (job) => ({ handled: job.payload });\n",
  "signal.ts": "export const load = () => 1;\nexport default () => 2;\n",
  "store.ts": again("memory", "stores/memory/mod.ts"),
  "controller.ts": again("fixed", "plugins/controller/fixed.ts"),
  "policy.ts": again("fifo", "plugins/lane_policy/fifo.ts"),
  "cap.ts": again("fixedCap", "plugins/cap/fixed_cap.ts"),
  "gate.ts": again("adaptiveCap", "plugins/cap/adaptive_cap.ts"),
  "retirement.ts": again("idleOnly", "plugins/retirement/idle_only.ts"),
  "admission.ts": again("admitAll", "plugins/admission/admit_all.ts"),
};

/** Variables that the config refers to. */
export function variables(url: string): Readonly<Record<string, string>> {
  return {
    ADMIN_TOKEN: "admin-0123456789",
    VIEWER_TOKEN: "viewer-0123456789",
    ALERT_TOKEN: "alert",
    ALERT_URL: `${url}/alerts`,
    AUTHORIZATION: "Bearer hook",
    SIGNING: "whsec_c2lnbmVkLWFzLXN0YW5kYXJkLXdlYmhvb2tz",
    TARGET: url,
  };
}

/** A config that sets every key there is, in several pools: a pool has one controller. */
export function everyKey({ store, url }: Outside): object {
  const size = { min: 1, max: 4 };
  const lanes = [{ name: "urgent" }, { name: "batch" }];
  return {
    $schema: "./pools.schema.json",
    store,
    admin: {
      hostname: "127.0.0.1",
      port: 0,
      tokens: { admin: { env: "ADMIN_TOKEN" }, viewer: { env: "VIEWER_TOKEN" } },
      allowedHosts: ["pools.example.com"],
      basePath: "/queue",
      trustedProxies: ["10.0.0.1"],
      alerts: {
        url: { env: "ALERT_URL" },
        token: { env: "ALERT_TOKEN" },
        ignore: FINDING_CODES,
      },
    },
    allowModules: ["https://example.com/plugin.ts"],
    redact: ["password"],
    downstreams: {
      db: { connections: 200 },
      api: {
        rates: [
          { calls: 1000, perMs: 1000 },
          { calls: 5000, perMs: 10_000, burst: 50 },
        ],
      },
      mailer: { cooldown: { after: 2, minMs: 500, maxMs: 5000, failures: 10, gone: true } },
    },
    pools: {
      full: {
        handlers: {
          post: {
            use: "http",
            with: {
              url: { env: "TARGET" },
              method: "PUT",
              headers: { authorization: { env: "AUTHORIZATION" }, "x-from": "sluice" },
              timeoutMs: 30_000,
              downstream: "api",
            },
          },
          nap: { use: "sleep", with: { ms: 1 } },
          own: { use: "./handler.ts#default", with: {} },
        },
        size,
        lanes: [
          {
            name: "urgent",
            targetWaitMs: 50,
            deadlineMs: 60_000,
            maxDepth: 100,
            maxRunning: 3,
            maxRunningPerKey: 1,
            ratesPerKey: [{ calls: 2, perMs: 1000, burst: 1 }],
            ttlMs: 600_000,
            attempts: 2,
            timeoutMs: 20_000,
            backoff: { baseMs: 10, factor: 3, maxMs: 20, jitter: 0, forMs: 60_000 },
            onDead: { pool: "full", lane: "batch", type: "nap" },
            then: { pool: "full", lane: "batch", type: "nap" },
            dedupe: { mode: "debounce", waitMs: 10, maxMs: 20 },
            weight: 2,
            paused: false,
            expect: { perSec: 1, serviceMs: 5 },
          },
          {
            name: "batch",
            targetWaitMs: null,
            startWithinMs: 600_000,
            paused: true,
            backoff: { delaysMs: [10, 20] },
            dedupe: { mode: "window", windowMs: 10 },
          },
          { name: "ended", dedupe: { mode: "until-end" } },
          { name: "started", dedupe: { mode: "until-start" } },
          { name: "latest", dedupe: { mode: "replace" } },
        ],
        sizes: [{ cron: "0 8 * * 1-5", timezone: "Europe/Berlin", min: 1, max: 4 }],
        routes: [{ if: { type: "n*", key: "vip-*" }, lane: "urgent" }, { lane: "batch" }],
        controller: {
          use: "age-scaler",
          with: {
            targetWaitMs: 100,
            rule: "deadline",
            grow: 0.4,
            lookBackMs: 4000,
            maxLookBackMs: 50_000,
          },
        },
        shadow: {
          controller: {
            use: "age-scaler",
            with: { rule: "step", growStep: 2, idleMs: 900 },
          },
        },
        lanePolicy: { use: "reserved-lane", with: { reserve: { urgent: 1 } } },
        caps: [
          {
            use: "api-rate-cap",
            with: {
              callsPerSec: 1000,
              rates: [{ calls: 5000, perMs: 5000, burst: 100, lane: "urgent" }],
              callsPerJob: 2,
              serviceMs: 5,
              headroom: 0.1,
            },
            scope: "cluster",
            reportMs: 100,
          },
          {
            use: "db-pool-cap",
            with: { connections: 40, perWorker: 2, spare: 4 },
            scope: "cluster",
            reportMs: 60,
          },
          { use: "fixed-cap", with: { workers: 3 }, scope: "process" },
          { use: "./cap.ts", with: { workers: 100 }, scope: "cluster", reportMs: 70 },
        ],
        uses: { db: 2, mailer: 1, api: 1 },
        adaptive: false,
        cooldown: { by: "key", after: 2, minMs: 500, maxMs: 5000, failures: 9, gone: true },
        retirement: { use: "cooperative", with: { step: 1, everyMs: 10 } },
        admission: { use: "shed-at-cap", with: { afterMs: 2000 } },
        signals: { load: { use: "./signal.ts#load" }, depth: "./signal.ts" },
        schedules: [
          {
            lane: "urgent",
            type: "nap",
            cron: "0 4 * * *",
            timezone: "Europe/Berlin",
            payload: { ms: 1 },
            catchUp: "none",
          },
          { lane: "urgent", type: "nap", cron: "0 5 * * *", catchUp: "last" },
          { lane: "urgent", type: "nap", everyMs: 3_600_000, jitterMs: 1000, overlap: false },
          { lane: "urgent", type: "nap", cron: "0 6 * * *", catchUp: "all" },
        ],
        tickMs: 20,
        leaseMs: 20_000,
        timeoutMs: 10_000,
        timeoutMsByType: { nap: 5000 },
        drainMs: 5000,
        keep: { done: 10, dead: 10, forMs: 60_000 },
      },
      calls: {
        handlers: {
          asked: {
            use: "http",
            with: {
              url: { from: "payload.url", allow: [url], privateAddresses: true },
              method: { from: "payload.method", allow: ["DELETE", "GET", "PATCH", "POST", "PUT"] },
              headers: { "x-tenant": { from: "payload.tenant" } },
              body: { order: "{{payload.order}}", attempt: "{{job.attempt}}" },
              sign: { secret: { env: "SIGNING" } },
              success: [200, "2xx", "3xx", "4xx", "5xx"],
              retry: [],
              keep: "body",
            },
          },
          signed: {
            use: "http",
            with: {
              url: { from: "payload.url", allow: [url], privateAddresses: true },
              sign: { secrets: { [url]: { env: "SIGNING" } } },
              success: [200],
              retry: ["2xx", "3xx", "4xx", "5xx"],
            },
          },
          get: { use: "http", with: { url: { env: "TARGET" }, method: "GET" } },
          delete: { use: "http", with: { url: { env: "TARGET" }, method: "DELETE" } },
        },
        size,
        lanes,
      },
      depth: {
        handler: "sleep",
        size: { min: 2, max: 4 }, // one for each lane: so short a queue is no reason to grow
        lanes,
        controller: { use: "depth-scaler", with: { growAbove: 10, growStep: 2, idleMs: 500 } },
        lanePolicy: { use: "dedicated-lanes", with: { workers: { urgent: 1, batch: 1 } } },
        caps: [
          { use: "adaptive-cap", with: { probe: false }, scope: "process" },
          { use: "fixed-cap", with: { workers: 4 }, scope: "cluster", reportMs: 50 },
        ],
        retirement: { use: "idle-only", with: {} },
        admission: { use: "admit-all", with: {} },
      },
      little: {
        handler: { use: "http", with: { url: `${url}/little`, method: "PATCH" } },
        onDead: { pool: "full", lane: "batch", type: "nap" },
        then: { pool: "full", lane: "batch", type: "nap" },
        size,
        lanes,
        controller: {
          use: "littles-law",
          with: { beta: 0.4, windowMs: 200, downMs: 1000 },
        },
        lanePolicy: { use: "strict-priority", with: {} },
        caps: [{ use: "adaptive-cap", scope: "cluster", reportMs: 80 }],
        adaptive: true,
        cooldown: false,
      },
      still: {
        handler: { use: "http", with: { url: `${url}/still`, method: "POST" } },
        size,
        lanes,
        controller: { use: "fixed", with: { workers: 2 } },
        lanePolicy: { use: "fifo", with: {} },
        caps: [
          { use: "api-rate-cap", with: { callsPerSec: 1000, serviceMs: 5 }, scope: "process" },
          { use: "db-pool-cap", with: { connections: 20 }, scope: "process" },
          { use: "./cap.ts", with: { workers: 50 }, scope: "process" },
        ],
      },
      modules: {
        handler: { use: "./handler.ts", with: {} },
        size,
        lanes,
        controller: { use: "./controller.ts", with: { workers: 2 } },
        shadow: { controller: "./controller.ts" },
        lanePolicy: { use: "./policy.ts", with: {} },
        caps: ["./gate.ts"],
        retirement: { use: "./retirement.ts", with: {} },
        admission: { use: "./admission.ts", with: {} },
      },
      named: {
        handler: "./handler.ts",
        size,
        lanes,
        controller: "./controller.ts",
        lanePolicy: "./policy.ts",
        retirement: "./retirement.ts",
        admission: "./admission.ts",
        cooldown: { by: "pool" },
      },
      ...Object.fromEntries(
        PLAIN.map(([controller, lanePolicy, retirement, admission], index) => [`plain${index}`, {
          handler: "sleep",
          size,
          lanes,
          controller,
          lanePolicy,
          caps: ["adaptive-cap"],
          retirement,
          admission,
        }]),
      ),
    },
  };
}

/** Built-ins that need no options, by their names alone. */
const PLAIN = [
  ["age-scaler", "reserved-lane", "cooperative", "shed-at-cap"],
  ["depth-scaler", "strict-priority", "idle-only", "admit-all"],
  ["littles-law", "fifo", "cooperative", "shed-at-cap"],
  ["fixed", "fifo", "cooperative", "shed-at-cap"],
] as const;

/**
 * What must compile, and what must not. Nothing here is run: `deno check` is the test.
 *
 * @module
 */

import assert from "node:assert/strict";
import * as v from "valibot";
import type { ConfigInput } from "../src/config/input.ts";
import type { KnownKeys } from "../src/config/known_keys.ts";
import type { Job, NewJob, Outcome } from "../src/contract/job.ts";
import type { JobsOf } from "../src/config/jobs_of.ts";
import {
  defineCap,
  defineController,
  defineHandler,
  defineLanePolicy,
  use,
} from "../src/contract/plugin.ts";
import type { Sluice } from "../src/runtime/handles.ts";

/** Infers as `start` does. */
function infer<const Config extends ConfigInput | string>(
  _config: Config & KnownKeys<Config, ConfigInput>,
): Sluice<JobsOf<Config>> {
  // Only its type is looked at.
  return {} as Sluice<JobsOf<Config>>;
}

/** True if the two types are the same. */
type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends (<T>() => T extends B ? 1 : 2) ? true
  : false;

/** Compiles only for `true`. */
function same<Truth extends true>(): Truth | undefined {
  return undefined;
}

const steady = defineController({
  name: "steady",
  options: v.strictObject({ perWorker: v.exactOptional(v.number(), 10) }),
  create: ({ perWorker }) => (view) => ({ workers: view.busy / perWorker, reason: "busy" }),
});
const connections = defineCap({
  name: "connections",
  options: v.strictObject({ count: v.number() }),
  create: ({ count }) => () => ({ workers: count, reason: "connections" }),
});
const first = defineLanePolicy({ name: "first", create: () => (_view, eligible) => eligible[0] });
const mail = defineHandler({
  payload: v.object({ to: v.string() }),
  run: (job) => job.payload.to,
});
const size = { min: 1, max: 2 };
const lanes = [{ name: "urgent" }, { name: "batch" }] as const;

function lanesFollowFromTheConfig(): void {
  const sluice = infer({
    pools: { mail: { handler: "./mail.ts", size, lanes: [{ name: "urgent" }, { name: "batch" }] } },
  });
  void sluice.enqueue("mail", { lane: "urgent", payload: 1 });
  // @ts-expect-error the pool has no lane of that name
  void sluice.enqueue("mail", { lane: "urgnt", payload: 1 });
  // @ts-expect-error there is no pool of that name
  void sluice.enqueue("mial", { lane: "urgent", payload: 1 });
  // @ts-expect-error nor here
  sluice.pool("mial");
  // @ts-expect-error a job needs a payload
  sluice.post("mail", { lane: "urgent" });
}

function payloadsFollowFromTheHandler(): void {
  const sluice = infer({
    pools: {
      plugin: { handler: mail, size, lanes },
      slot: { handler: use(mail), size, lanes },
      plain: { handler: (job: Job<{ id: number }>) => job.payload.id, size, lanes },
      untyped: { handler: (job, context) => context.progress(job.payload), size, lanes },
      none: { handler: () => "done", size, lanes },
    },
  });
  void sluice.enqueue("plugin", { lane: "urgent", payload: { to: "a" } });
  // @ts-expect-error the payload does not fit the handler's schema
  void sluice.enqueue("plugin", { lane: "urgent", payload: { to: 1 } });
  // @ts-expect-error nor does it in a slot
  void sluice.enqueue("slot", { lane: "urgent", payload: {} });
  void sluice.pool("plain").enqueue({ lane: "batch", payload: { id: 1 } });
  // @ts-expect-error the payload does not fit what the function takes
  void sluice.pool("plain").enqueue({ lane: "batch", payload: { id: "1" } });
  void sluice.enqueue("untyped", { lane: "batch", payload: { any: "thing" } });
  void sluice.enqueue("none", { lane: "batch", payload: null });
}

function typesFollowFromSeveralHandlers(): void {
  const sluice = infer({
    pools: { all: { handlers: { mail, sms: (job: Job<number>) => job.payload }, size, lanes } },
  });
  void sluice.enqueue("all", { lane: "urgent", type: "mail", payload: { to: "a" } });
  void sluice.enqueue("all", { lane: "urgent", type: "sms", payload: 1 });
  // @ts-expect-error the payload belongs to another type
  void sluice.enqueue("all", { lane: "urgent", type: "sms", payload: { to: "a" } });
  // @ts-expect-error the type must be said
  void sluice.enqueue("all", { lane: "urgent", payload: 1 });
  // @ts-expect-error there is no handler for that type
  void sluice.enqueue("all", { lane: "urgent", type: "fax", payload: 1 });
}

function onlyRoutesMakeALaneOptional(): void {
  const routes = [{ if: { key: "vip-*" }, lane: "urgent" }, { lane: "batch" }] as const;
  const sluice = infer({
    pools: {
      routed: { handler: mail, size, lanes, routes },
      typed: { handlers: { mail }, size, lanes, routes },
      plain: { handler: mail, size, lanes },
      several: { handlers: { mail }, size, lanes },
    },
  });
  void sluice.enqueue("routed", { payload: { to: "a" } });
  void sluice.enqueue("typed", { type: "mail", payload: { to: "a" } });
  void sluice.enqueue("routed", { lane: "batch", payload: { to: "a" } });
  // @ts-expect-error the pool has no lane of that name
  void sluice.enqueue("routed", { lane: "urgnt", payload: { to: "a" } });
  // @ts-expect-error the pool has no routes: the lane must be said
  void sluice.enqueue("plain", { payload: { to: "a" } });
  // @ts-expect-error nor has this one
  void sluice.enqueue("several", { type: "mail", payload: { to: "a" } });
}

async function resultsFollowFromTheHandler(): Promise<void> {
  const sluice = infer({
    pools: {
      plugin: { handler: mail, size, lanes },
      slot: { handler: use(mail), size, lanes },
      later: {
        handler: (job: Job<number>) => Promise.resolve({ twice: 2 * job.payload }),
        size,
        lanes,
      },
      untyped: { handler: (job) => `sent ${job.payload}`, size, lanes },
      nothing: { handler: () => {}, size, lanes },
      named: { handler: "./mail.ts", size, lanes },
      all: { handlers: { mail, sms: (job: Job<number>) => job.payload }, size, lanes },
    },
  });
  const ann = { lane: "urgent", payload: { to: "ann" } } as const;
  const one = { lane: "urgent", payload: 1 } as const;
  const plugin = await sluice.pool("plugin").run(ann, { signal: AbortSignal.timeout(1) });
  same<Same<typeof plugin, string>>();
  const slot = await sluice.run("slot", ann);
  same<Same<typeof slot, string>>();
  const later = await sluice.run("later", one);
  same<Same<typeof later, { twice: number }>>();
  const untyped = await sluice.pool("untyped").run(one);
  same<Same<typeof untyped, string>>();
  const nothing = await sluice.pool("nothing").run(one);
  same<Same<typeof nothing, void>>();
  const named = await sluice.pool("named").run(one);
  same<Same<typeof named, unknown>>();
  const typed = await sluice.pool("all").run({ ...ann, type: "mail" });
  same<Same<typeof typed, string>>();
  const other = await sluice.run("all", { ...one, type: "sms" });
  same<Same<typeof other, number>>();
  const handle = await sluice.enqueue("later", one);
  same<Same<typeof handle.done, Promise<Outcome<{ twice: number }>>>>();
  const [first] = await sluice.pool("plugin").enqueueAll([ann]);
  if (first !== undefined && !(first instanceof Error)) {
    same<Same<typeof first.done, Promise<Outcome<string>>>>();
  }
  // @ts-expect-error the payload belongs to another type
  void sluice.run("all", { ...ann, type: "sms" });
  // @ts-expect-error a job has no key of that name
  void sluice.run("later", { lane: "urgent", payload: 1, delayms: 1 });
  // @ts-expect-error nor when it is enqueued
  void sluice.enqueue("later", { lane: "urgent", payload: 1, delayms: 1 });
  const any: Sluice = sluice; // what takes every config takes this one
  same<Same<Awaited<ReturnType<typeof any.run>>, unknown>>();
}

function configsHaveKnownKeysOnly(): void {
  const pool = { handler: mail, size, lanes };
  const known = {
    pools: {
      mail: {
        ...pool,
        tickMs: 50,
        controller: { use: "age-scaler", with: { anything: 1 } },
        caps: [
          { use: "fixed-cap", with: { workers: 1 }, scope: "cluster" },
          use(connections, { count: 1 }),
        ],
        schedules: [{ lane: "urgent", cron: "* * * * *", payload: { to: "ann" } }],
        cooldown: false,
      },
    },
    redact: ["pin"],
  } as const;
  infer(known);
  infer({ ...known, admin: { port: 1, alerts: { url: { env: "URL" } } } });
  const written: ConfigInput = known;
  infer(written);
  // @ts-expect-error it is tickMs
  infer({ pools: { mail: { ...pool, tickms: 1 } } });
  // @ts-expect-error it is pools
  infer({ pools: { mail: pool }, pool: {} });
  // @ts-expect-error it is max
  infer({ pools: { mail: { ...pool, size: { min: 1, max: 2, maxx: 3 } } } });
  // @ts-expect-error it is targetWaitMs
  infer({ pools: { mail: { ...pool, lanes: [{ name: "urgent", targetWait: 1 }] } } });
  // @ts-expect-error it is maxMs
  infer({ pools: { mail: { ...pool, lanes: [{ name: "urgent", backoff: { maxms: 1 } }] } } });
  // @ts-expect-error it is with
  infer({ pools: { mail: { ...pool, controller: { use: "age-scaler", wiht: {} } } } });
  // @ts-expect-error it is scope
  infer({ pools: { mail: { ...pool, caps: [{ use: "fixed-cap", scoep: "cluster" }] } } });
  // @ts-expect-error it is after
  infer({ pools: { mail: { ...pool, cooldown: { afer: 1 } } } });
  // @ts-expect-error it is hostname
  infer({ pools: { mail: pool }, admin: { host: "::1" } });
  // @ts-expect-error it is rates
  infer({ pools: { mail: pool }, downstreams: { db: { rate: [] } } });
}

function filesAllowAnyPoolAndJob(): void {
  void infer("./pools.json").enqueue("mail", { lane: "urgent", payload: 1 });
  same<Same<JobsOf<string>, Record<string, NewJob>>>();
  same<Same<JobsOf<ConfigInput>["mail"]["lane"], string | undefined>>(); // it may have routes
}

function slotsTakeOnlyTheirKind(): void {
  const pool = { handler: mail, size, lanes };
  infer({
    pools: { mail: { ...pool, controller: steady, caps: [use(connections, { count: 1 })] } },
  });
  infer({ pools: { mail: { ...pool, controller: use(steady, { perWorker: 1 }) } } });
  infer({
    pools: {
      mail: { ...pool, caps: [{ use: "connections", with: { count: 1 }, scope: "cluster" }] },
    },
  });
  infer({
    pools: { mail: { ...pool, caps: [{ ...use(connections, { count: 1 }), scope: "process" }] } },
  });
  // @ts-expect-error a lane policy is no controller
  infer({ pools: { mail: { ...pool, controller: first } } });
  // @ts-expect-error nor is it one with options
  infer({ pools: { mail: { ...pool, controller: use(first) } } });
  // @ts-expect-error a cap is no handler
  infer({ pools: { mail: { ...pool, handler: use(connections, { count: 1 }) } } });
  // @ts-expect-error the cap's options must be given
  infer({ pools: { mail: { ...pool, caps: [connections] } } });
  // @ts-expect-error there is no such scope
  infer({ pools: { mail: { ...pool, caps: [{ use: "connections", scope: "world" }] } } });
  // @ts-expect-error a controller is no function of a job
  infer({ pools: { mail: { ...pool, controller: () => 1 } } });
}

function optionsFollowFromTheSchema(): void {
  use(steady);
  use(steady, {});
  // @ts-expect-error there is no option of that name
  use(steady, { perWorkr: 1 });
  // @ts-expect-error the option is a number
  use(steady, { perWorker: "1" });
  // @ts-expect-error the option must be given
  use(connections, {});
  // @ts-expect-error all options must be given
  use(connections);
  // @ts-expect-error it takes no options
  use(first, { reserve: 1 });
}

function factoriesReturnTheirKind(): void {
  // @ts-expect-error a controller answers with workers and a reason
  defineController({ name: "a", create: () => () => ({ workers: 1 }) });
  // @ts-expect-error a cap answers at once
  defineCap({ name: "a", create: () => () => Promise.resolve({ workers: 1, reason: "" }) });
  // @ts-expect-error a lane policy answers with a lane
  defineLanePolicy({ name: "a", create: () => (view) => view.pool });
  // @ts-expect-error a view is read-only
  defineController({ name: "a", create: () => (view) => void (view.target = 1) });
}

function sizeLanesAndTokensMustBeGiven(): void {
  // @ts-expect-error a pool has lanes
  infer({ pools: { mail: { handler: mail, size } } });
  // @ts-expect-error a pool has a size
  infer({ pools: { mail: { handler: mail, lanes } } });
  // @ts-expect-error a token does not stand in a config
  infer({ admin: { tokens: { admin: "0123456789abcdef" } }, pools: {} });
}

Deno.test("types refuse what must not compile, and infer lanes and payloads", () => {
  const checked = [
    lanesFollowFromTheConfig,
    payloadsFollowFromTheHandler,
    typesFollowFromSeveralHandlers,
    onlyRoutesMakeALaneOptional,
    resultsFollowFromTheHandler,
    configsHaveKnownKeysOnly,
    filesAllowAnyPoolAndJob,
    slotsTakeOnlyTheirKind,
    optionsFollowFromTheSchema,
    factoriesReturnTheirKind,
    sizeLanesAndTokensMustBeGiven,
  ];

  assert.equal(checked.length, new Set(checked).size);
});

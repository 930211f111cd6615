/**
 * Autoscaling worker pools with priority lanes, from a JSON file or from code.
 *
 * @example
 * ```ts
 * import { start } from "@sluice/sluice";
 * import assert from "node:assert/strict";
 *
 * await using sluice = await start({
 *   pools: {
 *     mail: {
 *       handler: (job) => `sent ${job.payload}`,
 *       size: { min: 1, max: 4 },
 *       lanes: [{ name: "urgent" }, { name: "batch" }],
 *     },
 *   },
 * });
 *
 * const job = await sluice.enqueue("mail", { lane: "urgent", payload: "hello" });
 *
 * assert.deepEqual(await job.done, { state: "done", result: "sent hello" });
 * ```
 *
 * @module
 */

import { builtins, defaults } from "./plugins/mod.ts";
import type { AdminDoor } from "./src/admin/server/serve.ts";
import type { ConfigInput } from "./src/config/input.ts";
import type { HandlerFunction } from "./src/config/slot_input.ts";
import type { Logger } from "./src/contract/job.ts";
import type { JobsOf } from "./src/config/jobs_of.ts";
import type { KnownKeys } from "./src/config/known_keys.ts";
import type { Plugin } from "./src/contract/plugin.ts";
import { createResolver } from "./src/config/resolver.ts";
import type { ReadEnv } from "./src/config/resolve.ts";
import { supervise, type Supervisor, type SupervisorOptions } from "./src/runtime/supervisor.ts";
import type { AdminSettings } from "./src/config/settings.ts";
import type { Sluice } from "./src/runtime/handles.ts";
import type { SignalReader } from "./src/contract/strategy.ts";
import type { Telemetry } from "./src/runtime/telemetry.ts";

export { builtins } from "./plugins/mod.ts";
export type { AdminInput, ConfigInput, LaneInput, PoolInput } from "./src/config/input.ts";
export type { ScheduleInput } from "./src/config/time_input.ts";
export type {
  CapInput,
  HandlerFunction,
  HandlerInput,
  NamedSlot,
  SignalInput,
  SlotInput,
} from "./src/config/slot_input.ts";
export type { JobsOf } from "./src/config/jobs_of.ts";
export type { ConfigSource } from "./src/config/resolver.ts";
export type { EnvRef, ReadEnv } from "./src/config/secrets.ts";
export type {
  Decision,
  DecisionInputs,
  DecisionPart,
  ShadowReport,
} from "./src/contract/decision.ts";
export {
  type AbortCause,
  AbortedError,
  ConfigError,
  Fatal,
  type Fault,
  IdempotencyError,
  OptionError,
  RejectedError,
  RetryLater,
  StoreError,
} from "./src/contract/errors.ts";
export type { AuditEntry, ConfigChange, Observer, PoolEvent } from "./src/contract/event.ts";
export type {
  DeadReason,
  Job,
  JobContext,
  JobRecord,
  JobState,
  Logger,
  NewJob,
  Outcome,
} from "./src/contract/job.ts";
export {
  defineAdmission,
  defineCap,
  defineController,
  defineHandler,
  defineLanePolicy,
  defineRetirement,
  type Definition,
  type Handler,
  type HandlerParts,
  type Plugin,
  type PluginContext,
  use,
} from "./src/contract/plugin.ts";
export type { Change, Changed, JobPage, JobQuery } from "./src/contract/store.ts";
export type {
  Admission,
  Cap,
  Controller,
  LanePolicy,
  Limit,
  Proposal,
  Retirement,
  SignalReader,
  Verdict,
} from "./src/contract/strategy.ts";
export type { LaneView, PoolView, WorkerView } from "./src/contract/view.ts";
export type { Finding, FindingCode } from "./src/explain/diagnose.ts";
export type { History, LaneSample, Sample } from "./src/planning/history.ts";
export type { Distribution, LaneCounters as LaneTally } from "./src/planning/lane_counters.ts";
export type {
  JobHandle,
  Override,
  PoolHandle,
  PoolSnapshot,
  ReloadOptions,
  ReloadReport,
  ScheduleView,
  SliceReport,
  Sluice,
  StopReport,
} from "./src/runtime/handles.ts";
export {
  jsonLogger,
  type LogLevel,
  type LogOptions,
  prettyLogger,
  silentLogger,
} from "./src/runtime/log.ts";
export type { SupervisorOptions } from "./src/runtime/supervisor.ts";

/** What code adds to a config. */
export interface StartOptions extends SupervisorOptions {
  /** Plugins and handler functions, by the name that the config knows them by. */
  readonly plugins?: Readonly<Record<string, Plugin | HandlerFunction>> | undefined;
  /** Functions read before each tick, by the name that the config knows them by. */
  readonly signals?: Readonly<Record<string, SignalReader>> | undefined;
  /** Reads the environment, for names that the config refers to. @default {Deno.env.get} */
  readonly env?: ReadEnv | undefined;
  /**
   * Whether jobs are traced and figures exported by OpenTelemetry, through whatever SDK is registered.
   *
   * @default {true if one is registered before the start: `OTEL_DENO=true` does that}
   */
  readonly telemetry?: boolean | undefined;
  /** The admin API to serve if the config has no `admin`. @default {none is served} */
  readonly admin?: AdminSettings | undefined;
  /** Port of the admin API, in place of the config's; 0: a free one. @default {the config's} */
  readonly adminPort?: number | undefined;
}

/**
 * Starts the pools of a config, and the admin API if the config has `admin`.
 *
 * @param config Path or `file:` URL of a JSON file with comments, or the config itself: then lane
 * names and payloads are typed.
 * @throws {ConfigError} If the config has faults: all of them. Nothing was started.
 * @throws {Error} If the admin API cannot be served, such as on a port in use. Nothing was started.
 */
export async function start<const Config extends ConfigInput | string | URL>(
  config: Config & KnownKeys<Config, ConfigInput>,
  options: StartOptions = {},
): Promise<Sluice<JobsOf<Config>>> {
  const { plugins, signals, env, telemetry, admin, adminPort, ...rest } = options;
  const given: ConfigInput | string | URL = config;
  const resolve = createResolver(given, { builtins, defaults, plugins, signals, env });
  const { settings } = await resolve(undefined, { sealed: false });
  const served = settings.admin ?? admin;
  const address = served && { ...served, port: adminPort ?? served.port };
  const door = await openDoor(address, rest.log); // first: pools that run claim jobs
  let sluice: Supervisor | undefined;
  try {
    const supervision = { ...rest, telemetry: await openTelemetry(telemetry) };
    sluice = await supervise(settings, supervision, resolve);
    sluice.admin = door?.serve(sluice, { log: rest.log });
    return sluice as Sluice<JobsOf<Config>>; // the settings were made from this very config
  } catch (thrown) {
    await sluice?.stop();
    await door?.close();
    throw thrown;
  }
}

/** Binds the address of the admin API; who wants none does not even load it. */
async function openDoor(
  settings: AdminSettings | undefined,
  log: Logger | undefined,
): Promise<AdminDoor | undefined> {
  if (settings === undefined) return undefined;
  const { openAdmin } = await import("./src/admin/server/serve.ts");
  return await openAdmin(settings, log);
}

/** Where the packages of OpenTelemetry meet what an SDK has registered. */
const OTEL = Symbol.for("opentelemetry.js.api.1");

/** Opens telemetry where it is wanted; elsewhere its package is not even loaded. */
async function openTelemetry(wanted: boolean | undefined): Promise<Telemetry | undefined> {
  if (!(wanted ?? OTEL in globalThis)) return undefined;
  const { otel } = await import("./src/telemetry/mod.ts");
  return otel();
}

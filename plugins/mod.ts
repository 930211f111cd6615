/**
 * The built-in plugins: what a config may name without a module.
 *
 * @module
 */

import type { Defaults } from "../src/config/resolve.ts";
import type { Plugin } from "../src/contract/plugin.ts";
import { admitAll } from "./admission/admit_all.ts";
import { shedAtCap } from "./admission/shed_at_cap.ts";
import { adaptiveCap } from "./cap/adaptive_cap.ts";
import { apiRateCap } from "./cap/api_rate_cap.ts";
import { dbPoolCap } from "./cap/db_pool_cap.ts";
import { fixedCap } from "./cap/fixed_cap.ts";
import { ageScaler } from "./controller/age_scaler.ts";
import { depthScaler } from "./controller/depth_scaler.ts";
import { fixed } from "./controller/fixed.ts";
import { littlesLaw } from "./controller/littles_law.ts";
import { http } from "./handler/http.ts";
import { sleep } from "./handler/sleep.ts";
import { dedicatedLanes } from "./lane_policy/dedicated_lanes.ts";
import { fifo } from "./lane_policy/fifo.ts";
import { reservedLane } from "./lane_policy/reserved_lane.ts";
import { strictPriority } from "./lane_policy/strict_priority.ts";
import { cooperative } from "./retirement/cooperative.ts";
import { idleOnly } from "./retirement/idle_only.ts";
import { denoKv } from "../stores/deno_kv/mod.ts";
import { memory } from "../stores/memory/mod.ts";

export type { CapDefaults, Defaults } from "../src/config/resolve.ts";
export { type ShedAtCapOptions } from "./admission/shed_at_cap.ts";
export { type AdaptiveCapOptions } from "./cap/adaptive_cap.ts";
export { type ApiRateCapOptions, type CallRate } from "./cap/api_rate_cap.ts";
export { type DbPoolCapOptions } from "./cap/db_pool_cap.ts";
export { type FixedCapOptions } from "./cap/fixed_cap.ts";
export { type AgeScalerOptions } from "./controller/age_scaler.ts";
export { type DepthScalerOptions } from "./controller/depth_scaler.ts";
export { type FixedOptions } from "./controller/fixed.ts";
export { type LittlesLawOptions } from "./controller/littles_law.ts";
export { type HttpMethod, type HttpOptions } from "./handler/http.ts";
export { type SleepOptions, type SleepPayload } from "./handler/sleep.ts";
export { type DedicatedLanesOptions } from "./lane_policy/dedicated_lanes.ts";
export { type ReservedLaneOptions } from "./lane_policy/reserved_lane.ts";
export { type CooperativeOptions } from "./retirement/cooperative.ts";
export { type DenoKvOptions } from "../stores/deno_kv/mod.ts";

export {
  adaptiveCap,
  admitAll,
  ageScaler,
  apiRateCap,
  cooperative,
  dbPoolCap,
  dedicatedLanes,
  denoKv,
  depthScaler,
  fifo,
  fixed,
  fixedCap,
  http,
  idleOnly,
  littlesLaw,
  memory,
  reservedLane,
  shedAtCap,
  sleep,
  strictPriority,
};

/** All built-ins. */
export const builtins: readonly Plugin[] = [
  ageScaler,
  depthScaler,
  littlesLaw,
  fixed,
  reservedLane,
  strictPriority,
  dedicatedLanes,
  fifo,
  apiRateCap,
  dbPoolCap,
  fixedCap,
  adaptiveCap,
  cooperative,
  idleOnly,
  shedAtCap,
  admitAll,
  memory,
  denoKv,
  http,
  sleep,
];

/** What fills the slots that a config leaves empty. */
export const defaults: Defaults = {
  controller: ageScaler.name,
  "lane-policy": reservedLane.name,
  retirement: cooperative.name,
  admission: shedAtCap.name,
  store: memory.name,
  adaptive: { cap: adaptiveCap.name },
  downstream: { connections: dbPoolCap.name, rates: apiRateCap.name },
};

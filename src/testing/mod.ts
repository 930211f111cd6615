/**
 * For tests of plugins: time that moves when told to, views by hand, and a conformance check a kind.
 *
 * @module
 */

export type { Clock, Timer } from "../time/clock.ts";
export { VirtualClock } from "../time/virtual_clock.ts";
export { type StepListener, Wall } from "../time/wall.ts";
export type {
  DeadReason,
  DownstreamCall,
  Idempotency,
  Job,
  JobAttempt,
  JobContext,
  JobRecord,
  JobState,
  Logger,
  NewJob,
  Outcome,
} from "../contract/job.ts";
export type {
  Bound,
  Handler,
  Instances,
  Kind,
  Plugin,
  PluginContext,
  Scope,
  Slot,
} from "../contract/plugin.ts";
export type * from "../contract/standard_schema.ts";
export type * from "../contract/store.ts";
export type * from "../contract/strategy.ts";
export type * from "../contract/view.ts";
export type { StrategyCheckOptions, StrategyKind } from "./purely.ts";
export type { Subject } from "./subject.ts";
export { checkAdmission } from "./admission.ts";
export { checkCap } from "./cap.ts";
export { checkController } from "./controller.ts";
export { checkHandler, type CheckHandlerOptions } from "./handler.ts";
export { checkLanePolicy } from "./lane_policy.ts";
export { checkRetirement } from "./retirement.ts";
export { makeStrategy } from "./make.ts";
export { checkStore, type CheckStoreOptions } from "./store.ts";
export * from "./views.ts";

/**
 * For tests of plugins: time that moves when told to, views by hand, and a conformance check a kind.
 *
 * @module
 */

export type { Clock, Timer } from "./clock.ts";
export { VirtualClock } from "./virtual_clock.ts";
export { type StepListener, Wall } from "./wall.ts";
export type * from "./job.ts";
export type {
  Bound,
  Handler,
  Instances,
  Kind,
  Plugin,
  PluginContext,
  Scope,
  Slot,
} from "./plugin.ts";
export type * from "./standard_schema.ts";
export type * from "./store.ts";
export type * from "./strategy.ts";
export type * from "./view.ts";
export type { StrategyCheckOptions, StrategyKind } from "./conformance/purely.ts";
export type { Subject } from "./conformance/subject.ts";
export { checkAdmission } from "./conformance/admission.ts";
export { checkCap } from "./conformance/cap.ts";
export { checkController } from "./conformance/controller.ts";
export { checkHandler, type CheckHandlerOptions } from "./conformance/handler.ts";
export { checkLanePolicy } from "./conformance/lane_policy.ts";
export { checkRetirement } from "./conformance/retirement.ts";
export { makeStrategy } from "./conformance/make.ts";
export { checkStore, type CheckStoreOptions } from "./conformance/store.ts";
export * from "./conformance/views.ts";

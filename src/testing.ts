/**
 * For tests of plugins: time that moves when told to, views by hand, and a conformance check a kind.
 *
 * @module
 */

export type { Clock, Timer } from "./clock.ts";
export { VirtualClock } from "./virtual_clock.ts";
export type * from "./job.ts";
export type * from "./store.ts";
export type * from "./view.ts";
export * from "./conformance/views.ts";
export { checkStore, type CheckStoreOptions } from "./conformance/store.ts";

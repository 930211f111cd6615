/**
 * What the author of a store needs: the contract, the records and errors that it speaks of, and
 * `defineStore`. `checkStore` of `@sluice/sluice/testing` tells whether a store keeps the contract.
 *
 * @module
 */

export { IdempotencyError, StoreError } from "../src/contract/errors.ts";
export {
  type DeadReason,
  type Idempotency,
  IDEMPOTENT_FOR_MS,
  type Job,
  type JobAttempt,
  type JobRecord,
  type JobState,
  type Outcome,
} from "../src/contract/job.ts";
export type * from "../src/contract/doctor.ts";
export {
  defineStore,
  type Plugin,
  type PluginContext,
  type StoreDefinition,
  type StoreMeasure,
} from "../src/contract/plugin.ts";
export type * from "../src/contract/store.ts";

/**
 * What the parts of a pool share.
 *
 * @module
 */

import type { Clock } from "../time/clock.ts";
import type { EventHub } from "./event_hub.ts";
import type { Logger } from "../contract/job.ts";
import type { PoolState } from "./pool_state.ts";

/** What the parts of a pool share: whatever one needs besides is its own context. */
export interface PoolCore {
  /** Its counts and views. What of it a part owns, the context of that part says. */
  readonly state: PoolState;
  /** Observers. */
  readonly hub: EventHub;
  /** Where the pool, its plugins and handlers log. */
  readonly log: Logger;
  /** Real or virtual time. */
  readonly clock: Clock;
  /** Reads the clock. */
  readonly now: () => number;
}

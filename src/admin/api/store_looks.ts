/**
 * Looks whether the stores of pools answer, and remembers what came of it: who asks does not wait for
 * a store that is slow.
 *
 * @module
 */

import { StoreError } from "../../contract/errors.ts";
import type { PoolHandle } from "../../runtime/handles.ts";

/** How long someone who asks waits for looks, ms: a store that is near has answered by then. */
const WAIT_MS = 250;

interface Look {
  /** The look under way. */
  pending: Promise<void> | undefined;
  /** True if the latest look failed. */
  failed: boolean;
}

/** What is known of the stores of pools. */
export class StoreLooks {
  readonly #looks = new WeakMap<PoolHandle, Look>();

  /** Looks at each, unless a look is under way, and waits for a moment. */
  async again(pools: readonly PoolHandle[]): Promise<void> {
    const late = Promise.withResolvers<void>();
    const timer = setTimeout(late.resolve, WAIT_MS);
    await Promise.race([Promise.all(pools.map((pool) => this.#again(pool))), late.promise]);
    clearTimeout(timer);
  }

  /** True if the store of a pool failed when it was looked at last. */
  failed(pool: PoolHandle): boolean {
    return this.#looks.get(pool)?.failed === true;
  }

  #again(pool: PoolHandle): Promise<void> {
    const look = this.#looks.get(pool) ?? { pending: undefined, failed: false };
    this.#looks.set(pool, look);
    look.pending ??= pool.list({ limit: 1 }).then(
      () => false,
      // What only was slow says nothing: whether claims and counts are answered, the pool itself tells.
      (thrown) => thrown instanceof StoreError && thrown.isLate ? look.failed : true,
    ).then((failed) => {
      look.failed = failed;
      look.pending = undefined;
    });
    return look.pending;
  }
}

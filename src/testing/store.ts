/**
 * The conformance check for stores.
 *
 * @module
 */

import type { MaybePromise, Store } from "../contract/store.ts";
import { bindSubject, makeContext, type Subject } from "./subject.ts";
import { changeChecks } from "./_store_changes.ts";
import { dedupeChecks } from "./_store_dedupe.ts";
import { dedupeRandomChecks } from "./_store_dedupe_random.ts";
import { idempotencyChecks } from "./_store_idempotency.ts";
import { keyChecks } from "./_store_keys.ts";
import { keyRateChecks } from "./_store_key_rates.ts";
import { deadMemberChecks } from "./_store_dead_members.ts";
import { handOnChecks } from "./_store_hand_ons.ts";
import { leaseChecks } from "./_store_leases.ts";
import { queueChecks } from "./_store_queue.ts";
import { randomChecks } from "./_store_random.ts";
import { reopenChecks } from "./_store_reopen.ts";

/** How `checkStore` runs. */
export interface CheckStoreOptions {
  /**
   * Runs one named check, such as `Deno.TestContext.step`.
   * @default {one after the other, up to the first that fails}
   */
  readonly test?: (name: string, check: () => Promise<void>) => unknown;
}

/**
 * Checks that a store does what pools need: order, leases and fences, members that die, delays, expiry,
 * key limits, duplicates, preconditions, changes, look-ups, counts, other rules and shared state.
 *
 * @param subject The plugin, or what makes an empty store. A store is made for each check and closed after it.
 * @throws {AssertionError} If a requirement does not hold, with its name, unless `test` takes it.
 *
 * @example
 * ```ts
 * import { checkStore } from "@sluice/sluice/testing";
 * import { memory } from "@sluice/sluice/plugins";
 *
 * await checkStore(memory);
 * ```
 */
export async function checkStore(
  subject: Subject<"store"> | (() => MaybePromise<Store>),
  options: CheckStoreOptions = {},
): Promise<void> {
  const make = typeof subject === "function"
    ? subject
    : () => bindSubject(subject).create(makeContext([]));
  const test = options.test ?? runNamed;
  for (
    const { name, run } of [
      ...queueChecks,
      ...leaseChecks,
      ...deadMemberChecks,
      ...keyChecks,
      ...keyRateChecks,
      ...idempotencyChecks,
      ...handOnChecks,
      ...dedupeChecks,
      ...dedupeRandomChecks,
      ...changeChecks,
      ...reopenChecks,
      ...randomChecks,
    ]
  ) {
    await test(name, async () => {
      const store = await make();
      try {
        await run(store);
      } finally {
        await store.close();
      }
    });
  }
}

async function runNamed(name: string, check: () => Promise<void>): Promise<void> {
  try {
    await check();
  } catch (thrown) {
    if (thrown instanceof Error) thrown.message = `Store: ${name}: ${thrown.message}`;
    throw thrown;
  }
}

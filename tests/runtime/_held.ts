/**
 * A pool on a store whose answers take their time, watched: which jobs are leased and have not started.
 *
 * @module
 */

import assert from "node:assert/strict";
import type { PoolEvent } from "../../src/contract/event.ts";
import type { Clock } from "../../src/time/clock.ts";
import { VirtualClock } from "../../src/time/virtual_clock.ts";
import { type PoolParts, startPool, stopPool, type Virtual } from "../_virtual.ts";
import { type SlowOptions, slowStore } from "./_slow_store.ts";

/** What a test holds. */
export interface Scene extends Virtual {
  /** How many jobs each lease gave. */
  readonly leases: readonly number[];
  /** When jobs started, ms. */
  readonly starts: () => readonly number[];
  /** Ids of jobs that the pool has been given and that have not started, the oldest first. */
  readonly held: () => readonly string[];
  /** Moves time until some are held. */
  readonly untilHeld: () => Promise<void>;
  /** Ids in events of one kind. */
  readonly told: (kind: PoolEvent["kind"]) => readonly string[];
}

/** What varies of a scene. */
export interface SceneOptions extends SlowOptions {
  /** The clock of the pool's process. @default {the scene's} */
  readonly own?: (clock: VirtualClock) => Clock;
  readonly latencyMs: number;
  readonly parts: PoolParts;
}

/** Runs a test against a pool `p` with lanes `high` and `low`, then stops it. */
export async function withHeld(
  { latencyMs, parts, own = (clock) => clock, ...slow }: SceneOptions,
  test: (scene: Scene) => Promise<void>,
): Promise<void> {
  const clock = new VirtualClock();
  const leases: number[] = [];
  const leasedAtMs = new Map<string, number>();
  const leased: SlowOptions["leased"] = (jobs) => {
    leases.push(jobs.length);
    for (const { id } of jobs) leasedAtMs.set(id, clock.nowMs());
    slow.leased?.(jobs);
  };
  const running = own(clock);
  const store = slowStore(running, latencyMs, { ...slow, leased });
  const observer = (event: PoolEvent): void => {
    const isOver = event.kind === "job-started" || event.kind === "job-handed-back" ||
      event.kind === "job-cancelled" || event.kind === "job-dead";
    if (isOver) leasedAtMs.delete(event.id);
  };
  const virtual = await startPool(parts, { clock, own: running, store, observer });
  const { events } = virtual;
  const held = (): readonly string[] =>
    [...leasedAtMs].filter(([, atMs]) => atMs + latencyMs < clock.nowMs()).map(([id]) => id);
  await test({
    ...{ ...virtual, leases, held },
    starts: () => events.flatMap((event) => event.kind === "job-started" ? [event.atMs] : []),
    told: (kind) =>
      events.flatMap((event) => event.kind === kind && "id" in event ? [event.id!] : []),
    untilHeld: async () => {
      for (let left = 5000; left > 0; left--) {
        if (held().length > 0) return;
        await clock.advance(1);
      }
      assert.fail("No job was leased ahead");
    },
  });
  await stopPool(virtual);
}

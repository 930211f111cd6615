/**
 * One heartbeat a queue and interval: shows that it lives, and takes back the jobs of those that do not.
 *
 * @module
 */

import type { Renewal } from "../../../src/store.ts";
import type { QueueContext } from "./context.ts";
import { type Beat, markOf, type Marks } from "./holder.ts";
import { numberAt } from "./keys.ts";
import { declareDead, takeBackOrphans } from "./reaper.ts";

/** How many heartbeats fit into a lease. */
const BEATS = 3;

/** Owns the rhythm of one holder. */
export class Heartbeat {
  readonly #context: QueueContext;
  readonly #leaseMs: number;
  #renewedAtMs: number;

  /** Its queue has just joined. */
  constructor(context: QueueContext, leaseMs: number, nowMs: number) {
    this.#context = context;
    this.#leaseMs = leaseMs;
    this.#renewedAtMs = nowMs;
  }

  /** Beats, looks at the others, and takes back what the dead hold. */
  async renew(nowMs: number): Promise<Renewal> {
    const { db, keys, holder } = this.#context;
    const sinceMs = Math.max(0, nowMs - this.#renewedAtMs);
    this.#renewedAtMs = nowMs;
    const alive = !holder.lost && await this.#beat();
    if (!alive) {
      holder.lose();
      await holder.join(db, keys);
    }
    const dead: { readonly worker: number; readonly entry: Deno.KvEntry<Beat> }[] = [];
    const live = new Set<number>();
    for (const entry of await db.list<Beat>({ prefix: keys.of("h") })) {
      const worker = numberAt(entry.key, 4);
      const lives = worker === holder.worker ||
        holder.sees(worker, entry.versionstamp, entry.value, sinceMs);
      if (lives) live.add(worker);
      else dead.push({ worker, entry });
    }
    for (const { worker, entry } of dead) await declareDead(this.#context, worker, entry);
    const reaped = await takeBackOrphans(this.#context, nowMs);
    holder.forgetBut(live);
    await this.refreshMarks();
    holder.peers = live.size;
    holder.alone = live.size === 1;
    const rank = [...live].sort((a, b) => a - b).indexOf(holder.worker);
    const nextAtMs = nowMs + this.#leaseMs / BEATS;
    return { alive, peers: live.size, rank: Math.max(0, rank), reaped, nextAtMs };
  }

  /** Reads which of its jobs are to be cancelled, and tells the pool of new ones. */
  async refreshMarks(): Promise<void> {
    const { db, holder, listener } = this.#context;
    const entry = await db.get<Marks>(holder.marks.key);
    const before = new Set(holder.marked);
    holder.marks = { key: entry.key, versionstamp: entry.versionstamp };
    holder.marked.clear();
    for (const [segment, index] of entry.value ?? []) holder.marked.add(markOf(segment, index));
    for (const part of holder.parts) {
      for (const job of part.jobs) {
        const mark = markOf(job.segment, job.index);
        if (holder.marked.has(mark) && !before.has(mark)) listener.cancelled(job.id);
      }
    }
  }

  async #beat(): Promise<boolean> {
    const { db, keys, holder } = this.#context;
    const beat: Beat = { leaseMs: this.#leaseMs };
    const atomic = db.kv.atomic().check(holder.fence).set(keys.of("h", holder.worker), beat);
    return await db.commit({ atomic, signals: false });
  }
}

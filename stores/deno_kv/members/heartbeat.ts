/**
 * One heartbeat a queue and interval: shows that it lives, and takes back the jobs of those that do not.
 *
 * @module
 */

import type { Renewal } from "../../../src/contract/store.ts";
import type { QueueContext } from "../context.ts";
import { numberAt } from "../record/keys.ts";
import { dropStrays } from "../add/chunks.ts";
import { declareDead, dropMarks, takeBackOrphans } from "./reaper.ts";
import { AHEAD_MS, stampAnew } from "./restamp.ts";
import { Step } from "../step.ts";
import { checkMarks } from "../change/marks.ts";
import { type Beat, markOf, marksIn, type Term } from "./term.ts";

/** How many heartbeats fit into a lease. */
const BEATS = 3;

/** Owns the rhythm of one holder. */
export class Heartbeat {
  readonly #context: QueueContext;
  #renewedAtMs: number;
  #faults: number;
  #looked = false;
  #stale: ReadonlySet<string> = new Set();
  #latestMs = -Infinity; // that was stamped with since the last renewal
  #mayBeAhead: boolean | undefined; // the clock of another was ahead that has ended, or its own was set back

  /** Its queue has just joined. */
  constructor(context: QueueContext, nowMs: number) {
    this.#context = context;
    this.#renewedAtMs = nowMs;
    this.#faults = context.db.file?.faults ?? 0;
    context.holder.beatAtMs = nowMs;
  }

  /** Jobs are stamped with a time by the wall clock, which may be set back later. */
  stamps(nowMs: number): void {
    if (nowMs > this.#latestMs) this.#latestMs = nowMs;
  }

  /** Beats, looks at the others, and takes back what the dead hold. */
  async renew(nowMs: number, steadyMs: number): Promise<Renewal> {
    const { db, keys, holder } = this.#context;
    const sinceMs = Math.max(0, steadyMs - this.#renewedAtMs);
    this.#renewedAtMs = steadyMs;
    db.file?.checkAll();
    const { faults = 0 } = db.file ?? {};
    if (faults > this.#faults) {
      this.#faults = faults;
      holder.term.lost = true; // it was away: what was leased meanwhile nobody was told
    }
    if (this.#latestMs > nowMs + AHEAD_MS) this.#mayBeAhead = true;
    this.#latestMs = nowMs;
    if (holder.term.lost || !await this.#beat(holder.term, nowMs)) {
      holder.term.lost = true;
      holder.untold = true;
      await holder.join(db, keys);
    }
    holder.beatAtMs = nowMs;
    await dropStrays(this.#context);
    const { worker } = holder.term;
    const dead: { readonly worker: number; readonly entry: Deno.KvEntry<Beat> }[] = [];
    const live = new Set([worker]);
    let isAhead = false;
    this.#mayBeAhead ??= ((await db.get<number>(keys.of("t"))).value ?? 0) > nowMs + AHEAD_MS;
    for (const entry of await db.list<Beat>({ prefix: keys.of("h") })) {
      const other = numberAt(entry.key, 4);
      if ((entry.value?.atMs ?? 0) > nowMs + AHEAD_MS) isAhead = true;
      const lives = other === worker ||
        holder.sees(other, entry.versionstamp, entry.value, sinceMs);
      if (lives) live.add(other);
      else dead.push({ worker: other, entry });
    }
    for (const { worker, entry } of dead) await declareDead(this.#context, worker, entry);
    const watched = new Set([...live, ...dead.map((other) => other.worker)]);
    const isSilent = (other: number, fence: string): boolean => {
      if (watched.has(other)) return false; // by its heartbeat
      watched.add(other);
      return !holder.sees(other, fence, undefined, sinceMs);
    };
    const reaped = await takeBackOrphans(this.#context, nowMs, isSilent);
    if (dead.length > 0 || !this.#looked) await dropMarks(this.#context, live);
    this.#looked = true;
    if (this.#mayBeAhead && !isAhead) await stampAnew(this.#context, nowMs); // nobody stamps so any more
    this.#mayBeAhead = isAhead;
    holder.forgetBut(watched);
    await this.refreshMarks();
    await this.#dropStaleMarks(nowMs);
    holder.peers = live.size;
    holder.alone = live.size === 1;
    const nextAtMs = steadyMs + holder.leaseMs / BEATS;
    const alive = !holder.untold; // a renewal that failed midway has not told it
    holder.untold = false;
    return { alive, peers: live.size, reaped, nextAtMs };
  }

  /** Reads which of its jobs are to be cancelled, and tells the pool of those that it does not know of. */
  async refreshMarks(): Promise<void> {
    const { db, holder, listener } = this.#context;
    const { term } = holder;
    const { key, versionstamp, value } = await db.get<unknown>(term.marks.key);
    term.marks = { key, versionstamp };
    term.marked.clear();
    for (const [segment, index] of marksIn(value)) term.marked.add(markOf(segment, index));
    for (const mark of term.told) if (!term.marked.has(mark)) term.told.delete(mark);
    if (term.marked.size === term.told.size) return;
    for (const part of term.parts) {
      for (const job of part.jobs) {
        const mark = markOf(job.segment, job.index);
        if (!term.marked.has(mark) || term.told.has(mark)) continue;
        term.told.add(mark);
        listener.cancelled(job.id);
      }
    }
  }

  /** Drops requests to cancel jobs that were not held at the last look either: they had ended just before. */
  async #dropStaleMarks(nowMs: number): Promise<void> {
    const { term } = this.#context.holder;
    const stale = new Set(term.marked);
    for (const { jobs } of stale.size > 0 ? term.parts : []) {
      for (const { segment, index, settling } of jobs) {
        if (!settling) stale.delete(markOf(segment, index));
      }
    }
    const gone = new Set([...stale].filter((mark) => this.#stale.has(mark)));
    this.#stale = stale;
    if (gone.size === 0) return;
    const step = new Step(this.#context, nowMs);
    step.check(term.fence);
    checkMarks(step, term, gone);
    await step.commit(); // refused: there are others by now, and these are dropped next time
    await this.refreshMarks();
  }

  async #beat({ fence, worker }: Term, nowMs: number): Promise<boolean> {
    const { db, keys, holder } = this.#context;
    const atomic = db.kv.atomic().check(fence).set(keys.of("h", worker), {
      ...holder.beat,
      atMs: nowMs,
    });
    return await db.commit({ atomic, signals: false }) !== undefined;
  }
}

/**
 * One open queue: what a pool calls.
 *
 * @module
 */

import type { JobRecord, Outcome } from "../../src/contract/job.ts";
import type {
  Added,
  Change,
  Changed,
  HandOn,
  JobEntry,
  JobPage,
  JobQuery,
  LaneCounts,
  Leased,
  Queue,
  QueueOptions,
  QueueRules,
  Renewal,
  Settlement,
} from "../../src/contract/store.ts";
import { ChangeLoop } from "./change/change_loop.ts";
import { dropStrays } from "./add/chunks.ts";
import { type ClaimRider, Claims } from "./claim/claim.ts";
import type { Want } from "./claim/take.ts";
import { replaces } from "../../src/base/dedupe.ts";
import { OpenList } from "../../src/base/open_list.ts";
import type { QueueContext, QueueShares } from "./context.ts";
import { PendingAdds } from "./add/pending_adds.ts";
import { CommitLoop } from "./commit_loop.ts";
import { UNFINISHED } from "./end/completions.ts";
import { PendingEnds } from "./end/pending_ends.ts";
import { Heartbeat } from "./members/heartbeat.ts";
import { parseId } from "./record/id.ts";
import { findRecord } from "./read/locate.ts";
import { KvAdded, type KvJob } from "./record/job.ts";
import { SIGNAL_KEY } from "./record/keys.ts";
import { type KvLane, type LaneTable, openLanes } from "./record/lanes.ts";
import { placeRunning, raise, unblock } from "./limit/limits.ts";
import { listJobs } from "./read/list.ts";
import { duplicateOf } from "./limit/owners.ts";
import { readHandOns } from "./end/hand_on.ts";
import { Outcomes } from "./end/outcomes.ts";
import { Reader } from "./read/reader.ts";
import { giveBack } from "./members/reaper.ts";
import { markOf, type Membership } from "./members/membership.ts";

/** How many leases are under way at once over a network: one that is urgent waits for no other. */
const LEASE_CALLS = 4;

/** The jobs of one pool, as one member has them. */
export class KvQueue implements Queue {
  readonly holdsKeyRates = true;
  readonly holdsDedupe = true;
  readonly #context: QueueContext;
  readonly #shares: QueueShares;
  readonly #adds: PendingAdds;
  readonly #ends: PendingEnds;
  readonly #commits: CommitLoop;
  readonly #claims: Claims;
  readonly #changes: ChangeLoop;
  readonly #heartbeat: Heartbeat;
  readonly #reader: Reader;
  readonly #outcomes: Outcomes;
  #nowMs: number;
  #left = false;
  #leaving: Promise<void> | undefined;
  #handedBack: Membership | undefined;
  #isOutdated = false;
  #changing: Promise<void> | undefined;
  /** Leases and renewals under way. */
  readonly #open = new OpenList<Promise<unknown>>();
  /** Until other rules are in effect. */
  #adopting: Promise<unknown> | undefined;

  /** Serves a queue that has joined. */
  constructor(context: QueueContext, options: QueueOptions, shares: QueueShares) {
    this.#context = context;
    this.#shares = shares;
    this.#nowMs = options.nowMs;
    this.#claims = new Claims(context);
    this.#changes = new ChangeLoop(context);
    this.#heartbeat = new Heartbeat(context, options.nowMs);
    this.#adds = new PendingAdds(context);
    this.#ends = new PendingEnds(context, () => this.#heartbeat.refreshMarks());
    this.#commits = new CommitLoop(context, this.#adds, this.#ends);
    this.#reader = new Reader(context);
    this.#outcomes = new Outcomes(context, this);
  }

  /** More where commits do not wait for each other. */
  get leaseCalls(): number {
    return this.#context.db.isSerial ? 1 : LEASE_CALLS;
  }

  /** True where what is added can be leased with its own commit: on a file only by who is alone. */
  get leasesAdded(): boolean {
    const { db, member } = this.#context;
    return db.isSerial ? member.alone && !member.untold : this.#adds.isAsking;
  }

  /** Numbers new lanes. What it returns puts the rules in effect: leases that are asked for later keep to them. */
  async reopen(rules: QueueRules): Promise<(nowMs: number) => void> {
    const { db, keys } = this.#context;
    const lanes = await openLanes(db, keys, rules.lanes, rules.attempts);
    return (nowMs) => this.#adopt(rules, lanes, nowMs);
  }

  /** Counts by lane: live objects. */
  get counts(): readonly LaneCounts[] {
    return this.#context.counts.lanes;
  }

  /** Stores jobs. */
  add(entries: readonly JobEntry[], nowMs: number): Promise<readonly Added[]> {
    this.#heartbeat.stamps(nowMs);
    const added = this.#adds.add(entries, nowMs);
    this.#commits.start(this.#adds);
    return added;
  }

  /** What `add` does with an entry that is a duplicate. */
  async duplicateOf(entry: JobEntry, nowMs: number): Promise<Added | undefined> {
    if (replaces(entry)) {
      const known = await this.#adds.repeat(entry, nowMs);
      return known.duplicate || known.error !== undefined ? known : undefined;
    }
    return await this.#context.mutex.run(() => duplicateOf(this.#context, entry, nowMs));
  }

  /** Leases claimable jobs. */
  lease(
    wants: readonly number[],
    nowMs: number,
    ahead: readonly number[] = [],
  ): Promise<readonly Leased[]> {
    const asked = this.#context.lanes.own.map((lane) =>
      [lane, wants[lane.index] ?? 0, ahead[lane.index] ?? 0] as const
    );
    this.#nowMs = nowMs;
    this.#heartbeat.stamps(nowMs);
    const asking = wants.some((want) => want > 0) ? this.#heartbeat.asks(nowMs) : undefined;
    if (asking !== undefined) this.#waitFor(asking);
    return this.#claim(asked, nowMs);
  }

  async #claim(asked: readonly Want[], nowMs: number): Promise<readonly Leased[]> {
    // Said at once: what it could go with is on its way in the next turn.
    const waits = this.#left || this.#adopting !== undefined;
    const ride = waits ? undefined : this.#claims.participant(asked, nowMs);
    const riding = ride !== undefined && this.#commits.carry(ride) ? ride.jobs : undefined;
    await this.#adopting;
    const jobs = await this.#waitFor(this.#lease(riding, asked, nowMs));
    const { marked } = this.#context.member.membership;
    // Cancelled before its pool has it: told once it does.
    if (marked.size > 0 && jobs.some((job) => marked.has(markOf(job.segment, job.index)))) {
      this.#readAgain();
    }
    return jobs;
  }

  /** What was leased on the way with ends of jobs, or else by a commit of its own. */
  async #lease(
    riding: ClaimRider["jobs"] | undefined,
    wants: readonly Want[],
    nowMs: number,
  ): Promise<readonly KvJob[]> {
    const ridden = await riding;
    if (ridden !== undefined) return ridden;
    return this.#left ? [] : await this.#claims.lease(wants, nowMs);
  }

  /** Ends leases. */
  settle(settlements: readonly Settlement[], nowMs: number): Promise<readonly boolean[]> {
    this.#heartbeat.stamps(nowMs);
    const settled = this.#ends.settle(settlements, nowMs);
    this.#commits.start(this.#ends);
    return settled;
  }

  /** Shows that this member lives, and takes back the jobs of those that do not. */
  async renew(nowMs: number, steadyMs: number = nowMs): Promise<Renewal> {
    const { member } = this.#context;
    this.#nowMs = nowMs;
    if (this.#left) {
      return { alive: false, peers: member.peers, reaped: 0, nextAtMs: Infinity };
    }
    return await this.#waitFor(this.#heartbeat.renew(nowMs, steadyMs));
  }

  /** Leaving waits for it, and so do other rules. */
  #waitFor<T>(work: Promise<T>): Promise<T> {
    const open = this.#open.add(work);
    return work.finally(() => this.#open.delete(open));
  }

  /** Counts by lane: the same live objects each time. */
  count(nowMs: number, anew?: boolean): Promise<readonly LaneCounts[]> {
    this.#nowMs = nowMs;
    return this.#reader.count(nowMs, anew);
  }

  /** How many jobs that have ended are kept. */
  get kept(): Readonly<Record<"done" | "dead", number>> {
    const { d: done, x: dead } = this.#context.counts.kept;
    return { done, dead };
  }

  /** 1 if the oldest ready job is as old, 0 if not: only the head is known. */
  readySince(lane: number, atMs: number): number {
    const counts = this.#context.counts.lanes[lane];
    return counts !== undefined && counts.ready > 0 && counts.oldestReadyAtMs <= atMs ? 1 : 0;
  }

  /** When a ready job became claimable; the head's time where others claim too, and more is not known. */
  readyAtMs(lane: number, earlier: number): number | undefined {
    const live = this.#context.counts.lanes[lane];
    return live?.readyAtMs(earlier) ??
      (this.#context.member.alone ? undefined : live?.oldestReadyAtMs);
  }

  /** Looks a job up. */
  async find(id: string): Promise<JobRecord | undefined> {
    return await findRecord(this.#context, id);
  }

  /** Name of the lane of a job: its id tells. `undefined`: that is not known yet. */
  laneOf(id: string): string | undefined {
    const parts = parseId(id);
    return parts === undefined ? undefined : this.#context.lanes.nameOf(parts.ordinal) || undefined;
  }

  /** Lists jobs state by state, those that have ended first; within a state by age. */
  async list(query: JobQuery): Promise<JobPage> {
    return await listJobs(this.#context, query);
  }

  /** Cancels, revives or removes one job. */
  async change(id: string, change: Change, nowMs: number): Promise<Changed> {
    const changed = await this.#changes.change(id, change, nowMs);
    if (changed.ok && changed.state === "running") await this.#heartbeat.refreshMarks();
    return changed;
  }

  /** Ends that are to be handed on. */
  toHandOn(limit: number, after?: string): Promise<readonly HandOn[]> {
    return readHandOns(this.#context, limit, after);
  }

  /** Resolves when the job has ended. An id that is not known is `unfinished`. */
  outcome(job: { readonly id: string }): Promise<Outcome> {
    if (this.#left) return Promise.resolve(UNFINISHED);
    return this.#outcomes.of(job.id, job instanceof KvAdded ? job.endings : undefined);
  }

  /** Counts are read again when they are asked for next. */
  outdate(): void {
    this.#context.counts.changes++;
  }

  /** Another member of this pool has committed something, in this process or another. */
  changed(): Promise<void> {
    const { member, counts, db } = this.#context;
    if (db.isSerial || member.alone) counts.forgetShelves();
    member.alone = false;
    counts.changes++;
    counts.news++;
    return this.#readAgain();
  }

  /** Stops without leaving: what it has leased stays so until others take it back. */
  async close(): Promise<void> {
    this.#left = true;
    const looked = this.#outcomes.close();
    await this.#adds.idle();
    await this.#commits.idle();
    await looked;
    await this.#changing?.catch(() => {}); // who asked for the look was told
    await this.#adopting;
    this.#context.completions.forsake(this);
  }

  /** Hands all leases back and leaves. If that fails, it may be asked again. */
  async leave(nowMs: number): Promise<void> {
    this.#leaving ??= this.#leave(nowMs);
    try {
      await this.#leaving;
    } catch (thrown) {
      this.#leaving = undefined;
      throw thrown;
    }
  }

  async #leave(nowMs: number): Promise<void> {
    await this.close();
    await Promise.allSettled(this.#open.values()); // faults go to those who asked
    const { db, keys, member, others } = this.#context;
    const { membership } = member;
    if (!membership.lost) this.#handedBack = membership;
    membership.lost = true; // nothing ends any more: what is handed back is others'
    await this.#commits.idle();
    const { memberId, fence } = membership;
    const { versionstamp } = await db.get(fence.key);
    if (this.#handedBack === membership && versionstamp === fence.versionstamp) {
      const back = { memberId, charged: false, fence };
      await this.#context.mutex.run(() => giveBack(this.#context, back, nowMs));
      await dropStrays(this.#context);
      const atomic = db.kv.atomic().check(fence).sum(SIGNAL_KEY, 1n).delete(fence.key)
        .delete(keys.of("h", memberId)).delete(keys.of("y", memberId)).set(keys.of("t"), nowMs);
      await db.commit({ atomic, signals: true });
    }
    this.#shares.left();
    others.wake();
  }

  #adopt({ keep, leaseMs }: QueueRules, lanes: LaneTable, nowMs: number): void {
    const { lanes: table, counts, member } = this.#context;
    const before = new Map(table.own.map((lane) => [lane.ordinal, lane.maxRunningPerKey]));
    table.adopt(lanes);
    counts.adopt(lanes.own.map(({ ordinal }) => ordinal));
    member.leaseMs = leaseMs;
    this.#context.keep = keep;
    const others = table.own.filter(({ ordinal, maxRunningPerKey }) =>
      before.get(ordinal) !== maxRunningPerKey
    );
    const { listener } = this.#context;
    const adopted = (): void => {
      if (this.#adopting === adopting) this.#adopting = undefined;
      listener.wake();
    };
    // A fault of the database changes nothing: ends of jobs free what waits for places.
    const adopting = this.#limit(others, nowMs).then(adopted, adopted);
    this.#adopting = adopting;
  }

  /** Does what follows from other limits on jobs of one key, once what is on its way under the old ones is there. */
  async #limit(lanes: readonly KvLane[], nowMs: number): Promise<void> {
    if (lanes.length === 0) return;
    await this.#adopting;
    await Promise.allSettled(this.#open.values()); // faults go to those who asked
    const { mutex: gate } = this.#context;
    await this.#commits.between(() =>
      gate.run(async () => {
        for (const lane of lanes) {
          if (lane.maxRunningPerKey === Infinity) await unblock(this.#context, lane, nowMs);
          else {
            await placeRunning(this.#context, lane, nowMs);
            await raise(this.#context, lane, nowMs);
          }
        }
      })
    );
  }

  #readAgain(): Promise<void> {
    this.#isOutdated = true;
    this.#changing ??= this.#readChanges().finally(() => this.#changing = undefined);
    return this.#changing;
  }

  async #readChanges(): Promise<void> {
    const { member, listener } = this.#context;
    while (this.#isOutdated && !this.#left) {
      this.#isOutdated = false;
      if (member.membership.parts.size > 0) await this.#heartbeat.refreshMarks();
      if (!this.#context.db.isSerial) await this.#heartbeat.lookAround(this.#nowMs);
      await this.#reader.read(this.#nowMs); // the counts are live: the pool sees what woke it
      this.#outcomes.hurry();
      listener.wake();
    }
  }
}

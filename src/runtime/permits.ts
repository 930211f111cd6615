/**
 * This process's part of the caps that hold over several: kept in the store, where all of them take
 * and give permits by commits that fail if another was quicker.
 *
 * @module
 */

import type { CapRate, NamedCap, Shares } from "../planning/planner.ts";
import { PermitSeat, type SeatContext } from "./permit_seat.ts";
import type { StartRates } from "./start_rates.ts";
import { windowOf } from "../planning/start_window.ts";
import type { StrategySlots } from "./strategy_slots.ts";
import type { Worker } from "./worker.ts";

/** What permits need of their pool. */
export interface PermitsContext extends SeatContext {
  /** Its caps. */
  readonly slots: StrategySlots;
  /** Counts its starts. */
  readonly rates: StartRates;
}

/** Where the permits of one cap are. */
interface Place {
  readonly seat: PermitSeat;
  readonly key: string;
  /** Permits that one job takes. */
  readonly each: number;
}

/** Owns the permits of one pool. A pool without such caps has none, and writes nothing. */
export class Permits implements Shares {
  readonly #context: PermitsContext;
  readonly #seats = new Map<string, PermitSeat>(); // by record
  #all: readonly PermitSeat[] = []; // the same
  #finishing: readonly PermitSeat[] = []; // of downstreams that are used no more
  #places = new Map<NamedCap, Place>();
  #coolMs = 0;
  #isUntimed = false;
  #stopping = false;

  /** Holds nothing until it has joined. */
  constructor(context: PermitsContext) {
    this.#context = context;
    this.#takeSettings();
  }

  /** Enters the records, before anything is planned. */
  async join(): Promise<void> {
    for (const seat of this.#all) await seat.join();
  }

  /** Takes the settings over that now hold. */
  adopt(): void {
    this.#takeSettings();
  }

  /** How its holders are heard of others: `true` if none can do anything before. */
  renewed(isUntimed: boolean): void {
    this.#isUntimed = isUntimed;
    for (const seat of this.#all) seat.renewed(isUntimed);
  }

  /** Others have changed something. */
  wake(): void {
    for (const seat of this.#all) seat.wake();
  }

  /** Wants nothing any more: gives back what becomes free. */
  stop(): void {
    this.#stopping = true;
    for (const seat of this.#all) seat.stop();
  }

  /** Leaves the records. A store that fails takes the permits back after a lease. */
  async leave(): Promise<void> {
    await Promise.all(this.#all.map((seat) => seat.leave()));
  }

  workers(cap: NamedCap, whole: number, wants: number): number {
    const { state, now } = this.#context;
    const { seat, key, each } = this.#placeOf(cap);
    const permits = cap.shared?.connections ?? whole;
    // Workers kept for what may come are no demand while others lack some: no slack.
    const demand = Math.max(state.size.min, state.total - state.idle + this.#ready);
    seat.need(`${key}/workers`, {
      cap: permits,
      wants: Math.min(wants, whole, demand) * each,
      step: each,
      cools: false,
      used: () => state.total * each,
    });
    // A cap that comes by a reload: what there is stays until its part is known.
    if (seat.isJoining) return Math.min(whole, state.total);
    return Math.floor(seat.inForce(`${key}/workers`, permits, now()) / each);
  }

  starts({ cap, key: held, number, limit }: CapRate, room: number): number {
    const { starts: whole } = limit;
    if (whole === 0) return 0;
    const { rates, state, now } = this.#context;
    const { seat, key: name, each } = this.#placeOf(cap);
    const key = `${name}/${number === 1 ? "starts" : `starts#${number}`}`;
    const nowMs = now();
    // Pools that share a rate divide calls, of which their jobs make more or fewer.
    const { starts: permits, perMs } = windowOf({ ...limit, starts: callsOf(whole, each) });
    const most = Math.floor(permits / each);
    const mine = (): number => Math.floor(seat.inForce(key, permits, nowMs) / each);
    const used = (): number => rates.used(held, now(), perMs, limit.lane);
    const count = used();
    const unused = mine() - count;
    // A part that it is only late to use is kept while work waits: to move it costs a window.
    const late = room > 0 || count >= unused ? unused : 0;
    // Who starts by the pace has some unused at any time, now more, now fewer: all who do want all.
    const isPaced = state.rateBound && state.holdUntilMs === 0;
    const more = isPaced ? most : Math.max(1, room, late);
    const wants = Math.min(most, count + Math.min(this.#waiting(limit.lane), more)) * each;
    seat.need(key, { cap: permits, wants, step: each, cools: true, used: () => used() * each });
    if (perMs > this.#coolMs) {
      this.#coolMs = perMs;
      this.#takeSettings();
    }
    if (seat.isAlone(nowMs)) return whole;
    return mine() * (whole * each / permits);
  }

  /** Looks at the records if it is time to. */
  attend(nowMs: number): void {
    for (const seat of this.#all) seat.attend(nowMs);
  }

  /** When to attend next. `Infinity`: when something happens. */
  nextAtMs(nowMs: number): number {
    let atMs = Infinity;
    for (const seat of this.#all) atMs = Math.min(atMs, seat.nextAtMs(nowMs));
    return atMs;
  }

  /** Its share of the jobs that wait for a rate. */
  #waiting(lane: string | undefined): number {
    const { lanes, peers } = this.#context.state;
    if (lane === undefined) return this.#ready;
    return Math.ceil((lanes.find(({ name }) => name === lane)?.waiting ?? 0) / peers);
  }

  /** Its share of the jobs that wait. */
  get #ready(): number {
    const { ready, peers } = this.#context.state;
    return Math.ceil(ready / peers);
  }

  #placeOf(cap: NamedCap): Place {
    return this.#places.get(cap)!; // every cap over several processes that there is has one
  }

  #takeSettings(): void {
    const { state: { settings, pool, worked }, slots: { instances } } = this.#context;
    if (!worked) return; // it plans nothing, and wants nothing
    const records = new Map<string, RecordPlan>();
    const wanted = instances.caps.flatMap((cap, index) => {
      if (cap.scope !== "cluster") return [];
      const { shared } = cap;
      const record = shared === undefined ? `permits/${pool}` : `downstreams/${shared.downstream}`;
      const isShared = shared !== undefined;
      const plan = records.get(record) ?? { isShared, reportMs: Infinity, keys: new Set() };
      records.set(record, plan);
      const { reportMs } = settings.caps[index]!; // instances are made of these, in this order
      plan.reportMs = Math.min(plan.reportMs, reportMs);
      const name = shared?.what ?? cap.name;
      let key = name;
      for (let count = 2; plan.keys.has(key); count++) key = `${name}#${count}`;
      plan.keys.add(key);
      return [{ cap, record, key }];
    });
    for (const [record, plan] of records) this.#sit(record, plan);
    this.#finishing = this.#finishing.filter(({ isClosed }) => !isClosed);
    for (const [record, seat] of this.#seats) if (!records.has(record)) this.#rise(record, seat);
    this.#all = [...this.#seats.values(), ...this.#finishing];
    this.#places = new Map(
      wanted.map(({ cap, record, key }) => {
        const seat = this.#seats.get(record)!; // it sits there
        return [cap, { seat, key, each: cap.shared?.each ?? 1 }];
      }),
    );
  }

  #sit(record: string, { isShared, reportMs, keys }: RecordPlan): void {
    const rules = { reportMs, coolMs: this.#coolMs };
    const before = this.#seats.get(record);
    if (before !== undefined) return before.adopt(rules, keys);
    const seat = new PermitSeat(record, isShared, rules, this.#context);
    seat.renewed(this.#isUntimed);
    if (this.#stopping) seat.stop();
    this.#seats.set(record, seat);
  }

  /** Jobs that run may use what their pool uses no more: their permits are given back as they end. */
  #rise(record: string, seat: PermitSeat): void {
    const { workers } = this.#context.state;
    const runs = new Set(workers.flatMap(({ run }) => run ?? []));
    const most = Math.max(0, ...this.#places.values().map((at) => at.seat === seat ? at.each : 0));
    const isLeft = ({ run }: Worker): boolean => run !== undefined && runs.has(run);
    seat.finish(() => workers.filter(isLeft).length * most);
    this.#seats.delete(record);
    this.#finishing = [...this.#finishing, seat];
  }
}

/** What the caps of a pool make of one record. */
interface RecordPlan {
  readonly isShared: boolean;
  reportMs: number;
  readonly keys: Set<string>;
}

/** Calls of starts, without what a product of decimals misses: all pools come to the same window. */
function callsOf(starts: number, each: number): number {
  return each === 1 ? starts : Number((starts * each).toPrecision(12));
}

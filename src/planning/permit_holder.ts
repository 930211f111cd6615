/**
 * One process's part in the permits: what it may use now, and what it writes into the record.
 *
 * @module
 */

import { sight, type Sighting } from "../base/liveness.ts";
import { isWorthTelling, partsOf, type PermitPlan, planPermits } from "./permit_plan.ts";
import type { Need, PermitEntry, PermitRecord } from "./permits.ts";

/** What a holder goes by. */
export interface PermitRules {
  /** A process that has not written for so long is dead, ms. */
  readonly leaseMs: number;
  /** How long a start counts against a rate, ms. 0: there is no rate among the caps. */
  readonly coolMs: number;
  /** Name of this process, where others can look whether it still is. */
  readonly process?: string | undefined;
  /** Where several pools share the record: which one this is, and a name that all of this process have. */
  readonly shared?: { readonly host: string; readonly pool: string } | undefined;
  /** True if the store is this process's alone. @default {false} */
  readonly isPrivate?: boolean | undefined;
}

/** What is known for certain of others in the record. */
export interface Certainties {
  /** True for a process that has ended. */
  readonly isGone: (process: string) => boolean;
  /** True for a holder of this process that goes on. */
  readonly isHere: (id: string) => boolean;
  /** What the wall clock shows, ms. */
  readonly wallMs: number;
}

/** Shares of a lease after which its holder uses nothing any more, and after which others may take it. */
const USES = 0.85;
const STALE = 0.95;

/** Share of a lease for which a process that was alone, untimed, goes on: it may have heard of others late. */
const HEARS = 0.5;

/** How many of its commits fit into a lease. */
const BEATS = 3;

interface Draft {
  readonly id: string;
  readonly record: PermitRecord;
  readonly atMs: number;
  readonly validMs: number;
  readonly alone: boolean;
  readonly among: boolean;
  readonly plan: PermitPlan;
}

/**
 * Keeps the rules by which permits in effect never add up to more than a cap. What is lowered applies
 * at once, what is raised only once its commit was answered. Only its holder lowers a
 * part in the record, and to no less than is in use; others take only what is free, or what a dead one
 * held. And a holder stops using its part before anyone takes it for dead: each measures by its own
 * clock, the holder from before its commit, the others from when they saw it.
 */
export class PermitHolder {
  /** Its number in the record. Empty: it is not there. */
  id = "";
  /** Nothing is in effect from then on, unless another commit was answered. */
  validUntilMs = -Infinity;
  /** What it goes by. */
  rules: PermitRules;
  readonly #lowered: () => void;
  readonly #seen = new Map<string, Sighting<string>>();
  readonly #granted = new Map<string, number>();
  #untimed = false;
  #alone = false;
  #amongOwn = false; // or alone: all others are of this process
  #beat = 0;
  #beatAtMs = -Infinity;
  #lookedAtMs: number | undefined;
  #othersShort = false;
  #gives = false;
  #uncertain = false;
  #draft: Draft | undefined;

  /** Holds nothing yet. @param lowered Told when less is in effect, before what is in use is counted. */
  constructor(rules: PermitRules, lowered: () => void) {
    this.rules = rules;
    this.#lowered = lowered;
  }

  /**
   * Says whether it hears of a joining process before that can do anything: alone, nothing lapses then.
   * Once another has joined it has time to tell what it keeps.
   */
  hears(isUntimed: boolean, nowMs: number): void {
    if (this.isUntimed && !isUntimed) this.#startClock(nowMs);
    this.#untimed = isUntimed;
  }

  /** True while nothing lapses. */
  get isUntimed(): boolean {
    return this.#untimed && this.#amongOwn;
  }

  /** When it shows next that it lives, at the latest. */
  get beatAtMs(): number {
    if (this.id === "" || this.#uncertain) return -Infinity;
    // That its own pool is alone says nothing of others: they see that it lives.
    const { shared, isPrivate } = this.rules;
    if (this.isUntimed && (shared === undefined || isPrivate)) return Infinity;
    return this.#beatAtMs + this.rules.leaseMs / BEATS;
  }

  /** True while it is the only process, as far as it knows: all of every cap is in effect. */
  isAlone(nowMs: number): boolean {
    return this.#alone && this.isValid(nowMs);
  }

  /** True while what it holds is in effect. */
  isValid(nowMs: number): boolean {
    return this.id !== "" && (nowMs < this.validUntilMs || this.isUntimed);
  }

  /** Permits in effect. */
  inForce(key: string, cap: number, nowMs: number): number {
    if (!this.isValid(nowMs)) return 0;
    return this.#alone ? cap : Math.min(cap, this.#granted.get(key) ?? 0);
  }

  /** True while only another look can go on: it is to join, or gives what comes free. */
  get isHalfway(): boolean {
    return this.#gives || this.id === "";
  }

  /** True while permits are to move: to it, or from it to others. */
  isMoving(needs: ReadonlyMap<string, Need>, nowMs: number): boolean {
    if (this.isAlone(nowMs)) return false;
    if (this.isHalfway || this.#othersShort) return true;
    for (const [key, { cap, wants }] of needs) {
      if (Math.min(cap, wants) > this.inForce(key, cap, nowMs)) return true;
    }
    return false;
  }

  /**
   * Reads the record, and lowers what it has too much of.
   *
   * @returns What to commit if the record has not changed since. `undefined`: nothing.
   */
  look(
    record: PermitRecord | undefined,
    needs: ReadonlyMap<string, Need>,
    nowMs: number,
    certain: Certainties = { isGone: () => false, isHere: () => false, wallMs: nowMs },
  ): PermitRecord | undefined {
    const { next, holders } = record ?? { next: 1, holders: {} };
    const mine = this.id === "" ? undefined : holders[this.id];
    if (mine === undefined) this.#lose();
    const others = this.#others(holders, nowMs, certain);
    const place = others.findIndex(([id]) => Number(id) > Number(this.id || next));
    const company = {
      others: others.map(([, entry]) => entry),
      place: place < 0 ? others.length : place,
      mine,
      pool: this.rules.shared?.pool,
      wallMs: certain.wallMs,
    };
    const plan = planPermits(needs, company);
    const alone = others.length === 0;
    const among = others.every(([, entry]) => this.#isOwn(entry));
    if (!among) {
      if (this.isUntimed) this.#startClock(nowMs);
      this.#amongOwn = false;
    }
    this.#othersShort = plan.othersShort;
    if (!alone) this.#lower(plan, nowMs);
    const parts = alone ? {} : partsOf(plan, company);
    const isAsBefore = mine !== undefined && nowMs < this.beatAtMs &&
      alone === (mine.alone ?? false) && alone === this.#alone &&
      mine.coolMs === this.rules.coolMs &&
      others.length === Object.keys(holders).length - 1 && !isWorthTelling(mine.parts, parts);
    if (isAsBefore) return undefined;
    // Another may be quicker and take the number: it is this one's once that is committed.
    const isNew = this.id === "";
    const id = isNew ? String(next) : this.id;
    const entry = this.#entry(parts, alone);
    const draft = {
      next: isNew ? next + 1 : next,
      holders: { ...Object.fromEntries(others), [id]: entry },
    };
    const validMs = USES * this.rules.leaseMs;
    this.#draft = { id, record: draft, atMs: nowMs, validMs, alone, among, plan };
    return draft;
  }

  /** What `look` drafted was committed; or not, since others were quicker. */
  answered(ok: boolean): void {
    const draft = this.#draft;
    this.#draft = undefined;
    if (!ok || draft === undefined) return; // what was lowered stays so until the next look
    const { id, record, atMs, validMs, alone, among, plan } = draft;
    this.id = id;
    this.#uncertain = false;
    this.#alone = alone;
    this.#amongOwn = among;
    this.#beat++;
    this.#beatAtMs = atMs;
    this.validUntilMs = atMs + validMs;
    this.#grant(plan, record.holders[id]!); // it wrote itself
  }

  /** Whether the draft was committed is not known: nothing rises until another one was. */
  failed(): void {
    this.#draft = undefined;
    this.#uncertain = true;
  }

  /** What to commit to leave. `undefined`: it is not there. */
  leave(record: PermitRecord | undefined): PermitRecord | undefined {
    const { id, rules } = this;
    const mine = id === "" ? undefined : record?.holders[id];
    this.#stop();
    if (record === undefined || mine === undefined) return undefined;
    const holders = { ...record.holders };
    delete holders[id];
    // Its last starts still count against the rates.
    if (rules.coolMs > 0) holders[id] = { ...mine, beat: mine.beat + 1, leftMs: rules.coolMs };
    return { ...record, holders };
  }

  /** From now on it may lapse: it has time to tell what it keeps. */
  #startClock(nowMs: number): void {
    this.validUntilMs = Math.max(this.validUntilMs, nowMs + HEARS * this.rules.leaseMs);
  }

  /** It is not in the record: it has not joined, has left, or was taken for dead. */
  #lose(): void {
    const had = this.#alone || this.#granted.size > 0;
    this.#stop();
    this.id = "";
    this.#beat = 0;
    if (had) this.#lowered();
  }

  #stop(): void {
    this.#alone =
      this.#amongOwn =
      this.#gives =
      this.#uncertain =
        false;
    this.#granted.clear();
    this.validUntilMs = -Infinity;
  }

  /** Those who may use what they hold, as far as this process can tell, in the order in which they came. */
  #others(
    holders: PermitRecord["holders"],
    nowMs: number,
    { isGone, isHere }: Certainties,
  ): [string, PermitEntry][] {
    const sinceMs = Math.max(0, nowMs - (this.#lookedAtMs ?? nowMs));
    this.#lookedAtMs = nowMs;
    for (const id of this.#seen.keys()) if (!(id in holders)) this.#seen.delete(id);
    return Object.entries(holders)
      .filter(([id]) => id !== this.id)
      // One that is gone has left: only its last starts still count.
      .map(([id, entry]): [string, PermitEntry] =>
        entry.process !== undefined && isGone(entry.process)
          ? [id, { ...entry, leftMs: entry.leftMs ?? entry.coolMs }]
          : [id, entry]
      )
      .filter(([id, entry]) => {
        const mayUse = this.#mayUse(id, entry, sinceMs);
        return mayUse || this.#isOwn(entry) && entry.leftMs === undefined && isHere(id);
      })
      .sort(([a], [b]) => Number(a) - Number(b));
  }

  #mayUse(id: string, { beat, staleMs, leftMs }: PermitEntry, sinceMs: number): boolean {
    if (leftMs === 0) return false;
    const left = leftMs !== undefined;
    const sign = `${beat} ${left}`; // how long one was silent that is gone says nothing of its last starts
    const seen = sight(this.#seen.get(id), sign, sinceMs, left ? Infinity : staleMs);
    this.#seen.set(id, seen);
    return seen.silentMs < (leftMs ?? staleMs);
  }

  /** True for an entry of another pool of this process. */
  #isOwn({ host }: PermitEntry): boolean {
    return host !== undefined && host === this.rules.shared?.host;
  }

  /** What it holds beyond what it keeps is out of force from here on; what it did not use may be used again. */
  #lower({ parts }: PermitPlan, nowMs: number): void {
    let less = false;
    for (const [key, { cap, has, keeps }] of parts) {
      const before = this.inForce(key, cap, nowMs);
      const now = Math.min(has, keeps, this.#uncertain ? before : Infinity);
      if (now < before) less = true;
      this.#granted.set(key, now);
    }
    this.#alone = false;
    if (less) this.#lowered();
  }

  #grant({ parts }: PermitPlan, mine: PermitEntry): void {
    this.#granted.clear();
    this.#gives = false;
    if (this.#alone) return;
    for (const [key, { keeps }] of parts) {
      const [has] = mine.parts[key]!; // written from the same plan
      this.#granted.set(key, Math.min(has, keeps));
      if (has > keeps) this.#gives = true;
    }
  }

  #entry(parts: PermitEntry["parts"], alone: boolean): PermitEntry {
    const { leaseMs, coolMs, process, shared = {} } = this.rules;
    return {
      beat: this.#beat + 1,
      staleMs: Math.max(STALE * leaseMs, USES * leaseMs + coolMs),
      coolMs,
      ...(process === undefined ? {} : { process }),
      ...shared,
      ...(alone ? { alone } : {}),
      parts,
    };
  }
}

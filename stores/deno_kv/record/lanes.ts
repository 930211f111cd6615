/**
 * Lanes by number: a lane gets one when it is first opened and keeps it, whatever configs say later.
 *
 * @module
 */

import { type KeyRate, slotsOf } from "../../../src/base/key_starts.ts";
import type { LaneRules } from "../../../src/contract/store.ts";
import type { Db } from "../io/db.ts";
import type { PoolKeys } from "./keys.ts";

/** A lane of this queue. */
export interface KvLane extends LaneRules {
  /** Most jobs of a key that have a slot: as many as may run, and start at once. `Infinity`: no bound. */
  readonly maxRunningPerKey: number;
  /** What holds for starts of each key. */
  readonly keyRates: readonly KeyRate[];
  /** Its number. */
  readonly ordinal: number;
  /** Its index in this queue. */
  readonly index: number;
  /** How often its jobs may be started. */
  readonly attempts: number;
}

/** The lanes of a queue, and names of those that only others have. */
export class LaneTable {
  #own: readonly KvLane[] = [];
  #byOrdinal: (KvLane | undefined)[] = [];
  #names: readonly string[] = [];

  /** `names`: of all lanes ever opened, by number. */
  constructor(own: readonly KvLane[], names: readonly string[]) {
    this.#take(own, names);
  }

  /** By index in this queue. Other lanes may take their place while something is waited for. */
  get own(): readonly KvLane[] {
    return this.#own;
  }

  /** Has the lanes of another table from now on. */
  adopt(other: LaneTable): void {
    const names = other.#names.length < this.#names.length ? this.#names : other.#names;
    this.#take(other.#own, names); // names only become more
  }

  /** The lane of that number. `undefined`: this queue does not have it. */
  of(ordinal: number): KvLane | undefined {
    return this.#byOrdinal[ordinal];
  }

  /** Name of the lane of that number. */
  nameOf(ordinal: number): string {
    return this.#names[ordinal] ?? "";
  }

  /** Number of the lane of that name. `undefined`: none was ever opened. */
  ordinalOf(name: string): number | undefined {
    const ordinal = this.#names.indexOf(name);
    return ordinal === -1 ? undefined : ordinal;
  }

  /** Numbers of all lanes. */
  get ordinals(): readonly number[] {
    return this.#names.map((_, ordinal) => ordinal);
  }

  /** Learns the names of lanes that others have opened since. */
  async refresh(db: Db, keys: PoolKeys): Promise<void> {
    const { key, value, versionstamp } = await db.get<unknown>(keys.of("lanes"));
    const names = laneNamesIn(value);
    const isWhole = this.#names.every((name, ordinal) => names[ordinal] === name);
    if (isWhole) this.#names = names;
    else { // it was damaged: this process knows better
      const atomic = db.kv.atomic().check({ key, versionstamp }).set(key, this.#names);
      await db.commit({ atomic, signals: false });
    }
  }

  #take(own: readonly KvLane[], names: readonly string[]): void {
    this.#own = own;
    this.#names = names;
    this.#byOrdinal = [];
    for (const lane of own) this.#byOrdinal[lane.ordinal] = lane;
  }
}

/** The names that stand in the database. Empty where they cannot be read: lanes are numbered as configs have them. */
export function laneNamesIn(value: unknown): readonly string[] {
  return Array.isArray(value) && value.every((name) => typeof name === "string") ? value : [];
}

/** Numbers the lanes of a queue; new ones are numbered on. */
export async function openLanes(
  db: Db,
  keys: PoolKeys,
  rules: readonly LaneRules[],
  attempts: readonly number[],
): Promise<LaneTable> {
  const key = keys.of("lanes");
  const number = async (): Promise<LaneTable | undefined> => {
    const entry = await db.get<unknown>(key);
    const before = laneNamesIn(entry.value);
    const added = rules.map(({ name }) => name).filter((name) => !before.includes(name));
    const names = [...before, ...added];
    const operation = db.kv.atomic().check(entry).set(key, names);
    if (added.length > 0 && !await db.commit({ atomic: operation, signals: false })) {
      return undefined;
    }
    const own = rules.map(({ name, maxRunningPerKey, keyRates = [], handsOn }, index) => ({
      name,
      maxRunningPerKey: slotsOf(maxRunningPerKey, keyRates),
      keyRates,
      handsOn,
      ordinal: names.indexOf(name),
      index,
      attempts: attempts[index] ?? Infinity,
    }));
    return new LaneTable(own, names);
  };
  return (await db.retry(number, Infinity))!; // who is quicker has numbered some: there are fewer left
}

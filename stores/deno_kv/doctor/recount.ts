/**
 * Counts what is there, where a count of it was damaged: counters of a lane, places of keys, what is kept.
 *
 * @module
 */

import { type Bytes, decodeLines, isUnreadable, type JobLine, parseLine } from "../record/codec.ts";
import type { QueueContext } from "../context.ts";
import { countIn } from "../read/counts.ts";
import type { Db } from "../io/db.ts";
import { countDone } from "../end/done.ts";
import { type Counted, type KeptKind, PoolKeys, SIGNAL_KEY } from "../record/keys.ts";
import { raise } from "../limit/limits.ts";
import { endedLines } from "../end/part_ends.ts";
import { poolNames } from "../io/upgrade.ts";

/** Places of a key: taken, and jobs that wait for one. */
export type PlaceCount = readonly [held: number, waiting: number];

/** What is read to count. */
type Source = Pick<QueueContext, "db" | "keys">;

const SPACES: readonly Counted[] = ["r", "z", "q", "l"];

/** Places as they are stored. `undefined`: that is none, or cannot be read. */
export function placesIn(value: unknown): PlaceCount | undefined {
  if (!Array.isArray(value)) return undefined;
  const [held, waiting] = value;
  return Number.isSafeInteger(held) && Number.isSafeInteger(waiting) ? [held, waiting] : undefined;
}

/** When the oldest job was due that waits for a place of this key, or one before it. `undefined`: not known. */
export function waitingSince(value: unknown): number | undefined {
  const sinceMs: unknown = Array.isArray(value) ? value[2] : undefined;
  return typeof sinceMs === "number" ? sinceMs : undefined;
}

/** Starts that the record of a key has beside its places, by time. */
export function startsIn(value: unknown): number[] {
  return Array.isArray(value) && placesIn(value) !== undefined ? value.slice(3).filter(isTime) : [];
}

/** What the record of a key is. `sinceMs`: see `waitingSince`. */
export function keyRecord(
  [held, waiting]: PlaceCount,
  sinceMs: number | undefined,
  starts: readonly number[],
): readonly unknown[] {
  if (starts.length > 0) return [held, waiting, sinceMs ?? null, ...starts];
  return sinceMs === undefined ? [held, waiting] : [held, waiting, sinceMs];
}

function isTime(value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value);
}

/** How often a damaged record of a key is counted again while others go on with its lane. */
const MOST_LOOKS = 5;

/**
 * The places of a key whose record was damaged. As far as others let it, what is counted is stored before
 * anyone goes by it.
 */
export async function restorePlaces(
  source: Source,
  ordinal: number,
  key: string,
): Promise<PlaceCount> {
  const { db, keys } = source;
  let counted: PlaceCount = [0, 0];
  for (let looks = 0; looks < MOST_LOOKS; looks++) {
    const [record, ...movers] = await db.getMany<unknown>([
      keys.of("k", ordinal, key),
      ...moversOf(source, ordinal),
    ]);
    counted = (await tallyLane(source, ordinal)).slots.get(key) ?? [0, 0];
    if (await setPlaces(source, [record!, ...movers], counted)) break;
  }
  return counted;
}

/**
 * Counters that each move of a job with a place changes. A job that is leased, or that goes back from a
 * lease, leaves the record of its key as it is, and is for a moment in no list that is being read.
 */
function moversOf({ keys }: Source, ordinal: number): readonly Deno.KvKey[] {
  return [keys.of("c", ordinal, "r"), keys.of("c", ordinal, "l")];
}

/** Stores the places of a key, unless it or anything that moves its jobs has changed since it was read. */
async function setPlaces(
  { db }: Source,
  [record, ...movers]: readonly Deno.KvEntryMaybe<unknown>[],
  [held, waiting]: PlaceCount,
): Promise<boolean> {
  const atomic = db.kv.atomic().check(record!, ...movers);
  const starts = startsIn(record!.value);
  if (held + waiting + starts.length === 0) atomic.delete(record!.key);
  else atomic.set(record!.key, keyRecord([held, waiting], undefined, starts));
  return await db.commit({ atomic, signals: false }) !== undefined;
}

/** Counts the jobs of a lane in one space, or those that are kept. */
export async function countSpace(
  source: Source,
  ordinal: number,
  space: Counted | KeptKind,
): Promise<number> {
  const { db, keys } = source;
  if (space !== "d" && space !== "x") return (await tallyLane(source, ordinal)).counts[space];
  let count = 0;
  for await (const { value } of db.entries<Bytes>({ prefix: keys.of(space) })) {
    count += space === "x" ? 1 : countDone(value);
  }
  return count;
}

/**
 * Corrects the counts of a lane. What others change meanwhile stays, and is looked at again: false.
 */
export async function recountLane(
  context: QueueContext,
  ordinal: number,
  nowMs: number,
): Promise<boolean> {
  const { db, keys, lanes } = context;
  // Read first: anyone who changes what is counted meanwhile changes these too.
  const counters = await db.getMany<unknown>(SPACES.map((space) => keys.of("c", ordinal, space)));
  const records = await db.list<unknown>({ prefix: keys.of("k", ordinal) });
  const { counts, slots } = await tallyLane(context, ordinal);
  const movers = counters.filter(({ key }) => key.at(-1) === "r" || key.at(-1) === "l");
  let isWhole = true;
  for (const key of new Set([...records.map(({ key }) => String(key[5])), ...slots.keys()])) {
    const record = records.find((one) => one.key[5] === key) ??
      { key: keys.of("k", ordinal, key), value: null, versionstamp: null };
    const counted = slots.get(key) ?? [0, 0];
    const known = placesIn(record.value);
    if (known?.[0] === counted[0] && known[1] === counted[1]) continue;
    isWhole = await setPlaces(context, [record, ...movers], counted) && isWhole;
  }
  for (const [index, counter] of counters.entries()) {
    const count = counts[SPACES[index]!];
    if (isCounter(counter) && countIn(counter.value) === count) continue;
    isWhole = await setCounter(db, counter, count) && isWhole;
  }
  const lane = lanes.of(ordinal);
  if (lane !== undefined && lane.maxRunningPerKey < Infinity) {
    await context.mutex.run(() => raise(context, lane, nowMs));
  }
  return isWhole;
}

/** Corrects how many ended jobs are kept. */
export async function recountKept(source: Source): Promise<void> {
  const { db, keys } = source;
  for (const kind of ["d", "x"] as const) {
    const counter = await db.get<unknown>(keys.of("c", -1, kind));
    const count = await countSpace(source, -1, kind);
    if (!isCounter(counter) || countIn(counter.value) !== count) {
      await setCounter(db, counter, count);
    }
  }
}

/** Sets a counter, unless it has been changed since it was read. */
export async function setCounter(
  db: Db,
  counter: Deno.KvEntryMaybe<unknown>,
  count: number,
): Promise<boolean> {
  const atomic = db.kv.atomic().check(counter).set(counter.key, new Deno.KvU64(BigInt(count)));
  return await db.commit({ atomic, signals: false }) !== undefined;
}

/** True for a counter that can be counted on with; one that is not there yet is at 0. */
function isCounter({ value, versionstamp }: Deno.KvEntryMaybe<unknown>): boolean {
  return versionstamp === null || value instanceof Deno.KvU64;
}

interface LaneTally {
  readonly counts: Record<Counted, number>;
  readonly slots: ReadonlyMap<string, PlaceCount>;
}

/** Counts all jobs of a lane that have not ended. */
async function tallyLane({ db, keys }: Source, ordinal: number): Promise<LaneTally> {
  const counts = { r: 0, z: 0, q: 0, l: 0 };
  const slots = new Map<string, PlaceCount>();
  const add = (key: string, held: number, waiting: number): void => {
    const [before, waitingBefore] = slots.get(key) ?? [0, 0];
    slots.set(key, [before + held, waitingBefore + waiting]);
  };
  const holds = ([, , , extra]: JobLine): void => {
    if (extra?.h === 1 && extra.k !== undefined) add(extra.k, 1, 0);
  };
  for (const space of ["r", "z"] as const) {
    for await (const { value } of db.entries<Bytes>({ prefix: keys.of(space, ordinal) })) {
      for (const text of decodeLines(value)) {
        if (text === "") continue;
        counts[space]++;
        if (text.includes('"h"')) holds(parseLine(text));
      }
    }
  }
  for await (const { key } of db.entries<Bytes>({ prefix: keys.of("q", ordinal) })) {
    counts.q++;
    add(String(key[5]), 0, 1);
  }
  for await (const { key, value } of db.entries<Bytes>({ prefix: keys.of("l") })) {
    const place = keys.leaseIn(key);
    if (place.ordinal !== ordinal) continue;
    const ended = endedLines((await db.get<unknown>(keys.progress(place))).value);
    for (const [line, text] of decodeLines(value).entries()) {
      if (text === "" || ended.has(line)) continue;
      counts.l++;
      const parsed = parseLine(text);
      if (!isUnreadable(parsed)) holds(parsed);
    }
  }
  return { counts, slots };
}

/** True if a commit failed because something else is where a number should. */
export function isDamaged(thrown: unknown): boolean {
  return thrown instanceof Error && thrown.message.includes("non-U64");
}

/**
 * Counts again where something else is in place of a counter: no commit that changes it gets past that.
 * Of a commit that fails there, what comes before it is kept: so commits count first, and all counters
 * are counted again then.
 */
export async function mendCounters(db: Db): Promise<void> {
  const signal = await db.get<unknown>(SIGNAL_KEY);
  const isBroken = signal.versionstamp !== null && !(signal.value instanceof Deno.KvU64);
  if (isBroken) await setCounter(db, signal, Date.now()); // more than anyone has seen: it only grows
  for (const name of await poolNames(db)) {
    const keys = new PoolKeys(name);
    for (const counter of await db.list<unknown>({ prefix: keys.of("c") })) {
      const [, , , , ordinal, space] = counter.key;
      const isKnown = space === "r" || space === "z" || space === "q" || space === "l" ||
        space === "d" || space === "x";
      if (!isKnown || typeof ordinal !== "number") continue;
      const count = await countSpace({ db, keys }, ordinal, space);
      const isRight = counter.value instanceof Deno.KvU64 && countIn(counter.value) === count;
      if (!isRight) await setCounter(db, counter, count);
    }
  }
}

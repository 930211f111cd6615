/**
 * All that is stored of a pool, added up.
 *
 * @module
 */

import {
  type Bytes,
  bytesOf,
  changeLine,
  decode,
  encode,
  isDamagedLine,
  type JobLine,
} from "../record/codec.ts";
import { countDone, hasChunks, jobsDone, pointerAt } from "../end/done.ts";
import { damaged, readDead, rowText, UNREADABLE_END, UNREADABLE_JOB } from "../end/ended.ts";
import { tagIn } from "../record/id.ts";
import { idOf, type StoredJob } from "../record/job.ts";
import { numberAt, POINTERS_KEY, PoolKeys, SCHEMA_KEY, textAt } from "../record/keys.ts";
import { laneNamesIn } from "../record/lanes.ts";
import type { Moved } from "../read/locate.ts";
import { namesIn, type Owner } from "../limit/names.ts";
import { jobsIn } from "../claim/promote.ts";
import { unended } from "../members/reaper.ts";

/** What kind of fault it is. */
export type FaultKind =
  | "unreadable"
  | "job-twice"
  | "lease-orphaned"
  | "member-broken"
  | "counter-wrong"
  | "places-wrong"
  | "pointer-lost"
  | "pointer-stale"
  | "dedupe-lost"
  | "dedupe-stale"
  | "chunks-lost"
  | "lanes-lost"
  | "schedule-ahead"
  | "left-over";

/** A key, and what is to stand there. `undefined`: nothing. */
export type Mend = readonly [key: Deno.KvKey, value: unknown];

/** What does not agree. */
export interface StoreFault {
  /** What kind of fault it is. */
  readonly kind: FaultKind;
  /** What was seen, in a sentence. */
  readonly saw: string;
  /** What a repair does, in a sentence. `undefined`: there is none. */
  readonly repair: string | undefined;
  /** What is to be changed for it. Empty for leases: those are taken back. */
  readonly mends: readonly Mend[];
}

/** What is in one pool: read as a whole. */
export interface Inventory {
  /** Keys of the pool. */
  readonly keys: PoolKeys;
  /** What was found so far. */
  readonly faults: StoreFault[];
  /** All entries, by the name of what their keys end in. */
  readonly entries: Map<string, Deno.KvEntry<unknown>>;
  /** Names of lanes, by number. */
  readonly lanes: readonly string[];
  /** How many jobs there are, by number of the lane and space. */
  readonly counts: Map<string, number>;
  /** Places that jobs of a key have or wait for, by lane and key. */
  readonly slots: Map<string, [held: number, waiting: number]>;
  /** False: an earlier release has written it, which does not point at what is done. */
  readonly pointsAtDone: boolean;
  /** Jobs that must have a pointer, by segment and index, with what it says. */
  readonly moved: Map<string, Moved>;
  /** Dedupe keys and idempotency keys that must have an owner. */
  readonly owners: Map<string, Owner>;
  /** Jobs whose payload is stored apart, and where they stand. */
  readonly apart: Map<string, Placed>;
  /** Leases: member, segment and number. */
  readonly leases: Set<string>;
  /** Where each job that has not ended is. */
  readonly seen: Map<string, Deno.KvKey>;
}

/** A job, and the key of the entry that it is in. */
export interface Placed {
  /** The key. */
  readonly key: Deno.KvKey;
  /** The job. */
  readonly job: Omit<StoredJob, "text">;
}

/** What is in which space. */
export const SPACES: Readonly<Record<string, string>> = {
  r: "ready jobs",
  z: "delayed jobs",
  q: "blocked jobs",
  l: "running jobs",
  d: "kept done jobs",
  x: "kept dead jobs",
};

/** Reads a pool. What cannot be read, or is stored twice, is a fault already. */
export async function readInventory(kv: Deno.Kv, pool: string): Promise<Inventory> {
  const keys = new PoolKeys(pool);
  const entries = new Map<string, Deno.KvEntry<unknown>>();
  for await (const entry of kv.list({ prefix: keys.of() }, { batchSize: 100 })) {
    entries.set(nameOf(entry.key.slice(3)), entry);
  }
  const [schema, pointers] = await kv.getMany([SCHEMA_KEY, POINTERS_KEY]);
  const lanes = entries.get(nameOf(["lanes"]))?.value;
  const inventory: Inventory = {
    keys,
    faults: [],
    entries,
    lanes: laneNamesIn(lanes),
    counts: new Map(),
    slots: new Map(),
    pointsAtDone: schema.value === null || pointers.value !== null,
    moved: new Map(),
    owners: new Map(),
    apart: new Map(),
    leases: new Set(),
    seen: new Map(),
  };
  for (const entry of entries.values()) {
    try {
      addEntry(inventory, entry);
    } catch {
      addFault(inventory, {
        kind: "unreadable",
        saw: `The entry ${nameOf(entry.key.slice(3))} cannot be read`,
        repair: "delete it",
        mends: [[entry.key, undefined]],
      });
    }
  }
  return inventory;
}

/** Notes a fault. */
export function addFault({ faults }: Inventory, fault: StoreFault): void {
  faults.push(fault);
}

/** Adds up what an entry holds. */
function addEntry(inventory: Inventory, { key, value }: Deno.KvEntry<unknown>): void {
  const { keys, counts } = inventory;
  const bytes = value as Bytes; // for the kinds below that have bytes: others throw as they are read
  const count = (name: string, by: number): void => {
    counts.set(name, (counts.get(name) ?? 0) + by);
  };
  switch (key[3]) {
    case "r":
    case "z":
    case "q": {
      const jobs = jobsIn(keys.placeIn(key), bytes);
      checkLines(jobs.map(({ line }) => line));
      count(`${numberAt(key, 4)}/${key[3]}`, jobs.length);
      for (const job of jobs) addJob(inventory, job, key);
      return;
    }
    case "l": {
      const place = keys.leaseIn(key);
      inventory.leases.add(nameOf(key.slice(4, 7)));
      const progress = at<Uint8Array>(inventory, "p", place.memberId, place.segment, place.number);
      const jobs = unended(place, bytes, progress ?? null);
      checkLines(jobs.map(({ line }) => line));
      count(`${place.ordinal}/l`, jobs.length);
      for (const job of jobs) addJob(inventory, job, key);
      return;
    }
    case "c":
      count(`${numberAt(key, 4)}/${textAt(key, 5)}`, 0);
      return;
    case "d": {
      const entry = { key, value: bytes, versionstamp: "" };
      checkLines(jobsDone(entry).map(({ row }) => row[6]));
      count("-1/d", countDone(bytes));
      const { segment, first, pointer } = pointerAt(entry);
      const isPointed = inventory.pointsAtDone || hasChunks(key) ||
        at<Moved>(inventory, "m", segment, first)?.[3] !== undefined;
      if (isPointed) inventory.moved.set(`${segment}/${first}`, pointer);
      for (const { id: { index }, row } of jobsDone(entry)) {
        const job = { ordinal: numberAt(key, 8), segment, index, dueMs: row[5], line: row[6] };
        if (row[6][3]?.b !== undefined) inventory.apart.set(`${segment}/${index}`, { key, job });
      }
      return;
    }
    case "x": {
      count("-1/x", 1);
      const { id, row } = readDead({ key, value: bytes, versionstamp: "" });
      checkLines([row[6]]);
      addApart(inventory, { key, job: { ...id, dueMs: row[5], line: row[6] } }, [
        "x",
        numberAt(key, 4),
        "",
      ]);
    }
  }
}

/** @throws {TypeError} If none of an entry's lines can be read. */
function checkLines(lines: readonly JobLine[]): void {
  if (lines.length > 0 && lines.every(isDamagedLine)) throw new TypeError("Expected lines of jobs");
}

/** Notes a job that has not ended. */
function addJob(inventory: Inventory, job: StoredJob, key: Deno.KvKey): void {
  if (isDamagedLine(job.line)) {
    const saw = `The record of the job ${job.segment}/${job.index} cannot be read`;
    addFault(inventory, {
      kind: "unreadable",
      saw,
      ...toDead(inventory, { key, job }, UNREADABLE_JOB),
    });
    return;
  }
  const id = idOf(job);
  const other = inventory.seen.get(id);
  if (other !== undefined) {
    const [first, second] = [spaceOf(other), spaceOf(key)];
    const saw = `The job ${id} is stored twice: among ${first} and among ${second}`;
    addFault(inventory, {
      kind: "job-twice",
      saw,
      repair: `remove it from ${second}`,
      mends: [[key, without(inventory, key, job)]],
    });
    return;
  }
  inventory.seen.set(id, key);
  const waits = key[3] === "q";
  const extra = job.line[3];
  if (extra?.k !== undefined && (waits || extra.h === 1)) {
    const name = nameOf([job.ordinal, extra.k]);
    const [held, waiting] = inventory.slots.get(name) ?? [0, 0];
    inventory.slots.set(name, waits ? [held, waiting + 1] : [held + 1, waiting]);
  }
  for (const { key, fingerprint } of namesIn(extra ?? {})) {
    const owner = [id, extra?.x ?? 0] as const;
    inventory.owners.set(key, fingerprint === undefined ? owner : [...owner, fingerprint]);
  }
  if (extra?.o === undefined) return;
  const space = key[3] === "q" || key[3] === "z" ? key[3] : "r";
  addApart(inventory, { key, job }, [space, job.dueMs, waits ? extra.k ?? "" : ""]);
}

/** Notes a job of which more is stored than its line. */
function addApart({ moved, apart }: Inventory, placed: Placed, place: Moved): void {
  const { segment, index, line } = placed.job;
  const name = `${segment}/${index}`;
  moved.set(name, place);
  if (line[3]?.b !== undefined) apart.set(name, placed);
}

/** What makes a job dead of which something cannot be read. */
export function toDead(
  inventory: Inventory,
  { key, job }: Placed,
  why: string,
): Pick<StoreFault, "repair" | "mends"> {
  const { keys } = inventory;
  const { segment, index, line, dueMs } = job;
  const atMs = Math.ceil(dueMs);
  const end = { ...UNREADABLE_END, attempt: line[0], startedAtMs: line[3]?.s, error: damaged(why) };
  const row = rowText({ ...job, text: JSON.stringify(line) }, end, atMs);
  return {
    repair: "end it: it is dead then, and can be inspected",
    mends: [
      [key, without(inventory, key, job)],
      [keys.of("x", atMs, segment, index), encode(row)],
      [keys.of("m", segment, index), ["x", atMs, ""]],
      ...namesIn(line[3] ?? {}).map((name): Mend => [keys.of("i", name.key), undefined]),
    ],
  };
}

/** What keeps a job that has ended without its payload, of which something cannot be read. */
export function withoutPayload(
  { keys, entries }: Inventory,
  { key, job: { segment, index, line } }: Placed,
): Pick<StoreFault, "repair" | "mends"> {
  const text = decode(bytesOf(entries.get(nameOf(key.slice(3)))?.value));
  const bare = changeLine(line, {}, { b: undefined, c: undefined, w: 1 });
  const mended = text.replace(JSON.stringify(line), () => JSON.stringify(bare));
  const parts = Array.from({ length: line[3]?.b ?? 0 }, (_, part): Mend => [
    keys.of("b", tagIn(segment), segment, index, part),
    undefined,
  ]);
  return { repair: "keep the job without its payload", mends: [[key, encode(mended)], ...parts] };
}

/** A part without one of its jobs. `undefined`: nothing is left of it. */
function without(
  { entries }: Inventory,
  key: Deno.KvKey,
  { index }: Pick<StoredJob, "index">,
): unknown {
  const entry = entries.get(nameOf(key.slice(3)));
  const first = numberAt(key, key[3] === "q" ? 8 : 7);
  const lines = decode(bytesOf(entry?.value)).split("\n");
  lines[index - first] = "";
  const left = lines.every((line) => line === "") ? undefined : encode(lines.join("\n"));
  entries.set(nameOf(key.slice(3)), { key, value: left, versionstamp: "" }); // another may leave it too
  return left;
}

/** What is behind the pool's prefix. */
export function at<T>({ entries }: Inventory, ...parts: Deno.KvKeyPart[]): T | undefined {
  return entries.get(nameOf(parts))?.value as T | undefined; // what the key space says is there
}

/** Name of a key, or the end of one. */
export function nameOf(parts: readonly Deno.KvKeyPart[]): string {
  return JSON.stringify(parts);
}

/** How a lane is called in a sentence. */
export function laneOf({ lanes }: Inventory, ordinal: unknown): string {
  const name = lanes[Number(ordinal)];
  return name === undefined ? `number ${ordinal}` : `"${name}"`;
}

/** What is in the space of a key. */
function spaceOf(key: Deno.KvKey): string {
  return SPACES[String(key[3])] ?? String(key[3]);
}

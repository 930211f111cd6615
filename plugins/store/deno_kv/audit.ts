/**
 * Checks that what is stored of a pool agrees with itself: counts with keys, records of keys with
 * places, pointers with jobs. Reads everything: for tests, and for a look at a database at rest.
 *
 * @module
 */

import { type Bytes, decode } from "./codec.ts";
import { countDone, jobsDone } from "./done.ts";
import { parseRow } from "./ended.ts";
import { idOf, type StoredJob } from "./job.ts";
import { numberAt, PoolKeys, textAt } from "./keys.ts";
import type { Moved } from "./locate.ts";
import { jobsIn } from "./promote.ts";
import { unended } from "./reaper.ts";

interface Findings {
  readonly faults: string[];
  readonly counts: Map<string, number>;
  readonly places: Map<string, [held: number, waiting: number]>;
  readonly moved: Map<string, Moved>;
  readonly owners: Map<string, string>;
  readonly seen: Set<string>;
}

/** What does not agree, one line each. Empty: all does. */
export async function audit(kv: Deno.Kv, pool: string): Promise<readonly string[]> {
  const keys = new PoolKeys(pool);
  const found: Findings = {
    faults: [],
    counts: new Map(),
    places: new Map(),
    moved: new Map(),
    owners: new Map(),
    seen: new Set(),
  };
  const entries = await Array.fromAsync(kv.list<never>({ prefix: keys.of() }, { batchSize: 500 }));
  const values = new Map<string, unknown>();
  for (const { key, value } of entries) values.set(JSON.stringify(key.slice(3)), value);
  const at = <T>(...parts: Deno.KvKeyPart[]): T | undefined =>
    values.get(JSON.stringify(parts)) as T | undefined; // what the key space says stands there
  for (const entry of entries) addEntry(found, keys, entry, at);
  for (const { key, value } of entries) compareEntry(found, key, value);
  for (const [name, count] of found.counts) {
    const [ordinal, space] = name.split("/");
    const counted = at<Deno.KvU64>("c", Number(ordinal), space ?? "")?.value ?? 0n;
    if (counted !== BigInt(count)) found.faults.push(`Counter ${name}: ${counted}, keys: ${count}`);
  }
  for (const [name, [held, waiting]] of found.places) {
    const [ordinal = "", key = ""] = JSON.parse(name);
    const [held2, waiting2] = at<readonly [number, number]>("k", ordinal, key) ?? [0, 0];
    if (held === held2 && waiting === waiting2) continue;
    found.faults.push(`Places of ${name}: ${held2}+${waiting2}, jobs: ${held}+${waiting}`);
  }
  for (const [what, left] of [["Pointer", found.moved], ["Owner", found.owners]] as const) {
    for (const name of left.keys()) found.faults.push(`${what} without a job: ${name}`);
  }
  return found.faults;
}

type At = <T>(...parts: Deno.KvKeyPart[]) => T | undefined;

/** Adds up what an entry holds. */
function addEntry(
  found: Findings,
  keys: PoolKeys,
  { key, value }: Deno.KvEntry<unknown>,
  at: At,
): void {
  const bytes = value as Bytes; // for the kinds below that have bytes
  const count = (name: string, by: number): void => {
    found.counts.set(name, (found.counts.get(name) ?? 0) + by);
  };
  switch (key[3]) {
    case "r":
    case "z":
    case "q": {
      const jobs = jobsIn(keys.placeIn(key), bytes);
      count(`${numberAt(key, 4)}/${key[3]}`, jobs.length);
      for (const job of jobs) addJob(found, job, key[3] === "q");
      return;
    }
    case "l": {
      const place = keys.leaseIn(key);
      const { worker, segment, number } = place;
      if (at("w", worker) === undefined) found.faults.push(`Lease of a dead worker: ${worker}`);
      const jobs = unended(place, bytes, at<Uint8Array>("p", worker, segment, number) ?? null);
      count(`${place.ordinal}/l`, jobs.length);
      for (const job of jobs) addJob(found, job, false);
      return;
    }
    case "c":
      count(`${numberAt(key, 4)}/${textAt(key, 5)}`, 0);
      return;
    case "b":
      if (at("m", textAt(key, 5), numberAt(key, 6)) === undefined) {
        found.faults.push(`Chunk of no job: ${textAt(key, 5)}/${numberAt(key, 6)}`);
      }
      return;
    case "d":
      count("-1/d", countDone(bytes));
      for (const { id, row } of jobsDone({ key, value: bytes, versionstamp: "" })) {
        if (row[6][3]?.b !== undefined) found.moved.set(`-${id.segment}/${id.index}`, ["d", 0, ""]);
      }
      return;
    case "x": {
      count("-1/x", 1);
      const { id } = parseRow(decode(bytes));
      found.moved.set(`-${id.segment}/${id.index}`, ["x", numberAt(key, 4), ""]);
    }
  }
}

/** Notes a job that has not ended. */
function addJob(found: Findings, job: StoredJob, waits: boolean): void {
  const id = idOf(job);
  if (found.seen.has(id)) found.faults.push(`Job in two places: ${id}`);
  found.seen.add(id);
  const extra = job.line[3];
  if (extra?.k !== undefined && (waits || extra.h === 1)) {
    const name = JSON.stringify([job.ordinal, extra.k]);
    const [held, waiting] = found.places.get(name) ?? [0, 0];
    found.places.set(name, waits ? [held, waiting + 1] : [held + 1, waiting]);
  }
  if (extra?.d !== undefined) found.owners.set(`-${extra.d}`, id);
  if (extra?.o !== undefined) found.moved.set(`-${job.segment}/${job.index}`, ["r", 0, ""]);
}

/** Compares what points at jobs with the jobs. What has a partner is taken off both lists. */
function compareEntry(found: Findings, key: Deno.KvKey, value: unknown): void {
  switch (key[3]) {
    case "m": {
      const name = `${textAt(key, 4)}/${numberAt(key, 5)}`;
      if (!found.moved.delete(`-${name}`)) found.faults.push(`Pointer to no job: ${name}`);
      return;
    }
    case "i": {
      const [id] = value as readonly [string, number]; // as `careful.ts` writes it
      const name = textAt(key, 4);
      if (found.owners.get(`-${name}`) !== id) {
        found.faults.push(`Dedupe key of no job: ${name} ${id}`);
      }
      found.owners.delete(`-${name}`);
      return;
    }
    case "k": {
      const name = JSON.stringify([key[4], key[5]]);
      if (!found.places.has(name)) found.faults.push(`Places of no job: ${name}`);
    }
  }
}

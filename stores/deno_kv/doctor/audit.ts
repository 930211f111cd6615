/**
 * Checks that what is stored of a pool agrees with itself: counts with keys, records of keys with
 * places, pointers with jobs. Reads everything: for tests, and for a look at a database at rest.
 *
 * @module
 */

import { counted } from "../../../src/base/format.ts";
import { joinChunks } from "../add/chunks.ts";
import { countIn } from "../read/counts.ts";
import { tagIn, workerOf } from "../record/id.ts";
import type { Moved } from "../read/locate.ts";
import { ownerAt } from "../limit/names.ts";
import { keyRecord, placesIn, startsIn } from "./recount.ts";
import {
  addFault,
  at,
  type FaultKind,
  type Inventory,
  laneOf,
  type Mend,
  nameOf,
  readInventory,
  SPACES,
  type StoreFault,
  toDead,
  withoutPayload,
} from "./inventory.ts";
import { marksIn } from "../members/membership.ts";

/** What does not agree, one line each. Empty: all does. */
export async function audit(kv: Deno.Kv, pool: string): Promise<readonly string[]> {
  return (await findFaults(kv, pool)).map(({ saw }) => saw);
}

/** What does not agree. Empty: all does. */
export async function findFaults(kv: Deno.Kv, pool: string): Promise<readonly StoreFault[]> {
  const inventory = await readInventory(kv, pool);
  for (const entry of inventory.entries.values()) compareEntry(inventory, entry);
  compareCounts(inventory);
  comparePlaces(inventory);
  findLost(inventory);
  return inventory.faults;
}

/** Compares what points at jobs, or belongs to members, with those. */
function compareEntry(inventory: Inventory, { key, value }: Deno.KvEntry<unknown>): void {
  const drop: Mend[] = [[key, undefined]];
  const has = (...parts: Deno.KvKeyPart[]): boolean => at(inventory, ...parts) !== undefined;
  switch (key[3]) {
    case "m": {
      const name = `${textOf(key, 4)}/${textOf(key, 5)}`;
      if (!inventory.moved.has(name)) {
        fault(
          inventory,
          "pointer-stale",
          `A pointer names the job ${name}, which does not exist`,
          "delete it",
          drop,
        );
      }
      return;
    }
    case "i": {
      const [id, , , untilMs] = ownerAt(value) ?? [];
      if (untilMs !== undefined) return; // its job has ended: it is remembered for a while
      const owner = inventory.owners.get(String(key[4]));
      if (id !== undefined && owner?.[0] === id) return;
      if (id === undefined && owner !== undefined) {
        const saw = `The owner of the dedupeKey "${textOf(key, 4)}" cannot be read: it is the job ${
          owner[0]
        }`;
        fault(inventory, "dedupe-lost", saw, "give it to the job", [[key, owner]]);
        return;
      }
      const saw = `The dedupeKey "${
        textOf(key, 4)
      }" belongs to ${id}, which is no job with that key`;
      fault(inventory, "dedupe-stale", saw, "free it", drop);
      return;
    }
    case "k":
      if (!inventory.slots.has(nameOf([key[4]!, key[5]!]))) {
        const [held, waiting] = placesIn(value) ?? [];
        if (held === 0 && waiting === 0 && startsIn(value).length > 0) return; // they count for a while
        const saw = `Slots of the key "${textOf(key, 5)}" in lane ${
          laneOf(inventory, key[4])
        } are taken by no job`;
        fault(inventory, "places-wrong", saw, "free them", drop);
      }
      return;
    case "b": {
      const name = `${textOf(key, 5)}/${textOf(key, 6)}`;
      const count = inventory.apart.get(name)?.job.line[3]?.b;
      // The process that declares its member dead drops what has no job.
      const isAwaited = count === undefined && has("w", workerOf(textOf(key, 4)));
      if (isAwaited || Number(key[7]) < (count ?? 0)) return;
      const of = count === undefined ? "no job" : `a job with only ${count}`;
      const saw = `Payload chunk ${Number(key[7]) + 1} belongs to ${of} (${name})`;
      fault(inventory, "left-over", saw, "delete it", drop);
      return;
    }
    case "l":
      if (!has("w", key[4]!)) {
        const saw = `Member ${textOf(key, 4)} holds a lease although it was declared dead`;
        fault(
          inventory,
          "lease-orphaned",
          saw,
          "return its jobs to their lanes, the attempt counted",
        );
      }
      return;
    case "w":
      if (!has("h", key[4]!)) {
        const saw = `Member ${textOf(key, 4)} has no heartbeat, so others cannot detect its death`;
        fault(inventory, "member-broken", saw, "declare it dead", drop);
      }
      return;
    case "h":
    case "y":
    case "p":
      if (!isReadable(key[3], value)) {
        const saw = `The entry ${nameOf(key.slice(3))} cannot be read`;
        fault(inventory, "unreadable", saw, "delete it", drop);
        return;
      }
      if (key[3] === "p") {
        if (inventory.leases.has(nameOf(key.slice(4, 7)))) return;
        const saw = `Member ${textOf(key, 4)} has progress for a lease that it does not hold`;
        fault(inventory, "left-over", saw, "delete it", drop);
        return;
      }
      if (!has("w", key[4]!)) {
        const what = key[3] === "h" ? "heartbeat" : "cancel request";
        fault(
          inventory,
          "left-over",
          `Left-over ${what} of dead member ${textOf(key, 4)}`,
          "delete it",
          drop,
        );
      }
  }
}

/** True for a heartbeat, requests to cancel jobs, or progress of a lease that is one. */
function isReadable(kind: unknown, value: unknown): boolean {
  if (kind === "p") return value instanceof Uint8Array;
  if (kind === "y") return Array.isArray(value) && marksIn(value).length === value.length;
  return typeof value === "object" && value !== null && "leaseMs" in value &&
    typeof value.leaseMs === "number";
}

function compareCounts(inventory: Inventory): void {
  const isNamed = inventory.lanes.length > 0 ||
    [...inventory.counts.keys()].every((name) => name[0] === "-");
  if (!isNamed) {
    const saw =
      "The names of the lanes are lost: the next start numbers them again, in the order of " +
      "its config, so keep the order from before";
    fault(inventory, "lanes-lost", saw, undefined);
  }
  for (const [name, count] of inventory.counts) {
    const [ordinal = "", space = ""] = name.split("/");
    const key = inventory.keys.of("c", Number(ordinal), space);
    const counter = at<unknown>(inventory, ...key.slice(3));
    const isNumber = counter === undefined || counter instanceof Deno.KvU64;
    if (isNumber && countIn(counter) === count) continue;
    const where = ordinal === "-1" ? "" : ` of lane ${laneOf(inventory, Number(ordinal))}`;
    const saw = `The counter of ${SPACES[space] ?? space}${where} is ${
      isNumber ? countIn(counter) : "no number"
    }, but there are ${count}`;
    const right = new Deno.KvU64(BigInt(count));
    fault(inventory, "counter-wrong", saw, `set it to ${count}`, [[key, right]]);
  }
}

function comparePlaces(inventory: Inventory): void {
  for (const [name, slots] of inventory.slots) {
    const [ordinal, key]: [number, string] = JSON.parse(name);
    const record = at(inventory, "k", ordinal, key);
    const [held, waiting] = placesIn(record) ?? [0, 0];
    if (held === slots[0] && waiting === slots[1]) continue;
    const saw =
      `The key "${key}" of lane ${laneOf(inventory, ordinal)} has ${held} slots taken and ${
        counted(waiting, "job")
      } ` +
      `waiting, but there are ${slots[0]} and ${slots[1]}`;
    fault(inventory, "places-wrong", saw, "recount them", [[
      inventory.keys.of("k", ordinal, key),
      keyRecord(slots, undefined, startsIn(record)),
    ]]);
  }
}

/** What jobs should have beside them and have not. */
function findLost(inventory: Inventory): void {
  const { keys } = inventory;
  for (const [name, place] of inventory.moved) {
    const [segment = "", index] = name.split("/");
    const key = keys.of("m", segment, Number(index));
    const pointer = at(inventory, ...key.slice(3));
    if (pointer === undefined) {
      const saw = `The job ${name} has moved, and no pointer says where it is`;
      fault(inventory, "pointer-lost", saw, "write the pointer", [[key, place]]);
    } else if (!pointsTo(pointer, place)) {
      const saw = `The pointer to the job ${name} names the wrong place`;
      fault(inventory, "pointer-stale", saw, "rewrite it", [[key, place]]);
    }
  }
  for (const [key, owner] of inventory.owners) {
    if (at(inventory, "i", key) !== undefined) continue;
    const saw = `The job ${owner[0]} has the dedupeKey "${key}", which is free for others`;
    fault(inventory, "dedupe-lost", saw, "give it to the job", [[keys.of("i", key), owner]]);
  }
  for (const [name, { key, job }] of inventory.apart) {
    const { segment, index, line } = job;
    const count = line[3]?.b ?? 0;
    const parts = Array.from(
      { length: count },
      (_, part) => at(inventory, "b", tagIn(segment), segment, index, part),
    );
    const { fault: why } = joinChunks(parts, line[3] ?? {});
    if (why === undefined) continue;
    const lost = parts.filter((part) => part === undefined).length;
    const saw = lost > 0
      ? `${lost} of ${count} payload chunks of the job ${name} are missing`
      : `The payload of the job ${name} cannot be read: ${why.toLowerCase()}`;
    const hasEnded = key[3] === "d" || key[3] === "x";
    const mend = hasEnded
      ? withoutPayload(inventory, { key, job })
      : toDead(inventory, { key, job }, why);
    addFault(inventory, { kind: "chunks-lost", saw, ...mend });
  }
}

/** True if a pointer leads to a place: who looks for a job looks among ready and delayed ones alike. */
function pointsTo(pointer: unknown, [space, atMs, name]: Moved): boolean {
  if (!Array.isArray(pointer)) return false;
  const among = (one: unknown): unknown => one === "z" ? "r" : one;
  const isNamed = pointer[2] === name || (space === "d" && pointer[2] === ""); // of an earlier release
  return among(pointer[0]) === among(space) && pointer[1] === atMs && isNamed;
}

function fault(
  inventory: Inventory,
  kind: FaultKind,
  saw: string,
  repair: string | undefined,
  mends: readonly Mend[] = [],
): void {
  addFault(inventory, { kind, saw, repair, mends });
}

function textOf(key: Deno.KvKey, index: number): string {
  return String(key[index]);
}

/**
 * The messages of KV Connect's data path, version 3.
 *
 * @module
 */

import { type Bytes, type Field, fieldsIn, MessageWriter, NO_BYTES } from "./wire.ts";

/** A range of keys, its end left out. */
export interface ReadRange {
  readonly start: Bytes;
  readonly end: Bytes;
  readonly limit: number;
  readonly reverse: boolean;
}

/** One key with its value. */
export interface Entry {
  readonly key: Bytes;
  readonly value: Bytes;
  readonly encoding: number;
  readonly versionstamp: Bytes;
}

/** A version that a key must have; empty: there is no such key. */
export interface Check {
  readonly key: Bytes;
  readonly versionstamp: Bytes;
}

/** One change. */
export interface Mutation {
  readonly key: Bytes;
  readonly value: Bytes;
  readonly encoding: number;
  readonly type: number;
  /** 0: never. */
  readonly expiresAtMs: number;
}

/** What changes together. */
export interface AtomicWrite {
  readonly checks: readonly Check[];
  readonly mutations: readonly Mutation[];
}

/** Kinds of a mutation. */
export const MutationType = { set: 1, delete: 2, sum: 3, max: 4, min: 5, setVersioned: 9 } as const;

/** How a value is encoded. */
export const Encoding = { le64: 2, bytes: 3 } as const;

const SUCCESS = 1;
const CHECK_FAILURE = 2;

/** Ranges to read. */
export function readSnapshotRead(message: Bytes): readonly ReadRange[] {
  return [...fieldsIn(message)].map(({ bytes }) => {
    const field = byNumber(bytes);
    return {
      start: field(1).bytes,
      end: field(2).bytes,
      limit: Number(field(3).value),
      reverse: field(4).value !== 0n,
    };
  });
}

/** What was read, by range. */
export function writeSnapshotReadOutput(ranges: readonly (readonly Entry[])[]): Bytes {
  const output = new MessageWriter();
  for (const entries of ranges) {
    const range = new MessageWriter();
    for (const entry of entries) range.bytes(1, entryMessage(entry));
    output.bytes(1, range.finish());
  }
  return output.int(4, 1).int(8, SUCCESS).finish();
}

/** What to write. @throws {TypeError} If it has enqueues. */
export function readAtomicWrite(message: Bytes): AtomicWrite {
  const checks: Check[] = [];
  const mutations: Mutation[] = [];
  for (const { number, bytes } of fieldsIn(message)) {
    const field = byNumber(bytes);
    if (number === 1) checks.push({ key: field(1).bytes, versionstamp: field(2).bytes });
    else if (number === 2) {
      const value = byNumber(field(2).bytes);
      mutations.push({
        key: field(1).bytes,
        value: value(1).bytes,
        encoding: Number(value(2).value),
        type: Number(field(3).value),
        expiresAtMs: Number(field(4).value),
      });
    } else throw new TypeError("Enqueues are not supported");
  }
  return { checks, mutations };
}

/** What came of a write: its versionstamp, or which checks failed. */
export function writeAtomicWriteOutput(
  result: { readonly versionstamp: Bytes } | { readonly failed: readonly number[] },
): Bytes {
  const output = new MessageWriter();
  if ("versionstamp" in result) {
    return output.int(1, SUCCESS).bytes(2, result.versionstamp).finish();
  }
  output.int(1, CHECK_FAILURE);
  for (const index of result.failed) output.int(4, index);
  return output.finish();
}

/** Keys to watch. */
export function readWatch(message: Bytes): readonly Bytes[] {
  return [...fieldsIn(message)].map(({ bytes }) => byNumber(bytes)(1).bytes.slice());
}

/** What watched keys hold now, with its length before it; all of them count as changed. */
export function writeWatchFrame(entries: readonly (Entry | undefined)[]): Bytes {
  const output = new MessageWriter().int(1, SUCCESS);
  for (const entry of entries) {
    const key = new MessageWriter().int(1, 1);
    if (entry !== undefined) key.bytes(2, entryMessage(entry));
    output.bytes(2, key.finish());
  }
  const message = output.finish();
  const frame = new Uint8Array(4 + message.length);
  new DataView(frame.buffer).setUint32(0, message.length, true);
  frame.set(message, 4);
  return frame;
}

function entryMessage({ key, value, encoding, versionstamp }: Entry): Bytes {
  return new MessageWriter().bytes(1, key).bytes(2, value).int(3, encoding).bytes(4, versionstamp)
    .finish();
}

/** A message's fields by number; one that is left out has its default. */
function byNumber(message: Bytes): (number: number) => Field {
  const fields = new Map([...fieldsIn(message)].map((field) => [field.number, field]));
  return (number) => fields.get(number) ?? { number, value: 0n, bytes: NO_BYTES };
}

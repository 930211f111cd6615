/**
 * The key space: what is where.
 *
 * ```
 * schema                                            number, the version of all this
 * schema pointers                                   1: all of `d` has pointers in `m`
 * signal                                            u64, +1 by each commit that others should hear of
 * members                                           number of the latest member
 * state  NAME                                       shared state
 * token  UUID                                       number of the latest of one process's commits over the
 *                                                   network, below 0 if it was called off
 * pool NAME lanes                                   names of lanes: a lane's number is its place
 * pool NAME r LANE DUE SEGMENT FIRST EXPIRES        ready jobs, one a line
 * pool NAME z LANE DUE SEGMENT FIRST EXPIRES        delayed jobs
 * pool NAME q LANE KEY DUE SEGMENT FIRST EXPIRES    a due job that waits for a place of its key
 * pool NAME k LANE KEY                              [places taken, jobs that wait for one, since when
 *                                                   the first of those is due, or one before it, and
 *                                                   when jobs started that count for its rates]
 * pool NAME l MEMBER SEGMENT N FIRST LANE DUE START  the member's Nth lease: the very lines that were ready
 * pool NAME p MEMBER SEGMENT N                      lines of that lease that have ended, until all have
 * pool NAME w MEMBER                                fence of a member: gone once it is declared dead
 * pool NAME h MEMBER                                its heartbeat
 * pool NAME y MEMBER                                its leased jobs that are to be cancelled
 * pool NAME c LANE SPACE, c -1 KEPT                 u64, exact counts
 * pool NAME m SEGMENT INDEX                         where a job is that left its first place, and, if it is the
 *                                                   first of those of `d`, where all of them are
 * pool NAME i NAME                                  [id of the job whose dedupe or idempotency key it is,
 *                                                   when that expires, of the latter what it means, and
 *                                                   once the job has ended until when]
 * pool NAME d AT CHUNK SEGMENT FIRST LANE DUE START PARTS  done and cancelled jobs, one a line
 * pool NAME x AT SEGMENT INDEX                      a dead job
 * pool NAME t                                       when a process left it last, by its wall clock
 * pool NAME b TAG SEGMENT INDEX CHUNK               parts of a large payload
 * ```
 *
 * @module
 */

const ROOT = "sluice";

/** Version of the key space that this code reads and writes. */
export const SCHEMA = 1;

/** The error of a database that a newer release has written. */
export function newerDatabase(version: unknown, use: string): RangeError {
  return new RangeError(
    `Expected a database of version ${SCHEMA} at most but received ${version}: ` +
      `a newer release of Sluice has written it: ${use} that release`,
  );
}

/** What the keys of all pools begin with. */
export const POOLS: Deno.KvKey = [ROOT, "pool"];

/** Version of the key space. */
export const SCHEMA_KEY: Deno.KvKey = [ROOT, "schema"];

/** Set once all that is done is pointed at: databases of earlier releases were not. */
export const POINTERS_KEY: Deno.KvKey = [ROOT, "schema", "pointers"];

/** Changes with each commit that other processes should hear of. */
export const SIGNAL_KEY: Deno.KvKey = [ROOT, "signal"];

/** Number of the latest member. */
export const MEMBERS_KEY: Deno.KvKey = [ROOT, "workers"];

/** Where waiting jobs are: ready, delayed, or behind others of their key. */
export type Space = "r" | "z" | "q";

/** What is counted by lane: waiting jobs by space, and leased ones. */
export type Counted = Space | "l";

/** What is counted by pool: ended jobs that are kept. */
export type KeptKind = "d" | "x";

/** Where a part of a segment is. */
export interface PartPlace {
  /** Number of the lane. */
  readonly ordinal: number;
  /** When its jobs became or become claimable. */
  readonly dueMs: number;
  /** Name of the segment. */
  readonly segment: string;
  /** Index of its first line. */
  readonly first: number;
  /** No job of it expires before. 0: none ever does. */
  readonly expiresAtMs: number;
}

/** Where leased jobs stand. */
export interface LeasePlace extends Omit<PartPlace, "expiresAtMs"> {
  /** Who holds them. */
  readonly memberId: number;
  /** Which of that member's leases it is: a job that came back may be leased beside others of its part. */
  readonly number: number;
  /** When they were leased. */
  readonly startedAtMs: number;
}

/** Key of an entry of the shared state. */
export function stateKey(name: string): Deno.KvKey {
  return [ROOT, "state", name];
}

/** Key that says which commits took place. */
export function tokenKey(token: string): Deno.KvKey {
  return [ROOT, "token", token];
}

/** Builds and reads the keys of one pool. */
export class PoolKeys {
  readonly #prefix: readonly [string, string, string];

  /** Keys of the pool of that name. */
  constructor(pool: string) {
    this.#prefix = [ROOT, "pool", pool];
  }

  /** Any key of this pool. */
  of(...parts: Deno.KvKeyPart[]): Deno.KvKey {
    return [...this.#prefix, ...parts];
  }

  /** A part of a segment in `r` or `z`. */
  part(space: "r" | "z", place: PartPlace): Deno.KvKey {
    const { ordinal, dueMs, segment, first, expiresAtMs } = place;
    return this.of(space, ordinal, dueMs, segment, first, expiresAtMs);
  }

  /** A job that waits for a place of its key. */
  queued(jobKey: string, place: PartPlace): Deno.KvKey {
    const { ordinal, dueMs, segment, first, expiresAtMs } = place;
    return this.of("q", ordinal, jobKey, dueMs, segment, first, expiresAtMs);
  }

  /** A lease. */
  lease(place: LeasePlace): Deno.KvKey {
    const { memberId, segment, number, first, ordinal, dueMs, startedAtMs } = place;
    return this.of("l", memberId, segment, number, first, ordinal, dueMs, startedAtMs);
  }

  /** What has ended of a lease. */
  progress({ memberId, segment, number }: LeasePlace): Deno.KvKey {
    return this.of("p", memberId, segment, number);
  }

  /** Where a part is that `part` or `queued` made the key of. */
  placeIn(key: Deno.KvKey): PartPlace {
    const at = key[3] === "q" ? 6 : 5;
    return {
      ordinal: numberAt(key, 4),
      dueMs: numberAt(key, at),
      segment: textAt(key, at + 1),
      first: numberAt(key, at + 2),
      expiresAtMs: numberAt(key, at + 3),
    };
  }

  /** Where a lease is that `lease` made the key of. */
  leaseIn(key: Deno.KvKey): LeasePlace {
    return {
      memberId: numberAt(key, 4),
      segment: textAt(key, 5),
      number: numberAt(key, 6),
      first: numberAt(key, 7),
      ordinal: numberAt(key, 8),
      dueMs: numberAt(key, 9),
      startedAtMs: numberAt(key, 10),
    };
  }
}

/** A number in a key. @throws {TypeError} If something else is there. */
export function numberAt(key: Deno.KvKey, index: number): number {
  const part = key[index];
  if (typeof part === "number") return part;
  throw new TypeError(`Expected a number at place ${index} of the key ${JSON.stringify(key)}`);
}

/** A text in a key. @throws {TypeError} If something else is there. */
export function textAt(key: Deno.KvKey, index: number): string {
  const part = key[index];
  if (typeof part === "string") return part;
  throw new TypeError(`Expected a text at place ${index} of the key ${JSON.stringify(key)}`);
}

/** Bytes that a key takes, no fewer than there are. */
export function keySize(key: Deno.KvKey): number {
  let size = 0;
  for (const part of key) size += typeof part === "string" ? textSize(part) + 2 : 9;
  return size;
}

/** Bytes that a text takes in a key. */
export function textSize(text: string): number {
  let size = 0;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    size += code === 0 ? 2 : code < 0x80 ? 1 : 3;
  }
  return size;
}

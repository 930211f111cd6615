/**
 * Jobs as they are in memory: any stored one, and the leased ones that handlers run.
 *
 * @module
 */

import { readHistory } from "../../../src/base/history.ts";
import type { JobAttempt, JobRecord, JobState } from "../../../src/contract/job.ts";
import type { Added, Leased } from "../../../src/contract/store.ts";
import { type Bytes, isUnreadable, type JobLine } from "./codec.ts";
import { createdIn, formatId } from "./id.ts";
import type { LaneTable } from "./lanes.ts";
import type { Membership } from "../members/membership.ts";
import type { BatchAnswers } from "../add/batch_answers.ts";

/** A job wherever it is stored. */
export interface StoredJob {
  /** Number of its lane. */
  readonly ordinal: number;
  /** Name of the segment that it was added in. */
  readonly segment: string;
  /** Its place in the segment. */
  readonly index: number;
  /** When it became or becomes claimable. */
  readonly dueMs: number;
  /** What is stored of it. */
  readonly line: JobLine;
  /** The line as it is written. */
  readonly text: string;
}

/** A part of a segment that this process has leased. */
export interface HeldPart {
  /** The membership that it was leased in. */
  readonly membership: Membership;
  /** Key of the lease. */
  readonly key: Deno.KvKey;
  /** Key of what has ended of it. */
  readonly progressKey: Deno.KvKey;
  /** Number of the lane. */
  readonly ordinal: number;
  /** Name of the lane. */
  readonly lane: string;
  /** The lanes of this queue. */
  readonly lanes: LaneTable;
  /** Name of the segment. */
  readonly segment: string;
  /** Index of the first line. */
  readonly first: number;
  /** When its jobs became claimable. */
  readonly dueMs: number;
  /** When it was leased. */
  readonly startedAtMs: number;
  /** Jobs that have not ended. */
  left: number;
  /** Its jobs. */
  readonly jobs: KvJob[];
  /** Its lines as they were leased. */
  bytes: Bytes | undefined;
  /** True: each character of its lines takes one byte. */
  isAscii: boolean;
  /** Lines that have ended. */
  readonly ended: number[];
  /** True once `progressKey` is written. */
  hasProgress: boolean;
}

/** Where the answer to one entry of a call goes. */
export interface Asked {
  /** The call. */
  readonly answers: BatchAnswers<boolean>;
  /** The entry. */
  readonly place: number;
}

/** The end of a leased job. */
export interface Ending {
  /** True once the database has answered. */
  isAnswered: boolean;
  /** Who else asked for it before that. */
  again: Asked[] | undefined;
}

/** A leased job. */
export class KvJob implements StoredJob, Leased {
  readonly part: HeldPart;
  readonly index: number;
  line: JobLine;
  text: string;
  readonly payload: unknown;
  /** Its end, while that is on its way to the database, and once it is there. `undefined`: it has not ended. */
  settling: Ending | undefined = undefined;
  /** True: it has been ended by a call that failed for other jobs, and is ended by the next one. */
  untold = false;

  /** The job of one line of a part. */
  constructor(part: HeldPart, index: number, line: JobLine, text: string, payload: unknown) {
    this.part = part;
    this.index = index;
    this.line = line;
    this.text = text;
    this.payload = payload;
  }

  /** True if nothing is stored of it beside its line: no place, dedupe key, pointer or chunk. */
  get isPlain(): boolean {
    const extra = this.line[3];
    return extra === undefined ||
      (extra.h ?? extra.d ?? extra.f ?? extra.o ?? extra.b) === undefined;
  }
  get ordinal(): number {
    return this.part.ordinal;
  }
  get segment(): string {
    return this.part.segment;
  }
  get dueMs(): number {
    return this.part.dueMs;
  }
  get id(): string {
    return idOf(this);
  }
  get lane(): string {
    return this.part.lane;
  }
  get laneIndex(): number {
    return this.part.lanes.of(this.part.ordinal)?.index ?? -1; // the lane may be gone since
  }
  get type(): string {
    return this.line[3]?.t ?? "";
  }
  get key(): string | undefined {
    return this.line[3]?.k;
  }
  get traceparent(): string | undefined {
    return this.line[3]?.p;
  }
  get createdAtMs(): number {
    return createdIn(this.part.segment);
  }
  get attempt(): number {
    return this.line[0] + 1;
  }
  get history(): readonly JobAttempt[] | undefined {
    return readHistory(this.line[3]?.l);
  }
  get readyAtMs(): number {
    return this.part.dueMs;
  }
  get dueAtMs(): number | undefined {
    return this.line[3]?.v;
  }
  get firstReadyAtMs(): number {
    return this.createdAtMs + (this.line[3]?.r ?? delayOf(this));
  }
  get fence(): number {
    return this.line[1] + 1;
  }
  get expiresAtMs(): number | undefined {
    return this.line[3]?.x;
  }
}

/** What `add` answers for a stored job: the id is formatted when it is read. */
export class KvAdded implements Added {
  readonly duplicate = false;
  readonly segment: string;
  readonly ordinal: number;
  readonly index: number;
  readonly delayMs: number;
  /** Jobs that had ended in this process when it was added. */
  readonly endings: number;

  /** The job of one line of a new segment. */
  constructor(segment: string, ordinal: number, index: number, delayMs: number, endings: number) {
    this.segment = segment;
    this.ordinal = ordinal;
    this.index = index;
    this.delayMs = delayMs;
    this.endings = endings;
  }

  get id(): string {
    return formatId(this);
  }
}

/** How long after its adding a job was first due, ms. */
export function delayOf(job: StoredJob): number {
  return job.line[3]?.o ?? job.dueMs - createdIn(job.segment);
}

/** A job as text that can be read: of one that cannot, what is known of it. */
export function readable(job: StoredJob): StoredJob {
  if (!isUnreadable(job.line)) return job;
  const { ordinal, segment, index, dueMs, line } = job;
  return { ordinal, segment, index, dueMs, line, text: JSON.stringify(line) };
}

/** Id of a stored job. */
export function idOf(job: StoredJob): string {
  const { segment, ordinal, index } = job;
  return formatId({ segment, ordinal, index, delayMs: delayOf(job) });
}

/** What a record says beside what is stored of the job. */
export interface RecordDetails {
  /** Name of the pool. */
  readonly pool: string;
  /** Name of the lane. */
  readonly lane: string;
  /** Its payload, if that is stored apart. */
  readonly payload?: unknown;
  /** Where it is. */
  readonly state: JobState;
  /** When it was leased, if it is. */
  readonly startedAtMs?: number | undefined;
}

/** Everything known about a job that has not ended. */
export function recordOf(job: StoredJob, details: RecordDetails): JobRecord {
  const { pool, lane, state } = details;
  const [attempts, , payload, extra] = job.line;
  return {
    id: idOf(job),
    pool,
    lane,
    type: extra?.t ?? "",
    payload: details.payload ?? payloadOf(payload, extra?.u),
    key: extra?.k,
    createdAtMs: createdIn(job.segment),
    attempt: state === "running" ? attempts + 1 : attempts,
    traceparent: extra?.p,
    state,
    dueAtMs: state === "delayed" ? job.dueMs : extra?.v ?? job.dueMs,
    readyAtMs: state === "ready" || state === "running" ? job.dueMs : undefined,
    startedAtMs: details.startedAtMs ?? extra?.s,
    error: extra?.e,
    ...pastOf(job),
    dedupeKey: extra?.d,
    ...(state === "delayed" && extra?.h === 1 && { keepsSlot: true }),
  };
}

/** What has become of a job before. */
export function pastOf(
  { segment, line: [, , , extra] }: Pick<StoredJob, "segment" | "line">,
): Pick<JobRecord, "history" | "revived"> {
  if (extra?.l === undefined && extra?.y === undefined) return {};
  const history = readHistory(extra.l);
  const { r: delayMs = 0, y: attempts } = extra;
  return {
    ...(history === undefined ? {} : { history }),
    ...(attempts === undefined
      ? {}
      : { revived: { atMs: createdIn(segment) + delayMs, attempts } }),
  };
}

/** A payload as it was given: JSON has no `undefined`. */
export function payloadOf(payload: unknown, isUndefined: 1 | undefined): unknown {
  return isUndefined === 1 ? undefined : payload;
}

/**
 * Lists jobs, page by page, each at the cost of the page: state by state, those that have ended
 * first; within a state in the order in which they ended, run, or are due. Or those that ended last
 * first, of whichever state.
 *
 * @module
 */

import type { JobRecord, JobState } from "../../../src/contract/job.ts";
import type { JobPage, JobQuery } from "../../../src/contract/store.ts";
import { type ChunkedJob, readChunks } from "../add/chunks.ts";
import type { Bytes } from "../record/codec.ts";
import type { QueueContext } from "../context.ts";
import { jobsDone } from "../end/done.ts";
import { type EndedJob, readDead as readDeadJob, recordIn } from "../end/ended.ts";
import { compareAge } from "../record/id.ts";
import { recordOf, type StoredJob } from "../record/job.ts";
import { numberAt, textAt } from "../record/keys.ts";
import { jobsIn } from "../claim/promote.ts";
import { unended } from "../members/reaper.ts";

/** Entries read at once: a part may hold many jobs. */
const BATCH = 8;

/** Where a job is in its section: parts of its key, then its index. */
type Position = readonly Deno.KvKeyPart[];

interface Candidate {
  readonly at: Position;
  /** The job, if its payload is stored apart. */
  readonly apart: ChunkedJob | undefined;
  record(payload: unknown): JobRecord;
}

interface Section {
  readonly kind: "e" | "d" | "x" | "l" | "r" | "q" | "z";
  readonly states: readonly JobState[];
  read(wanted: Wanted): AsyncIterable<Candidate>;
}

interface Wanted {
  readonly context: QueueContext;
  /** Numbers of the lanes. */
  readonly ordinals: readonly number[];
  readonly state: JobState | undefined;
  /** True: of those that have ended, the last first. */
  readonly reverse: boolean;
  /** Only what is behind it. */
  readonly after: Position | undefined;
}

/** In this order. */
const SECTIONS: readonly Section[] = [
  { kind: "d", states: ["done", "cancelled"], read: readDone },
  { kind: "x", states: ["dead"], read: readDead },
  { kind: "l", states: ["running"], read: readLeased },
  { kind: "r", states: ["ready"], read: (wanted) => readWaiting(wanted, "r", "ready") },
  { kind: "q", states: ["blocked"], read: readBlocked },
  { kind: "z", states: ["delayed"], read: (wanted) => readWaiting(wanted, "z", "delayed") },
];

/** Those that ended last first. */
const LATEST_FIRST: readonly Section[] = [
  { kind: "e", states: ["done", "cancelled", "dead"], read: readEnded },
  ...SECTIONS.slice(2),
];

/** Lists jobs. */
export async function listJobs(context: QueueContext, query: JobQuery): Promise<JobPage> {
  const { state, lane, limit } = query;
  const { lanes, keys, db } = context;
  await lanes.refresh(db, keys);
  const ordinal = lane === undefined ? undefined : lanes.ordinalOf(lane);
  if (lane !== undefined && ordinal === undefined) return { jobs: [], cursor: undefined };
  const ordinals = ordinal === undefined ? lanes.ordinals : [ordinal];
  const reverse = query.order === "latest-end";
  const sections = reverse && state === undefined ? LATEST_FIRST : SECTIONS;
  const [begun, position] = parseCursor(sections, query.cursor);
  const found: Candidate[] = [];
  let cursor: string | undefined;
  for (const { kind, states, read } of sections.slice(begun)) {
    if (state !== undefined && !states.includes(state)) continue;
    const after = kind === sections[begun]?.kind ? position : undefined;
    for await (const job of read({ context, ordinals, state, reverse, after })) {
      if (found.length === limit) return { jobs: await recordsOf(context, found), cursor };
      found.push(job);
      cursor = JSON.stringify([kind, ...job.at]);
    }
  }
  return { jobs: await recordsOf(context, found), cursor: undefined };
}

function recordsOf(context: QueueContext, found: readonly Candidate[]): Promise<JobRecord[]> {
  return Promise.all(
    found.map(async ({ apart, record }) =>
      record(apart === undefined ? undefined : (await readChunks(context, apart)).value)
    ),
  );
}

/** Number of the section that a page ended in, and where in it. What is no cursor: the beginning. */
function parseCursor(
  sections: readonly Section[],
  cursor: string | undefined,
): [section: number, position: Position | undefined] {
  try {
    const [kind, ...position]: Deno.KvKeyPart[] = JSON.parse(cursor ?? "[]");
    const section = sections.findIndex((one) => one.kind === kind);
    return section === -1 ? [0, undefined] : [section, position];
  } catch {
    return [0, undefined];
  }
}

/** What has ended, the last first. A place in it is one among the done and one among the dead. */
async function* readEnded(wanted: Wanted): AsyncGenerator<Candidate> {
  const { after = ["", "", "", "", "", ""] } = wanted;
  let [among, amongDead] = [after.slice(0, 3), after.slice(3)];
  const begun = (place: Position): Position | undefined => place[0] === "" ? undefined : place;
  const done = readDone({ ...wanted, after: begun(among) });
  const dead = readDead({ ...wanted, after: begun(amongDead) });
  const timeOf = ({ value }: IteratorResult<Candidate>): number =>
    Number(value?.at[0] ?? -Infinity);
  let heads = [await done.next(), await dead.next()] as const;
  for (;;) {
    const isDone = timeOf(heads[0]) >= timeOf(heads[1]);
    const next = isDone ? heads[0] : heads[1];
    if (next.done === true) return;
    if (isDone) among = [...next.value.at];
    else amongDead = [...next.value.at];
    yield { ...next.value, at: [...among, ...amongDead] };
    heads = isDone ? [await done.next(), heads[1]] : [heads[0], await dead.next()];
  }
}

async function* readDone(
  { context, ordinals, state, reverse, after }: Wanted,
): AsyncGenerator<Candidate> {
  const from = after?.slice(0, 2);
  for await (const entry of entriesFrom<Bytes>(context, ["d"], from, reverse)) {
    const [atMs, name] = [numberAt(entry.key, 4), textAt(entry.key, 5)];
    const isBegun = after !== undefined && after[0] === atMs && after[1] === name;
    if (!ordinals.includes(numberAt(entry.key, 8))) continue;
    const jobs = jobsDone(entry);
    for (const ended of reverse ? jobs.toReversed() : jobs) {
      if (state !== undefined && ended.row[1] !== state) continue;
      const { index } = ended.id;
      if (isBegun && (reverse ? index >= Number(after[2]) : index <= Number(after[2]))) continue;
      yield endedCandidate(context, ended, [atMs, name, index]);
    }
  }
}

async function* readDead(
  { context, ordinals, reverse, after }: Wanted,
): AsyncGenerator<Candidate> {
  for await (const entry of entriesFrom<Bytes>(context, ["x"], after, reverse)) {
    const { key } = entry;
    const at = [numberAt(key, 4), textAt(key, 5), numberAt(key, 6)] as const;
    const ended = readDeadJob(entry);
    if (equals(at, after) || !ordinals.includes(ended.id.ordinal)) continue;
    yield endedCandidate(context, ended, at);
  }
}

/** All leases are looked at: there are no more than jobs that run. */
async function* readLeased({ context, ordinals, after }: Wanted): AsyncGenerator<Candidate> {
  const { db, keys } = context;
  const leases = await db.list<Bytes>({ prefix: keys.of("l") });
  const slots = leases.map(({ key }) => keys.leaseIn(key));
  const ended = await db.getMany<Uint8Array>(slots.map((place) => keys.progress(place)));
  const jobs = leases.flatMap(({ value }, index) => {
    const place = slots[index]!;
    if (!ordinals.includes(place.ordinal)) return [];
    return unended(place, value, ended[index]!.value).map((job) => ({ ...job, place }));
  });
  const last = after && { segment: String(after[0]), index: Number(after[1]) };
  for (const job of jobs.sort(compareAge)) {
    if (last !== undefined && compareAge(job, last) <= 0) continue;
    const { segment, index, place } = job;
    yield openCandidate(context, job, "running", [segment, index], place.startedAtMs);
  }
}

/** Jobs of all lanes in the order in which they are due. */
async function* readWaiting(
  { context, ordinals, after }: Wanted,
  space: "r" | "z",
  state: "ready" | "delayed",
): AsyncGenerator<Candidate> {
  const lanes = ordinals.map((ordinal) => {
    const jobs = readLane(context, [space, ordinal], after);
    return { jobs, head: jobs.next() };
  });
  for (;;) {
    const heads = await Promise.all(lanes.map(({ head }) => head));
    let first: { readonly lane: number; readonly job: StoredJob } | undefined;
    for (const [lane, { done, value }] of heads.entries()) {
      if (done === true) continue;
      if (first === undefined || isBefore(value, first.job)) first = { lane, job: value };
    }
    if (first === undefined) return;
    const { dueMs, segment, index } = first.job;
    yield openCandidate(context, first.job, state, [dueMs, segment, index]);
    const lane = lanes[first.lane]!;
    lane.head = lane.jobs.next();
  }
}

/** Jobs of a lane in the order in which they are due. */
async function* readLane(
  context: QueueContext,
  prefix: Position,
  after: Position | undefined,
): AsyncGenerator<StoredJob, undefined> {
  const { keys } = context;
  // Parts of one segment that are due together may hold jobs from between each other's.
  let group: StoredJob[] = [];
  const isNew = ({ dueMs, segment, index }: StoredJob): boolean =>
    dueMs !== after?.[0] || segment !== after[1] || index > Number(after[2]);
  for await (const { key, value } of entriesFrom<Bytes>(context, prefix, after?.slice(0, 2))) {
    const place = keys.placeIn(key);
    if (group[0]?.segment !== place.segment || group[0].dueMs !== place.dueMs) {
      yield* group.sort(compareAge).filter(isNew);
      group = [];
    }
    group.push(...jobsIn(place, value));
  }
  yield* group.sort(compareAge).filter(isNew);
}

/** Jobs that wait for others of their key: key by key, each in the order in which they became due. */
async function* readBlocked({ context, ordinals, after }: Wanted): AsyncGenerator<Candidate> {
  const { keys } = context;
  for await (const { key, value } of entriesFrom<Bytes>(context, ["q"], after)) {
    const at = key.slice(4, 9);
    if (equals(at, after) || !ordinals.includes(numberAt(key, 4))) continue;
    for (const job of jobsIn(keys.placeIn(key), value)) {
      yield openCandidate(context, job, "blocked", at);
    }
  }
}

/** Entries behind a prefix, from a place on; with `reverse`, from there back. */
function entriesFrom<T>(
  { db, keys }: QueueContext,
  parts: Position,
  from: Position = [],
  reverse = false,
): AsyncIterable<Deno.KvEntry<T>> {
  const prefix = keys.of(...parts);
  const place = [...prefix, ...from];
  const selector = from.length === 0 ? { prefix } : reverse
    ? { prefix, end: [...place, true] } // behind all that begins so: nothing is greater than `true`
    : { prefix, start: place };
  return db.entries<T>(selector, { batchSize: BATCH, reverse });
}

function equals(a: Position, b: Position | undefined): boolean {
  return b !== undefined && a.every((part, index) => part === b[index]);
}

function isBefore(a: StoredJob, b: StoredJob): boolean {
  return a.dueMs < b.dueMs || (a.dueMs === b.dueMs && compareAge(a, b) < 0);
}

function endedCandidate(
  { pool, lanes }: QueueContext,
  ended: EndedJob,
  at: Position,
): Candidate {
  const line = ended.row[6];
  const apart = line[3]?.b === undefined ? undefined : { ...ended.id, line };
  const lane = lanes.nameOf(ended.id.ordinal);
  return { at, apart, record: (payload) => recordIn(ended, pool, lane, payload) };
}

function openCandidate(
  { pool, lanes }: QueueContext,
  job: StoredJob,
  state: "ready" | "delayed" | "blocked" | "running",
  at: Position,
  startedAtMs?: number,
): Candidate {
  const { ordinal } = job;
  return {
    at,
    apart: job.line[3]?.b === undefined ? undefined : job,
    record: (payload) =>
      recordOf(job, { pool, lane: lanes.nameOf(ordinal), payload, state, startedAtMs }),
  };
}

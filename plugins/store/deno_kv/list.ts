/**
 * Lists jobs of all states, oldest first.
 *
 * Jobs stand in the order of their due times, so all that may belong on a page are looked at; only
 * those that do are kept, and read in full.
 *
 * @module
 */

import type { JobRecord, JobState } from "../../../src/job.ts";
import type { JobPage, JobQuery } from "../../../src/store.ts";
import { readChunks } from "./chunks.ts";

import { type Bytes, decode } from "./codec.ts";
import type { QueueContext } from "./context.ts";
import { jobsDone } from "./done.ts";
import { parseRow, recordIn } from "./ended.ts";
import { compareAge, type IdParts, parseId } from "./id.ts";
import { recordOf, type StoredJob } from "./job.ts";
import { jobsIn } from "./promote.ts";
import { unended } from "./reaper.ts";

type Age = Pick<IdParts, "segment" | "index">;

interface Candidate extends Age {
  readonly ordinal: number;
  readonly chunks: number;
  record(payload: unknown): JobRecord;
}

/** The oldest jobs after a place, no more than a page. */
class Page {
  readonly #after: Age | undefined;
  readonly #most: number;
  #jobs: Candidate[] = [];
  #isFull = false;

  constructor(after: Age | undefined, most: number) {
    this.#after = after;
    this.#most = most;
  }

  /** False: nothing of this age, or younger, can come onto the page. */
  mayHold(age: Age): boolean {
    return !this.#isFull || compareAge(age, this.#jobs.at(-1)!) < 0;
  }

  add(job: Candidate): void {
    if (this.#after !== undefined && compareAge(job, this.#after) <= 0) return;
    if (!this.mayHold(job)) return;
    this.#jobs.push(job);
    if (this.#jobs.length >= 2 * this.#most + 100) this.#cut();
  }

  jobs(): readonly Candidate[] {
    this.#cut();
    return this.#jobs;
  }

  #cut(): void {
    this.#jobs.sort(compareAge);
    // A job that moved while all were looked at may have been seen twice.
    this.#jobs = this.#jobs.filter((job, index) =>
      index === 0 || compareAge(job, this.#jobs[index - 1]!) !== 0
    ).slice(0, this.#most);
    this.#isFull = this.#jobs.length === this.#most;
  }
}

/** Lists jobs. */
export async function listJobs(context: QueueContext, query: JobQuery): Promise<JobPage> {
  const { state, lane, limit, cursor } = query;
  const { lanes, keys, db } = context;
  await lanes.refresh(db, keys);
  const ordinal = lane === undefined ? undefined : lanes.ordinalOf(lane);
  if (lane !== undefined && ordinal === undefined) return { jobs: [], cursor: undefined };
  const after = cursor === undefined ? undefined : parseId(cursor);
  const page = new Page(after, limit + 1);
  const wants = (...states: JobState[]): boolean => state === undefined || states.includes(state);
  const ordinals = ordinal === undefined ? lanes.ordinals : [ordinal];
  if (wants("ready")) {
    for (const one of ordinals) {
      await gatherWaiting(page, context, keys.of("r", one), "ready");
      await gatherWaiting(page, context, keys.of("q", one), "ready");
    }
  }
  if (wants("delayed")) {
    for (const one of ordinals) await gatherWaiting(page, context, keys.of("z", one), "delayed");
  }
  if (wants("running")) await gatherLeased(page, context, ordinal);
  if (wants("done", "cancelled")) await gatherEnded(page, context, "d", state, ordinal);
  if (wants("dead")) await gatherEnded(page, context, "x", state, ordinal);
  const found = page.jobs();
  const jobs = await Promise.all(
    found.slice(0, limit).map(async (job) =>
      job.record(job.chunks === 0 ? undefined : await readChunks(context, job.segment, job.index))
    ),
  );
  return { jobs, cursor: found.length > limit ? jobs.at(-1)!.id : undefined };
}

async function gatherWaiting(
  page: Page,
  context: QueueContext,
  prefix: Deno.KvKey,
  state: "ready" | "delayed",
): Promise<void> {
  const { db, keys } = context;
  for await (const { key, value } of db.entries<Bytes>({ prefix }, { batchSize: 200 })) {
    const place = keys.placeIn(key);
    if (!page.mayHold({ segment: place.segment, index: place.first })) continue;
    for (const job of jobsIn(place, value)) page.add(candidate(context, job, state));
  }
}

async function gatherLeased(
  page: Page,
  context: QueueContext,
  ordinal: number | undefined,
): Promise<void> {
  const { db, keys } = context;
  const leases = await db.list<Bytes>({ prefix: keys.of("l") });
  const places = leases.map(({ key }) => keys.leaseIn(key));
  const ended = await db.getMany<Uint8Array>(places.map((place) => keys.progress(place)));
  for (const [index, { value }] of leases.entries()) {
    const place = places[index]!;
    if (ordinal !== undefined && place.ordinal !== ordinal) continue;
    for (const job of unended(place, value, ended[index]!.value)) {
      page.add(candidate(context, job, "running", place.startedAtMs));
    }
  }
}

async function gatherEnded(
  page: Page,
  { db, keys, pool, lanes }: QueueContext,
  kind: "d" | "x",
  state: JobState | undefined,
  ordinal: number | undefined,
): Promise<void> {
  for await (const entry of db.entries<Bytes>({ prefix: keys.of(kind) }, { batchSize: 200 })) {
    for (const ended of kind === "d" ? jobsDone(entry) : [parseRow(decode(entry.value))]) {
      const { id, row } = ended;
      if (state !== undefined && row[1] !== state) continue;
      if (ordinal !== undefined && id.ordinal !== ordinal) continue;
      page.add({
        ...id,
        chunks: row[6][3]?.b ?? 0,
        record: (payload) => recordIn(ended, pool, lanes.nameOf(id.ordinal), payload),
      });
    }
  }
}

function candidate(
  { pool, lanes }: QueueContext,
  job: StoredJob,
  state: "ready" | "delayed" | "running",
  startedAtMs?: number,
): Candidate {
  const { segment, index, ordinal } = job;
  return {
    segment,
    index,
    ordinal,
    chunks: job.line[3]?.b ?? 0,
    record: (payload) =>
      recordOf(job, { pool, lane: lanes.nameOf(ordinal), payload, state, startedAtMs }),
  };
}

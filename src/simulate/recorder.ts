/**
 * Makes a scenario of what is heard of running pools: when jobs came, and what their attempts came
 * to. No payload is heard of, and keys are reported by hashes that say nothing outside this recording.
 *
 * @module
 */

import type { PoolEvent } from "../contract/event.ts";
import type { LaneLoad, PoolLoad, RecordedAttempt, ScenarioInput } from "./scenario.ts";

/** A lane as it is when the recording begins. */
export interface LaneBefore {
  /** Name of its pool. */
  readonly pool: string;
  /** Its name. */
  readonly lane: string;
  /** Jobs that wait. */
  readonly waiting: number;
  /** What an attempt took on average so far, ms; 0 if nobody knows. */
  readonly meanServiceMs: number;
}

/** Jobs of one recording. */
export interface Recording {
  /** The scenario. `undefined`: no job came. */
  readonly scenario: ScenarioInput | undefined;
  /** Jobs in it. */
  readonly jobs: number;
  /** Lanes of which no run time is known at all, as `pool/lane`: 0 is in the scenario. */
  readonly blind: readonly string[];
}

/** When a recording is from and to, and where from. */
export interface RecordingSpan {
  /** What to call it. */
  readonly name: string;
  /** Address of the system. */
  readonly from: string;
  /** The end of the recording: what came later is left out. */
  readonly endMs: number;
}

/** One job. */
interface Heard {
  /** When it became claimable. */
  readonly dueAtMs: number;
  readonly key: string | undefined;
  /** Attempts that ended. */
  readonly attempts: RecordedAttempt[];
  running: boolean;
  /** True: no attempt follows. */
  ended: boolean;
}

interface HeardLane extends LaneBefore {
  readonly jobs: Heard[];
}

/** Hears the events of pools. Events of pools that it was not told of are passed over. */
export class ScenarioRecorder {
  /** Events that were lost on the way. */
  missed = 0;
  /** Attempts that run now. */
  running = 0;
  readonly #startMs: number;
  readonly #lanes: ReadonlyMap<string, HeardLane>;
  readonly #open = new Map<string, Heard>();

  /** Begins at `startMs`, with lanes as they are then. */
  constructor(startMs: number, lanes: readonly LaneBefore[]) {
    this.#startMs = startMs;
    this.#lanes = new Map(
      lanes.map((lane) => [placeOf(lane.pool, lane.lane), { ...lane, jobs: [] }]),
    );
  }

  /** Takes an event in, in the order in which they happened. */
  take(event: PoolEvent): void {
    if (!("lane" in event) || event.lane === undefined) return;
    const lane = this.#lanes.get(placeOf(event.pool, event.lane));
    if (lane === undefined) return;
    switch (event.kind) {
      case "job-shed":
        lane.jobs.push({ ...heard(event.atMs, event.key), ended: true });
        break;
      case "job-added":
        this.#add(lane, event.id, heard(event.dueAtMs, event.key));
        break;
      case "job-started": {
        // One that nobody heard of before waited at the beginning, or its arrival was missed.
        const job = this.#open.get(event.id) ??
          this.#add(lane, event.id, heard(event.atMs - event.waitMs, undefined));
        if (!job.running) this.running++;
        job.running = true;
        break;
      }
      case "job-failed":
        this.#end(event.id, { failedMs: ms(event.serviceMs) });
        break;
      case "job-deferred":
        this.#end(event.id, { deferredMs: ms(event.serviceMs), forMs: ms(event.retryInMs) });
        break;
      case "job-handed-back":
      case "lease-lost":
        this.#end(event.id, undefined);
        break;
      case "job-done":
        this.#finish(event.id, ms(event.serviceMs));
        break;
      case "job-cancelled":
        this.#finish(event.id, undefined);
        break;
      case "job-dead":
        this.#finish(event.id, lastOf(event));
    }
  }

  /** Makes the scenario of what was heard. */
  async finish({ name, from, endMs }: RecordingSpan): Promise<Recording> {
    const secret = crypto.getRandomValues(new Uint8Array(16));
    const hashes = new Map<string, string>();
    const hashed = async (key: string | undefined): Promise<string | null> => {
      if (key === undefined) return null;
      const hash = hashes.get(key) ?? await hashOf(secret, key);
      hashes.set(key, hash);
      return hash;
    };
    const pools: Record<string, { lanes: Record<string, LaneLoad> }> = {};
    const blind: string[] = [];
    let [jobs, unknown] = [0, 0];
    for (const lane of this.#lanes.values()) {
      const load = this.#loadOf(lane, endMs);
      if (load.jobs.length === 0) continue;
      const keys = await Promise.all(load.jobs.map(({ key }) => hashed(key)));
      const runs = load.jobs.map(runOf);
      const isBlind = runs.every((run) => run === null);
      if (isBlind && lane.meanServiceMs === 0) blind.push(`${lane.pool}/${lane.lane}`);
      jobs += runs.length;
      unknown += runs.filter((run) => run === null).length;
      (pools[lane.pool] ??= { lanes: {} }).lanes[lane.lane] = {
        ...load.backlog > 0 ? { backlog: load.backlog } : {},
        arrivals: { kind: "trace", atMs: load.atMs },
        serviceMs: isBlind
          ? { kind: "fixed", ms: ms(lane.meanServiceMs) }
          : { kind: "trace", runs },
        ...keys.some((key) => key !== null) ? { keys } : {},
      };
    }
    const recorded = {
      from,
      at: new Date(this.#startMs).toISOString(),
      ...this.missed > 0 ? { missed: this.missed } : {},
      ...unknown > 0 ? { unknown } : {},
    };
    const durationMs = Math.max(1, Math.ceil(endMs - this.#startMs));
    const scenario = {
      name,
      recorded,
      durationMs,
      pools: pools satisfies Record<string, PoolLoad>,
    };
    return { scenario: jobs > 0 ? scenario : undefined, jobs, blind };
  }

  /** Jobs of a lane in the order of a scenario: those that waited at the beginning come first. */
  #loadOf(lane: HeardLane, endMs: number): {
    readonly backlog: number;
    readonly atMs: readonly number[];
    readonly jobs: readonly Heard[];
  } {
    const early = lane.jobs.filter(({ dueAtMs }) => dueAtMs < this.#startMs);
    const unheard = Math.max(0, lane.waiting - early.length);
    const waiting = [
      ...early.toSorted((a, b) => a.dueAtMs - b.dueAtMs),
      ...Array.from({ length: unheard }, () => heard(this.#startMs, undefined)),
    ];
    const came = lane.jobs
      .filter(({ dueAtMs }) => dueAtMs >= this.#startMs && dueAtMs <= endMs)
      .toSorted((a, b) => a.dueAtMs - b.dueAtMs);
    return {
      backlog: waiting.length,
      atMs: came.map(({ dueAtMs }) => Math.round((dueAtMs - this.#startMs) * 10) / 10),
      jobs: [...waiting, ...came],
    };
  }

  #add(lane: HeardLane, id: string, job: Heard): Heard {
    lane.jobs.push(job);
    this.#open.set(id, job);
    return job;
  }

  /** An attempt ended; `attempt` is left out if it says nothing. Those that began before are not known. */
  #end(id: string, attempt: RecordedAttempt | undefined): Heard | undefined {
    const job = this.#open.get(id);
    if (job === undefined) return undefined;
    if (job.running) {
      this.running--;
      if (attempt !== undefined) job.attempts.push(attempt);
    }
    job.running = false;
    return job;
  }

  #finish(id: string, attempt: RecordedAttempt | undefined): void {
    const job = this.#end(id, attempt);
    if (job !== undefined) job.ended = true;
    this.#open.delete(id);
  }
}

function heard(dueAtMs: number, key: string | undefined): Heard {
  return { dueAtMs, key, attempts: [], running: false, ended: false };
}

/** No name holds a line break. */
function placeOf(pool: string, lane: string): string {
  return `${pool}\n${lane}`;
}

/** What a dead job's last attempt came to. `undefined`: it died waiting. */
function lastOf(
  { reason, serviceMs }: Extract<PoolEvent, { readonly kind: "job-dead" }>,
): RecordedAttempt | undefined {
  if (serviceMs === undefined) return undefined;
  const failedMs = ms(serviceMs);
  return reason === "attempts" ? { failedMs } : { failedMs, fatal: true };
}

/** A job as a scenario has it. Of one that had not ended nobody knows what was still to come. */
function runOf({ attempts, ended }: Heard): RecordedAttempt | readonly RecordedAttempt[] | null {
  if (!ended || attempts.length === 0) return null;
  return attempts.length === 1 ? attempts[0]! : attempts;
}

/** Two digits after the point are more than timers hold. */
function ms(value: number): number {
  return Math.round(Math.max(0, value) * 100) / 100;
}

/** Tells keys apart and nothing else: without the secret, which is thrown away, no key can be tried. */
async function hashOf(secret: Uint8Array<ArrayBuffer>, key: string): Promise<string> {
  const bytes = new Uint8Array([...secret, ...new TextEncoder().encode(key)]);
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  return [...digest.subarray(0, 4)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

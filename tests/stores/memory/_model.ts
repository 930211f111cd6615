/** What a store does with jobs, by scanning lists: too simple to be wrong. */

/** Jobs of a key that may run at once in lane 0. */
export const PER_KEY = 2;

/** Where a job is. */
export type State = "ready" | "blocked" | "delayed" | "running" | "done" | "dead" | "cancelled";

/** One job. */
export interface Model {
  readonly id: string;
  readonly sequence: number;
  readonly lane: number;
  readonly key: string | undefined;
  readonly dedupeKey: string | undefined;
  state: State;
  readyAtMs: number;
  expiresAtMs: number;
  createdAtMs: number;
  attempt: number;
  blockedAt: number;
  holder: number;
  fence: number;
  cancelling: boolean;
  /** It is delayed and has kept the place of its key. */
  keeps: boolean;
}

/** All jobs. */
export class Jobs {
  nowMs = 1_800_000_000_000;
  readonly all: Model[] = [];
  readonly #queues: Model[][] = [[], []];
  #clock = 0; // order in which jobs were blocked

  /** A job with a key that owns it and has expired gives way. */
  owner(dedupeKey: string): Model | undefined {
    const owner = this.all.find((job) => job.dedupeKey === dedupeKey && isOpen(job));
    if (owner === undefined || owner.state === "running" || owner.expiresAtMs > this.nowMs) {
      return owner;
    }
    this.leaveWaiting(owner, "dead");
    return undefined;
  }

  /** Jobs that are due become ready or blocked, in the order of their times. */
  moveUp(): void {
    const due = this.all.filter((job) => job.state === "delayed" && job.readyAtMs <= this.nowMs);
    for (
      const job of due.toSorted((a, b) => a.readyAtMs - b.readyAtMs || a.sequence - b.sequence)
    ) {
      this.#enter(job);
    }
  }

  #enter(job: Model): void {
    const isHeld = job.keeps;
    job.keeps = false;
    const taken = this.all.filter((other) =>
      other.lane === job.lane && other.key === job.key &&
      (other.state === "ready" || other.state === "running" || other.keeps)
    ).length;
    const isBound = job.lane === 0 && job.key !== undefined;
    if (!isBound || isHeld || taken < PER_KEY) return this.#toReady(job);
    job.state = "blocked";
    job.blockedAt = ++this.#clock;
  }

  leaveWaiting(job: Model, to: State): void {
    if (job.state === "ready" || job.keeps) this.leave(job, to);
    else job.state = to;
  }

  /** A ready or running job gives its key's place up. */
  leave(job: Model, to: State): void {
    job.state = to;
    job.keeps = false;
    if (job.key === undefined || job.lane !== 0) return;
    for (;;) {
      const next = this.all
        .filter((other) => other.lane === 0 && other.key === job.key && other.state === "blocked")
        .toSorted((a, b) => a.blockedAt - b.blockedAt)[0];
      if (next === undefined) return;
      if (next.expiresAtMs <= this.nowMs) {
        next.state = "dead";
        continue;
      }
      next.state = "running"; // it has the place: what moves up before it cannot have it
      this.moveUp();
      next.readyAtMs = this.nowMs;
      this.#toReady(next);
      return;
    }
  }

  dropExpired(lane: number): void {
    for (;;) {
      const head = this.ready(lane)[0];
      if (head === undefined || head.expiresAtMs > this.nowMs) return;
      this.leave(head, "dead");
    }
  }

  ready(lane: number): Model[] {
    return this.#queues[lane]!.filter((job) => job.state === "ready");
  }

  #toReady(job: Model): void {
    this.#queues[job.lane] = this.#queues[job.lane]!.filter((other) => other !== job);
    this.#queues[job.lane]!.push(job);
    job.state = "ready";
  }

  /** To its old place; among those of the same time, by the order of adding. */
  putBack(job: Model): void {
    const jobs = this.ready(job.lane).filter((other) => other !== job);
    const after = jobs.findIndex((other) =>
      other.readyAtMs > job.readyAtMs ||
      (other.readyAtMs === job.readyAtMs && other.sequence > job.sequence)
    );
    jobs.splice(after === -1 ? jobs.length : after, 0, job);
    this.#queues[job.lane] = jobs;
    job.state = "ready";
  }

  byId(id: string): Model {
    return this.all.find((job) => job.id === id)!;
  }
}

export function isWaiting({ state }: Model): boolean {
  return state === "ready" || state === "blocked" || state === "delayed";
}

function isOpen(job: Model): boolean {
  return isWaiting(job) || job.state === "running";
}

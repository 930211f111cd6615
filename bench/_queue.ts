/**
 * What a durable queue is to a benchmark, and the jobs that it is given.
 *
 * @module
 */

/** Jobs that graphile-worker's local queue fetches ahead. */
export const LOCAL_QUEUE_JOBS = 500;

/** What a job carries: some 100 bytes as JSON. */
export interface Payload {
  /** Its number; how long it runs where that matters. */
  readonly n: number;
  /** When it was sent, ms; 0 where that does not matter. */
  readonly sentAtMs: number;
  /** Whether it is an urgent one. */
  readonly urgent: boolean;
  /** The rest of its bytes. */
  readonly body: string;
}

/** What a queue does with its jobs. */
export interface Work {
  /** Jobs that run at once. */
  readonly most: number;
  /** Runs one. */
  run(job: Payload): Promise<void> | void;
  /** Called when the end of one is acknowledged, or as late as the queue tells. */
  ended?(): void;
}

/** A durable queue. Nothing runs before `work` is called. */
export interface DurableQueue extends AsyncDisposable {
  /** Stores one job; resolves once that is acknowledged. */
  add(job: Payload): Promise<unknown>;
  /** Stores many with one call. */
  addMany(jobs: readonly Payload[]): Promise<unknown>;
  /** Starts to run what waits and what comes. */
  work(): Promise<unknown> | void;
  /** Resolves once no job is left in the store. Omitted: there is none once the last has `ended`. */
  settled?(): Promise<void>;
  /** Bytes of its file. Omitted: it has no file of its own. */
  fileBytes?(): number;
}

/** Jobs of no particular content. */
export function jobsFrom(first: number, count: number): Payload[] {
  return Array.from({ length: count }, (_, index) => job(first + index));
}

/** One job. */
export function job(n: number, parts: Partial<Payload> = {}): Payload {
  return { n, sentAtMs: 0, urgent: false, body: "x".repeat(50), ...parts };
}

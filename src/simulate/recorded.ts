/**
 * Plays recorded runs: job by job, attempt by attempt, as they were.
 *
 * @module
 */

import type { InferOutput } from "valibot";
import type { runsShape } from "./shape.ts";

/** What a recorder saw of the attempts of each job. */
export type TraceRuns = InferOutput<typeof runsShape>["runs"];

/** One recorded attempt. */
export interface Attempt {
  /** How long it ran, ms. */
  readonly ms: number;
  /** How it ended. */
  readonly end: "done" | "failed" | "fatal" | "deferred";
  /** How much later it asked to be run again, ms; 0 unless it was deferred. */
  readonly forMs: number;
}

/** What a job carries whose attempts differ: its place in the list. */
interface Place {
  readonly place: number;
}

/**
 * What makes the payload of each job in turn: the run time, or where its attempts stand. What nobody
 * saw is drawn from what is known.
 */
export function runsInTurn(runs: TraceRuns, random: () => number): () => number | Place {
  const known = [...runs.keys()].filter((index) => runs[index] !== null);
  let turn = 0;
  return () => {
    const next = turn++ % runs.length;
    const place = runs[next] === null ? known[Math.floor(random() * known.length)]! : next;
    const run = runs[place];
    return typeof run === "number" ? run : { place };
  };
}

/**
 * Names the attempts of jobs one after the other. Beyond the last one they begin again; if that was a
 * deferral, what came after it is not known: the job is done then, in the same time.
 */
export class RecordedAttempts {
  readonly #runs: TraceRuns;
  readonly #begun = new Map<string, number>();

  /** No job has begun. */
  constructor(runs: TraceRuns) {
    this.#runs = runs;
  }

  /** The attempt that begins. `undefined`: the payload is a run time, or none that was put in here. */
  next(id: string, payload: unknown): Attempt | undefined {
    if (typeof payload !== "object" || payload === null || !("place" in payload)) return undefined;
    const run = this.#runs[Number(payload.place)];
    const attempts = Array.isArray(run) ? run : [run];
    const begun = this.#begun.get(id) ?? 0;
    const last = attempts.at(-1);
    const attempt = attempts[begun];
    const isOpen = begun < attempts.length - 1 || (begun < attempts.length && isDeferral(attempt));
    if (isOpen) this.#begun.set(id, begun + 1);
    else this.#begun.delete(id);
    if (attempt === undefined && isDeferral(last)) {
      return { ms: last.deferredMs, end: "done", forMs: 0 };
    }
    if (typeof attempt === "number") return { ms: attempt, end: "done", forMs: 0 };
    if (typeof attempt !== "object" || attempt === null) return undefined;
    if (isDeferral(attempt)) {
      return { ms: attempt.deferredMs, end: "deferred", forMs: attempt.forMs };
    }
    return { ms: attempt.failedMs, end: attempt.fatal ? "fatal" : "failed", forMs: 0 };
  }
}

function isDeferral(attempt: unknown): attempt is { deferredMs: number; forMs: number } {
  return typeof attempt === "object" && attempt !== null && "deferredMs" in attempt;
}

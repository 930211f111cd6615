/**
 * Long work on many jobs, in the background: in pages, with progress, until it is done or cancelled.
 *
 * @module
 */

import { setImmediate } from "node:timers/promises";
import { isWaiting, WAITING_STATES } from "../../base/states.ts";
import type { JobRecord, JobState } from "../../contract/job.ts";
import type { PoolHandle } from "../../runtime/handles.ts";
import type { Change } from "../../contract/store.ts";
import type { OperationJson } from "../http/wire.ts";

/** What is to be done to which jobs. */
export interface OperationSpec {
  /** What is done. */
  readonly action: OperationJson["action"];
  /** Only this lane. `undefined`: all. */
  readonly lane: string | undefined;
  /** Only this state. `undefined`: those that the action is for. */
  readonly state: JobState | undefined;
  /** As shown. */
  readonly match: string | undefined;
  /** Only jobs for which it is true. */
  readonly matches: (job: JobRecord) => boolean;
}

/** What an action does, and to jobs in which states. */
export interface Action {
  /** What becomes of each job. */
  readonly change: Change;
  /** States that it may be asked for. */
  readonly states: readonly JobState[];
  /** States unless one is asked for. */
  readonly usual: readonly JobState[];
}

/** The actions. */
export const ACTIONS: Readonly<Record<OperationJson["action"], Action>> = {
  retry: { change: "revive", states: ["dead"], usual: ["dead"] },
  discard: { change: "remove", states: ["dead", "done", "cancelled"], usual: ["dead"] },
  // What waits moves on meanwhile: states are gone through in the order of a job's life.
  purge: { change: "cancel", states: WAITING_STATES, usual: WAITING_STATES },
};

/** Most that run at once. */
export const MAX_RUNNING = 8;

/** Most that ended and can still be looked up. */
const KEPT = 100;

/** Jobs that are read at once. */
const PAGE = 200;

/** Jobs that are changed at once: a store may change them together. */
const TOGETHER = 100;

interface Operation {
  readonly stop: AbortController;
  readonly shown: { -readonly [Key in keyof OperationJson]: OperationJson[Key] };
  ended: Promise<void>;
}

/** What operations tell of themselves. */
export interface OperationsListener {
  /** One has ended. `thrown`: what it failed with. */
  ended(operation: OperationJson, thrown: unknown): void;
}

/** Runs operations. */
export class Operations {
  readonly #known = new Map<string, Operation>();
  readonly #now: () => number;

  /** All are cancelled when `signal` aborts. */
  constructor(now: () => number, signal: AbortSignal | undefined) {
    this.#now = now;
    signal?.addEventListener("abort", () => {
      for (const { stop } of this.#known.values()) stop.abort();
    }, { once: true });
  }

  /** True if no other can be started now. */
  get full(): boolean {
    return this.#running().length >= MAX_RUNNING;
  }

  /** Starts one. Ask `full` first. */
  start(pool: PoolHandle, spec: OperationSpec, listener: OperationsListener): OperationJson {
    const { action, lane, state, match } = spec;
    const shown: Operation["shown"] = {
      id: crypto.randomUUID(),
      pool: pool.name,
      action,
      ...(lane === undefined ? {} : { lane }),
      ...(state === undefined ? {} : { state }),
      ...(match === undefined ? {} : { match }),
      status: "running",
      startedAtMs: this.#now(),
      seen: 0,
      matched: 0,
      changed: 0,
      ...totalOf(pool, spec),
    };
    const operation: Operation = { stop: new AbortController(), shown, ended: Promise.resolve() };
    this.#known.set(shown.id, operation);
    operation.ended = this.#run(operation, pool, spec).then(
      (status) => this.#end(operation, status, listener, undefined),
      (thrown) =>
        operation.stop.signal.aborted // the store closes under what a stop cancels
          ? this.#end(operation, "cancelled", listener, undefined)
          : this.#end(operation, "failed", listener, thrown),
    );
    return { ...shown };
  }

  /** All that are known, newest first. */
  list(): readonly OperationJson[] {
    return [...this.#known.values()].map(({ shown }) => ({ ...shown })).reverse();
  }

  /** One. `undefined`: it is not known. */
  find(id: string): OperationJson | undefined {
    const operation = this.#known.get(id);
    return operation === undefined ? undefined : { ...operation.shown };
  }

  /** Cancels one and waits for its end. `undefined`: it is not known. */
  async cancel(id: string): Promise<OperationJson | undefined> {
    const operation = this.#known.get(id);
    if (operation === undefined) return undefined;
    operation.stop.abort();
    await operation.ended;
    return { ...operation.shown };
  }

  async #run(
    operation: Operation,
    pool: PoolHandle,
    spec: OperationSpec,
  ): Promise<"done" | "cancelled"> {
    const { change, usual } = ACTIONS[spec.action];
    const { shown, stop: { signal } } = operation;
    // What a retry brings back may be dead again before the end: it is not retried twice.
    const sinceMs = pool.snapshot().nowMs;
    for (const state of spec.state === undefined ? usual : [spec.state]) {
      let cursor: string | undefined;
      do {
        await setImmediate(); // a store in memory answers at once: others get their turn here
        if (signal.aborted) return "cancelled";
        const page = await pool.list({ state, lane: spec.lane, limit: PAGE, cursor });
        const old = page.jobs.filter((job) => (job.endedAtMs ?? job.createdAtMs) <= sinceMs);
        const wanted = old.filter(spec.matches);
        shown.seen += old.length;
        shown.matched += wanted.length;
        for (let from = 0; from < wanted.length && !signal.aborted; from += TOGETHER) {
          const some = wanted.slice(from, from + TOGETHER);
          const changed = await Promise.all(some.map(({ id }) => pool.change(id, change)));
          shown.changed += changed.filter(({ ok }) => ok).length;
        }
        cursor = page.cursor;
      } while (cursor !== undefined);
    }
    return signal.aborted ? "cancelled" : "done";
  }

  #end(
    operation: Operation,
    status: "done" | "cancelled" | "failed",
    listener: OperationsListener,
    thrown: unknown,
  ): void {
    operation.shown.status = status;
    operation.shown.endedAtMs = this.#now();
    const ended = [...this.#known].filter(([, { shown }]) => shown.status !== "running");
    for (const [id] of ended.slice(0, Math.max(0, ended.length - KEPT))) this.#known.delete(id);
    listener.ended({ ...operation.shown }, thrown);
  }

  #running(): readonly Operation[] {
    return [...this.#known.values()].filter(({ shown }) => shown.status === "running");
  }
}

/** How many jobs there are to look at, where the pool knows: of those that wait. */
function totalOf(pool: PoolHandle, spec: OperationSpec): { readonly total?: number } {
  const states = spec.state === undefined ? ACTIONS[spec.action].usual : [spec.state];
  const lanes = pool.snapshot().lanes.filter(({ name }) =>
    spec.lane === undefined || name === spec.lane
  );
  let total = 0;
  for (const state of states) {
    if (!isWaiting(state)) return {};
    for (const lane of lanes) total += lane[state];
  }
  return { total };
}

/**
 * What handlers of a life do: they run for a while, return and throw oddities, and some ignore that
 * they are to end.
 *
 * @module
 */

import type { Clock } from "../../../src/time/clock.ts";
import { Fatal, RetryLater } from "../../../src/contract/errors.ts";
import type { Job, JobContext } from "../../../src/contract/job.ts";
import type { Plan } from "./draw.ts";

/** Who watches the handlers of one process. */
export interface Watcher {
  /** A handler begins. Returns how often its job has started. */
  began(job: Job, plan: Plan): number;
  /** A handler has ended. `thrown`: what it throws of its own accord. */
  ended(job: Job, thrown?: unknown): void;
}

/** A handler on the clock of its process. Jobs of schedules have no plan: they end at once. */
export function handlerOn(
  clock: Clock,
  watcher: Watcher,
): (job: Job, context: JobContext) => Promise<unknown> {
  return (job: Job, context: JobContext): Promise<unknown> => {
    const plan = job.payload as Plan | null; // nothing else is enqueued
    if (plan === null) return Promise.resolve("scheduled");
    const starts = watcher.began(job, plan);
    return new Promise((resolve, reject) => {
      let over = false;
      const end = (how: () => void, thrown?: unknown): void => {
        if (over) return;
        over = true;
        timer.cancel();
        watcher.ended(job, context.signal.aborted ? undefined : thrown);
        how();
      };
      const timer = clock.at(clock.nowMs() + plan.ms, () => {
        const thrown = thrownBy(plan, { job, context, starts });
        end(() => {
          if (thrown === undefined) resolve(resultOf(plan));
          else reject(thrown.value);
        }, thrown?.value);
      });
      if (!plan.heedsAbort) return;
      context.signal.addEventListener("abort", () => end(() => reject(context.signal.reason)));
    });
  };
}

/** An attempt, and how often its job has started. */
interface Started {
  readonly job: Job;
  readonly context: JobContext;
  readonly starts: number;
}

function thrownBy(
  { end }: Plan,
  { job: { attempt }, context, starts }: Started,
): { readonly value: unknown } | undefined {
  switch (end) {
    case "ok":
      return undefined;
    case "throw":
      return { value: new Error("It failed") };
    case "once":
      return attempt === 1 ? { value: new Error("It failed once") } : undefined;
    case "later":
      return starts < 3 ? { value: new RetryLater(30) } : undefined;
    case "refuse":
      if (starts >= 3) return undefined;
      context.overloaded(starts === 1 ? undefined : 40);
      return { value: new RetryLater(30) };
    case "gone":
      return starts < 3 ? { value: new Fatal("Gone", { gone: true }) } : undefined;
    case "fatal":
      return { value: new Fatal("No") };
    case "throw-text":
      return { value: "a text" };
    case "throw-undefined":
      return { value: undefined };
    case "throw-frozen":
      return { value: Object.freeze({ message: 17 }) };
    case "throw-hostile":
      return { value: hostile() };
  }
}

/** An error that cannot be read. */
function hostile(): unknown {
  return new Proxy(new Error("It cannot be read"), {
    get: (target, key) => {
      if (key === "message") throw new Error("It throws when it is read");
      return Reflect.get(target, key);
    },
  });
}

function resultOf({ result, resultBytes }: Plan): unknown {
  switch (result) {
    case "text":
      return "r".repeat(resultBytes);
    case "nothing":
      return undefined;
    case "null":
      return null;
    case "bigint":
      return { count: 12n };
    case "cycle": {
      const cycle: { self?: unknown } = {};
      cycle.self = cycle;
      return cycle;
    }
    case "function":
      return () => 1;
    case "map":
      return new Map([["a", 1]]);
    case "throwing":
      return {
        toJSON() {
          throw new Error("It is no JSON");
        },
      };
  }
}

/** The handler of the service soak: it does what its payload says, and writes down when. */

import { defineHandler, Fatal, RetryLater } from "../../mod.ts";

/** What a job of the soak does. */
export interface SoakPlan {
  readonly n: number;
  readonly ms: number;
  /** `block` holds the event loop, `deaf` ignores that it is to end. */
  readonly end: "ok" | "throw" | "once" | "later" | "odd" | "block" | "deaf";
  readonly key?: string;
  readonly pad: string;
  readonly resultBytes: number;
}

/** Held open: a process whose descriptors are used up writes down what it does all the same. */
const log = Deno.openSync(Deno.env.get("SOAK_LOG") ?? "", { append: true, create: true });

/** Runs one job. */
export const work = defineHandler({
  name: "work",
  run: async (job, { signal, fence }) => {
    const plan = job.payload as SoakPlan; // the soak enqueues nothing else
    const note = (what: string): void => {
      const line = `${what} ${plan.n} ${plan.key ?? "-"} ${fence} ${Deno.pid}\n`;
      log.writeSync(new TextEncoder().encode(line));
    };
    note("S");
    try {
      if (plan.end === "block") block(plan.ms);
      else await rest(plan.ms, plan.end === "deaf" ? undefined : signal);
      if (plan.end === "throw") throw new Fatal("no");
      if (plan.end === "once" && job.attempt === 1) throw new Error("not yet");
      if (plan.end === "odd" && job.attempt === 1) throw { odd: 17 };
      if (plan.end === "later" && job.cursor === undefined && fence < 2) throw new RetryLater(100);
      note("D");
      return "r".repeat(plan.resultBytes);
    } finally {
      note("E");
    }
  },
});

function block(ms: number): void {
  for (const untilMs = performance.now() + ms; performance.now() < untilMs;);
}

function rest(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms);
    signal?.addEventListener("abort", () => {
      clearTimeout(timer);
      reject(signal.reason);
    });
  });
}

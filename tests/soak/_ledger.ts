/** What the soak was promised, what handlers wrote down, and what the store says in the end. */

import type { SoakPlan } from "./_handler.ts";

/** A job as the API lists it. */
export interface Listed {
  readonly id: string;
  readonly state: string;
  readonly reason?: string;
  readonly payload: SoakPlan;
}

/** What handlers wrote down. */
export interface Notes {
  /** Jobs whose handler came to its end. */
  readonly done: ReadonlySet<number>;
  /** Starts in all. */
  readonly starts: number;
  /** Keys of which one process ran two handlers at once. */
  readonly together: readonly string[];
}

/** Jobs that the API has acknowledged: their plans by id. */
export class Acknowledged {
  readonly plans = new Map<string, SoakPlan>();

  /** Whether all of them are listed, and listed as ended. */
  haveEnded(listed: ReadonlyMap<string, Listed>): boolean {
    return [...this.plans.keys()].every((id) => /^(done|dead)$/.test(listed.get(id)?.state ?? ""));
  }

  /** What must hold and does not, once nothing is left to do. */
  faults(listed: ReadonlyMap<string, Listed>, { done, together }: Notes): readonly string[] {
    const faults = [...together];
    for (const [id, plan] of this.plans) {
      const job = listed.get(id);
      if (job === undefined) faults.push(`Job ${plan.n} (${id}) was acknowledged and is lost`);
      else if (job.payload.pad.length !== plan.pad.length) {
        faults.push(`Job ${plan.n} has another payload than the one acknowledged`);
      } else if (job.state === "done") {
        if (!done.has(plan.n)) faults.push(`Job ${plan.n} is done and no handler has ended it`);
      } else if (job.state !== "dead") {
        faults.push(`Job ${plan.n} is ${job.state} in the end`);
      } else if (plan.end !== "throw") {
        faults.push(`Job ${plan.n} (${plan.end}) is dead: ${job.reason}`);
      }
    }
    return faults;
  }
}

/** All jobs as a process lists them; only some, if it or its store does not answer just now. */
export async function listAll(url: string): Promise<ReadonlyMap<string, Listed>> {
  const listed = new Map<string, Listed>();
  let cursor: string | undefined;
  do {
    const more = cursor === undefined ? "" : `&cursor=${encodeURIComponent(cursor)}`;
    const response = await fetch(`${url}/api/pools/work/jobs?limit=500${more}`).catch(() => {});
    if (!response?.ok) {
      await response?.body?.cancel();
      return listed;
    }
    const page: { readonly jobs: readonly Listed[]; readonly cursor?: string } = await response
      .json();
    for (const job of page.jobs) listed.set(job.id, job);
    cursor = page.cursor;
  } while (cursor !== undefined);
  return listed;
}

/** Reads what handlers wrote down, a line for each start and end. */
export function readNotes(text: string): Notes {
  const done = new Set<number>();
  const running = new Map<string, number>();
  const together = new Set<string>();
  let starts = 0;
  // The last line of a killed process may be cut off: what a newline follows is whole.
  for (const line of text.split("\n").slice(0, -1)) {
    const [what, n, key, , pid] = line.split(" ");
    if (what === "D") done.add(Number(n));
    if (what === "S") starts++;
    if (key === "-" || what === "D") continue;
    const name = `${key} in process ${pid}`;
    const count = (running.get(name) ?? 0) + (what === "S" ? 1 : -1);
    running.set(name, count);
    if (count > 1) together.add(`Two handlers of ${name} ran at once`);
  }
  return { done, starts, together: [...together] };
}

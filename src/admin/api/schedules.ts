/**
 * Endpoints of schedules: look, run now, pause, resume.
 *
 * @module
 */

import type { PoolHandle, ScheduleView } from "../../runtime/handles.ts";
import type { ScheduleEndpoints } from "../http/schedule_endpoints.ts";
import type { ScheduledJobJson, ScheduleJson } from "../http/wire.ts";
import { timesText } from "../../explain/schedule_times.ts";
import { audit } from "./audit.ts";
import type { AdminContext } from "./context.ts";
import { answer, problem } from "../http/problem.ts";
import { rounded } from "../http/rounded.ts";
import { shownJob } from "./jobs.ts";
import { text, unknown } from "./query.ts";
import type { Answered, Exchange, Handlers } from "./route.ts";

/** Handlers of the endpoints of schedules. */
export function scheduleHandlers(context: AdminContext): Handlers<ScheduleEndpoints> {
  const { sluice } = context;
  return {
    "GET /api/schedules": {
      query: {
        pool: text((given) => {
          const names = sluice.pools.map(({ name }) => name);
          return names.includes(given) ? undefined : unknown("pool", given, names);
        }),
      },
      run: async ({ query: { pool } }) => answer(await listSchedules(context, pool), 200),
    },
    "POST /api/pools/:pool/schedules/:id/run": {
      running: true,
      run: (asked) => change(asked, "run", context),
    },
    "POST /api/pools/:pool/schedules/:id/pause": {
      run: (asked) => change(asked, "pause", context),
    },
    "POST /api/pools/:pool/schedules/:id/resume": {
      run: (asked) => change(asked, "resume", context),
    },
  };
}

/** Schedules of one pool, or of all, each with how its latest job ended. */
export async function listSchedules(
  context: AdminContext,
  pool?: string,
): Promise<readonly ScheduleJson[]> {
  const found: ScheduleJson[] = [];
  for (const handle of context.sluice.pools) {
    if (pool !== undefined && handle.name !== pool) continue;
    if (handle.settings.schedules.length === 0) continue;
    for (const view of await handle.schedules()) {
      found.push(await scheduleJson(handle, view, context));
    }
  }
  return found;
}

async function change(
  { c, target: { handle }, id }:
    | Exchange<"POST /api/pools/:pool/schedules/:id/run">
    | Exchange<"POST /api/pools/:pool/schedules/:id/pause">
    | Exchange<"POST /api/pools/:pool/schedules/:id/resume">,
  to: "run" | "pause" | "resume",
  context: AdminContext,
): Promise<Answered<"POST /api/pools/:pool/schedules/:id/pause">> {
  const view = await handle.changeSchedule(id, to);
  if (view === undefined) {
    const shown = JSON.stringify(id.slice(0, 100));
    return problem(
      404,
      `Pool "${handle.name}" has no schedule ${shown}: GET /api/schedules has all`,
    );
  }
  const { lane, paused, lastJob } = view;
  const after = { lane, times: timesText(view), ...(to === "run" ? { job: lastJob } : { paused }) };
  audit(c, context, { pool: handle.name, action: `${to} schedule`, target: id, after });
  return answer(await scheduleJson(handle, view, context), 200);
}

async function scheduleJson(
  handle: PoolHandle,
  { lastJob, lastAtMs, ...view }: ScheduleView,
  context: AdminContext,
): Promise<ScheduleJson> {
  const job = lastJob === undefined ? undefined : await jobOf(handle, lastJob, context);
  const last = job === undefined ? {} : { job, lastAtMs: job.createdAtMs ?? lastAtMs };
  return rounded({ pool: handle.name, ...view, ...last });
}

async function jobOf(
  handle: PoolHandle,
  id: string,
  context: AdminContext,
): Promise<ScheduledJobJson> {
  const record = await handle.find(id);
  if (record === undefined) return { id, state: "deleted" };
  const { state, createdAtMs, endedAtMs, error } = shownJob(record, context);
  return {
    id,
    state,
    createdAtMs,
    ...(endedAtMs === undefined ? {} : { endedAtMs }),
    ...(state === "dead" && error !== undefined ? { error } : {}),
  };
}

/**
 * Enqueues a job like another one, with changes.
 *
 * @module
 */

import type { JobRecord } from "../../contract/job.ts";
import type { AgainBody, ProblemError } from "../http/wire.ts";
import { jobTooLarge } from "../http/body.ts";
import { answer, badRequest, ENQUEUE_HEADERS, problem } from "../http/problem.ts";
import { audit } from "./audit.ts";
import type { AdminContext } from "./context.ts";
import { notTaken, sizeOf } from "./enqueue.ts";
import { findJob, noJob } from "./jobs.ts";
import type { Answered, Exchange } from "./route.ts";
import { isSubmitted } from "./submitted.ts";
import { unredacted } from "./unredacted.ts";

/** Answers `POST /api/jobs/:id/again`. */
export async function again(
  { c, id, body }: Exchange<"POST /api/jobs/:id/again">,
  context: AdminContext,
): Promise<Answered<"POST /api/jobs/:id/again">> {
  const found = await findJob(id, context);
  const target = context.target(found?.handle.name ?? "");
  if (found === undefined || target === undefined) return noJob(id);
  const { job } = found;
  const faults: ProblemError[] = [];
  const given = jobOf(body, job, faults, context);
  if (!isSubmitted(given, target.takes, faults) || faults.length > 0) return badRequest(faults);
  if (sizeOf(given) > context.maxJobBytes) return problem(413, jobTooLarge(context.maxJobBytes));
  try {
    const added = await found.handle.enqueue(given);
    audit(c, context, { pool: job.pool, action: "enqueue again", target: id, after: added.id });
    return answer({ id: added.id }, 202, ENQUEUE_HEADERS);
  } catch (thrown) {
    return notTaken(thrown);
  }
}

/** The job as it is asked for: what is left out is as it was. Nothing that names one job alone is taken over. */
function jobOf(
  body: AgainBody,
  { lane, type, key, payload }: Pick<JobRecord, "lane" | "type" | "key" | "payload">,
  faults: ProblemError[],
  { show }: AdminContext,
): object {
  const ownType = body.type ?? type;
  const ownKey = body.key === undefined ? key : body.key ?? undefined;
  const shown = { original: payload, shown: show(payload, payload) };
  return {
    lane: body.lane ?? lane,
    ...(ownType === "" ? {} : { type: ownType }),
    ...(ownKey === undefined ? {} : { key: ownKey }),
    payload: (body.payload === undefined ? payload : unredacted(body.payload, shown, faults)) ??
      null,
  };
}

/**
 * Finds jobs by a text in them.
 *
 * @module
 */

import type { JobRecord } from "../../contract/job.ts";
import type { Show } from "../../config/redaction.ts";
import { groupOf } from "./failures.ts";

/** What jobs are looked for by. Empty, or omitted: any. */
export interface JobMatch {
  /** A text in id, key, type, error or payload, in any case. */
  readonly match?: string | undefined;
  /** What its error has in common with others, as `groupOf` says. */
  readonly group?: string | undefined;
}

/**
 * Makes the function that tells whether a job is wanted. Of a payload only what may be shown counts: else a
 * search would tell what is hidden.
 */
export function matcher(
  { match = "", group = "" }: JobMatch,
  show: Show,
): (job: JobRecord) => boolean {
  const hasText = match === "" ? () => true : textMatcher(match, show);
  if (group === "") return hasText;
  return (job) => job.state === "dead" && show(groupOf(job)) === group && hasText(job);
}

function textMatcher(text: string, show: Show): (job: JobRecord) => boolean {
  const wanted = text.toLowerCase();
  const has = (part: string | undefined): boolean => part?.toLowerCase().includes(wanted) === true;
  return ({ id, key, type, error, payload }) =>
    has(id) || has(key) || has(type) || has(error && String(show(error, payload))) ||
    has(JSON.stringify(show(payload)));
}

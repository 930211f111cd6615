/**
 * Finds jobs by a text in them.
 *
 * @module
 */

import type { JobRecord } from "../../contract/job.ts";
import type { Show } from "../../config/redaction.ts";

/**
 * Makes the function that tells whether a job has a text in its id, key, type, error or payload, in any case. Of a payload
 * only what may be shown counts: else a search would tell what is hidden.
 */
export function matcher(
  text: string | undefined,
  show: Show,
): (job: JobRecord) => boolean {
  if (text === undefined) return () => true;
  const wanted = text.toLowerCase();
  const has = (part: string | undefined): boolean => part?.toLowerCase().includes(wanted) === true;
  return ({ id, key, type, error, payload }) =>
    has(id) || has(key) || has(type) || has(error && String(show(error, payload))) ||
    has(JSON.stringify(show(payload)));
}

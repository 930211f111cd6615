/**
 * Where shared state notes that the end of a job is to be handed on: the same in all stores.
 *
 * @module
 */

/** The key of a job's note. With an empty id: what those of a pool begin with, and none of another. */
export function handOnKey(pool: string, id: string): string {
  return `hand-on/${pool.replace(/[%/]/g, encodeURIComponent)}/${id}`;
}

/**
 * Splits many jobs into calls that a server takes.
 *
 * @module
 */

/** Most jobs of a call. */
const MOST_JOBS = 1_000;

/** Most bytes of a call: a little below what a server takes. */
const MOST_BYTES = 1_000_000;

/** Jobs of one call. */
export interface EnqueuePart {
  /** Places of the jobs among all. */
  readonly places: readonly number[];
  /** The jobs as a JSON list. */
  readonly body: string;
}

/** Splits jobs, each of them as JSON, in order. Only the places given. */
export function partsOf(
  jobs: readonly string[],
  places: readonly number[],
): readonly EnqueuePart[] {
  const parts: EnqueuePart[] = [];
  const encoder = new TextEncoder();
  let held: number[] = [];
  let bytes = 0;
  const close = (): void => {
    if (held.length === 0) return;
    parts.push({ places: held, body: `[${held.map((place) => jobs[place]).join(",")}]` });
    held = [];
    bytes = 0;
  };
  for (const place of places) {
    const more = encoder.encode(jobs[place]).byteLength + 1;
    if (held.length === MOST_JOBS || bytes + more > MOST_BYTES) close();
    held.push(place);
    bytes += more;
  }
  close();
  return parts;
}

/**
 * Guesses what was meant by a name that is not known.
 *
 * @module
 */

/** Most names that one is compared with. */
const MOST_COMPARED = 500;

/** Most names that a message lists. */
const MOST_NAMES = 20;

/**
 * The candidate that `given` is most likely a misspelling of: at most a third of its letters
 * differ. A name of one or two letters is near none but itself in another case. `undefined`: none is near.
 */
export function nearest(given: string, candidates: Iterable<string>): string | undefined {
  const wanted = given.toLowerCase();
  let best: string | undefined;
  const most = given.length < 3 ? 0 : Math.max(1, Math.floor(given.length / 3));
  let fewest = most + 1;
  for (const candidate of candidates) {
    if (Math.abs(candidate.length - given.length) >= fewest) continue; // each is an edit
    const edits = editDistance(wanted, candidate.toLowerCase());
    if (edits >= fewest) continue;
    best = candidate;
    fewest = edits;
  }
  return best;
}

/**
 * The end of a message about an unknown name: `: did you mean "urgent"?`, else what there is, else nothing.
 */
export function suggestion(given: string, candidates: Iterable<string>): string {
  const known = [...candidates];
  const near = nearest(given, known.slice(0, MOST_COMPARED));
  if (near !== undefined) return `: did you mean "${near}"?`;
  if (known.length === 0) return "";
  return known.length === 1 ? `: expected ${quoted(known)}` : `: expected one of ${quoted(known)}`;
}

/** Names in double quotes, separated by commas; of many the first, and how many more there are. */
export function quoted(names: Iterable<string>): string {
  const all = [...names];
  const listed = all.slice(0, MOST_NAMES).map((name) => `"${name}"`).join(", ");
  return all.length > MOST_NAMES ? `${listed} and ${all.length - MOST_NAMES} more` : listed;
}

/** Inserted, removed, changed and swapped letters that lead from one word to the other (optimal string alignment). */
function editDistance(from: string, to: string): number {
  let before: number[] = [];
  let previous = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let row = 1; row <= from.length; row++) {
    const current = [row];
    for (let column = 1; column <= to.length; column++) {
      const same = from[row - 1] === to[column - 1];
      let edits = Math.min(
        at(previous, column) + 1,
        at(current, column - 1) + 1,
        at(previous, column - 1) + (same ? 0 : 1),
      );
      if (
        row > 1 && column > 1 && from[row - 1] === to[column - 2] &&
        from[row - 2] === to[column - 1]
      ) {
        edits = Math.min(edits, at(before, column - 2) + 1);
      }
      current.push(edits);
    }
    before = previous;
    previous = current;
  }
  return at(previous, to.length);
}

function at(row: readonly number[], index: number): number {
  return row[index] ?? Infinity;
}

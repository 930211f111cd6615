/**
 * Splits workers among lanes.
 *
 * @module
 */

/**
 * Splits `workers` in proportion to `shares` by largest remainder (Hamilton's method), at least one
 * each; the first of two equal remainders gains.
 *
 * @param workers Whole number, at least as many as there are shares.
 * @param shares Numbers > 0, highest lane first.
 */
export function apportion(workers: number, shares: readonly number[]): readonly number[] {
  const seats = shares.map(() => 0);
  let open = shares.map((_, index) => index);
  let left = workers;
  // Lanes whose proportion comes to less than one get their one first; that lowers the proportion of
  // the others, so the question is asked again.
  for (;;) {
    const perShare = left / sumOf(open, shares);
    const small = open.filter((index) => shares[index]! * perShare < 1);
    if (small.length === 0) break;
    for (const index of small) seats[index] = 1;
    left -= small.length;
    open = open.filter((index) => !small.includes(index));
  }
  splitByRemainder(left, open, shares, seats);
  return seats;
}

function splitByRemainder(
  workers: number,
  open: readonly number[],
  shares: readonly number[],
  seats: number[],
): void {
  const sum = sumOf(open, shares);
  let left = workers;
  // A remainder is kept as an exact whole number where shares are whole: `workers * share mod sum`.
  const remainders = open.map((index) => {
    const quota = Math.floor(workers * shares[index]! / sum);
    seats[index] = quota;
    left -= quota;
    return { index, remainder: workers * shares[index]! - quota * sum };
  });
  remainders.sort((a, b) => b.remainder - a.remainder || a.index - b.index);
  for (const { index } of remainders.slice(0, left)) seats[index] = seats[index]! + 1;
}

function sumOf(indices: readonly number[], shares: readonly number[]): number {
  let sum = 0;
  for (const index of indices) sum += shares[index]!;
  return sum;
}

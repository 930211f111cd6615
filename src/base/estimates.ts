/**
 * Estimates with their standard errors.
 *
 * @module
 */

/** What a sample says, and how far off that may be. */
export interface Estimate {
  /** The value. */
  readonly value: number;
  /** Its standard error. */
  readonly error: number;
}

/**
 * r = sum T / sum U of k pairs that are independent of each other: of variance
 * k / (k - 1) sum (T - r U)^2 / (sum U)^2, times (k - 1) / (k - 3), that of Student's t. NaN of nothing.
 */
export function ratioOfSums(pairs: readonly (readonly [over: number, under: number])[]): Estimate {
  let [over, under, squares] = [0, 0, 0];
  for (const [t, u] of pairs) [over, under] = [over + t, under + u];
  const value = over / under;
  for (const [t, u] of pairs) squares += (t - value * u) ** 2;
  const { length } = pairs;
  return { value, error: Math.sqrt(length / (length - 3) * squares) / under };
}

/** The mean of two, weighed by their variances. They are of the same things, so errors do not average out. */
export function combined(one: Estimate, other: Estimate): Estimate {
  const [a, b] = [one.error ** 2 + LEAST, other.error ** 2 + LEAST];
  return {
    value: (b * one.value + a * other.value) / (a + b),
    error: (b * one.error + a * other.error) / (a + b),
  };
}

/** Variance that is added to each: both may be exact. */
const LEAST = 1e-9;

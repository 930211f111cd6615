/**
 * Whether another process lives: by its sign of life having changed, and by the observer's own time since.
 * Clocks of two processes are never compared.
 *
 * @module
 */

/** What an observer has seen of another. */
export interface Sighting<Sign> {
  /** Its sign of life when it was last looked at: another one each time that it shows that it lives. */
  readonly sign: Sign;
  /** How long it has been the same, as far as the observer has been there, ms. Dead is who is silent for its lease. */
  readonly silentMs: number;
}

/**
 * Looks at a sign of life, `sinceMs` after the look `before`. An observer that has itself been away (a
 * blocked event loop, a suspended machine) counts no more than half a lease of it, so that the others, who
 * were away with it, can speak first.
 */
export function sight<Sign>(
  before: Sighting<Sign> | undefined,
  sign: Sign,
  sinceMs: number,
  leaseMs: number,
): Sighting<Sign> {
  if (before === undefined || before.sign !== sign) return { sign, silentMs: 0 };
  return { sign, silentMs: before.silentMs + Math.min(sinceMs, leaseMs / 2) };
}

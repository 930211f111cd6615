/**
 * How often someone may try to log in.
 *
 * @module
 */

/** Tries at once. */
export const BURST = 5;

/** Time until an address has one more try, ms. */
export const REFILL_MS = 12_000;

/** Most addresses with a count of their own. The least recent one is forgotten first. */
const MAX_ADDRESSES = 1_000;

/** Counts failed tries by address. */
export class LoginLimit {
  /** When all tries of an address will have come back. */
  readonly #fullAtMs = new Map<string, number>();

  /** How long an address has to wait before it may try, ms. 0: not at all. */
  waitMs(address: string, nowMs: number): number {
    const spentMs = Math.max(0, (this.#fullAtMs.get(address) ?? 0) - nowMs);
    return Math.max(0, spentMs - (BURST - 1) * REFILL_MS);
  }

  /** Takes note of a failed try. */
  failed(address: string, nowMs: number): void {
    const fullAtMs = Math.max(nowMs, this.#fullAtMs.get(address) ?? 0) + REFILL_MS;
    this.#fullAtMs.delete(address);
    this.#fullAtMs.set(address, fullAtMs);
    if (this.#fullAtMs.size <= MAX_ADDRESSES) return;
    const [oldest] = this.#fullAtMs.keys();
    if (oldest !== undefined) this.#fullAtMs.delete(oldest);
  }
}

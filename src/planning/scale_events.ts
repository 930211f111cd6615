/**
 * Counts how often a target changes, and how often it turns back.
 *
 * @module
 */

/** Changes in the same direction so close together are one, ms. */
const ONE_EVENT_MS = 50;

/** Counts the changes of one target. */
export class ScaleEvents {
  /** Changes, those in the same direction within 50 ms counted once. */
  count = 0;
  /** Changes in the other direction than the one before. */
  reversals = 0;
  #target: number | undefined;
  #direction = 0;
  #changedAtMs = -Infinity;

  /** Takes the target in; the first one is no change. */
  look(nowMs: number, target: number): void {
    if (target === this.#target) return;
    if (this.#target !== undefined) this.#change(nowMs, Math.sign(target - this.#target));
    this.#target = target;
  }

  #change(nowMs: number, direction: number): void {
    const same = direction === this.#direction;
    if (!same && this.#direction !== 0) this.reversals++;
    if (!same || nowMs - this.#changedAtMs > ONE_EVENT_MS) this.count++;
    this.#direction = direction;
    this.#changedAtMs = nowMs;
  }
}

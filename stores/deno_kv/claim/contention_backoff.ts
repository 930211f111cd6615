/**
 * Where in a lane a process claims while others claim at its head: all of them would want the same
 * part, and but one would have to begin again. Without it 8 processes that drain one file fail with twice as
 * many commits and read 1.4 times as much; 4 notice little (bench/README.md).
 *
 * @module
 */

/** How long a process keeps away from the head, ms: what it would have taken there waits for others. */
const ASIDE_MS = 1000;

/** How many parts to choose among, for each process. */
const PARTS_EACH = 2;

/** Where the claims of one process begin, lane by lane. */
export class ContentionBackoff {
  readonly #spots = new Map<number, { readonly key: Deno.KvKey; readonly untilMs: number }>();
  readonly #random: () => number;
  #skips = 0;

  /** `random` spreads the processes. */
  constructor(random: () => number) {
    this.#random = random;
  }

  /** Others were quicker: the next claim leaves some parts at the head to them. */
  steps(peers: number): void {
    this.#spots.clear();
    this.#skips = 1 + Math.floor(this.#random() * PARTS_EACH * peers);
  }

  /** A claim was made, or there is nothing to claim. */
  settles(): void {
    this.#skips = 0;
  }

  /** Parts to leave out at the head. */
  get skips(): number {
    return this.#skips;
  }

  /** Claims begin here for a while. */
  keeps(ordinal: number, key: Deno.KvKey, nowMs: number): void {
    this.#spots.set(ordinal, { key, untilMs: nowMs + ASIDE_MS });
  }

  /** Where claims begin. `undefined`: at the head. */
  of(ordinal: number, nowMs: number): Deno.KvKey | undefined {
    const spot = this.#spots.get(ordinal);
    const restMs = spot === undefined ? 0 : spot.untilMs - nowMs; // more than at first: the clock was set back
    return this.#skips === 0 && restMs > 0 && restMs <= ASIDE_MS ? spot?.key : undefined;
  }
}

/**
 * The wall clock beside the clock that the runtime lives by: what is stored, and what people set,
 * follows the wall; what a process measures by itself never jumps.
 *
 * @module
 */

/** Steps that are remembered: what was stamped before still has the right age. */
const MOST_STEPS = 16;

/** One change of the difference. */
interface Step {
  /** When, in the clock's time. */
  readonly atMs: number;
  /** The difference before. */
  readonly beforeMs: number;
}

/** Told of a step, and by how much the wall clock is ahead of where it would have been, ms. */
export type StepListener = (byMs: number) => void;

/** What the wall clock shows more than a clock's `nowMs`: it changes when it is set, and after a sleep. */
export class Wall {
  #aheadMs = 0;
  readonly #steps: Step[] = [];
  readonly #listeners = new Set<StepListener>();
  readonly #heard: (isHeard: boolean) => void;

  /** `heard` is called when the first listener comes and when the last one leaves. */
  constructor(heard: (isHeard: boolean) => void = () => {}) {
    this.#heard = heard;
  }

  /** The difference now, ms. */
  get aheadMs(): number {
    return this.#aheadMs;
  }

  /** What it showed at a time of the clock; of one to come: what it will show if nobody sets it. */
  at(clockMs: number): number {
    if (this.#steps.length === 0) return clockMs; // the same number: jobs of one moment share it
    let aheadMs = this.#aheadMs;
    for (let index = this.#steps.length - 1; index >= 0; index--) {
      const { atMs, beforeMs } = this.#steps[index]!;
      if (clockMs >= atMs) break;
      aheadMs = beforeMs;
    }
    return clockMs + aheadMs;
  }

  /**
   * When it showed, or will show, `wallMs`, in the clock's time. What it showed twice, since it was set
   * back, was the second time; what it never showed, since it was set forward, was when that was done.
   */
  clockMs(wallMs: number): number {
    if (this.#steps.length === 0) return wallMs; // nearly always, and asked at every start
    for (let index = this.#steps.length - 1, aheadMs = this.#aheadMs; index >= 0; index--) {
      const { atMs, beforeMs } = this.#steps[index]!;
      if (wallMs >= atMs + aheadMs) return wallMs - aheadMs;
      if (wallMs >= atMs + beforeMs) return atMs;
      aheadMs = beforeMs;
    }
    return wallMs - this.#steps[0]!.beforeMs;
  }

  /** As `clockMs`, of what has been: what it shows only later was before it was set back. */
  pastMs(wallMs: number, nowMs: number): number {
    if (this.#steps.length === 0) return wallMs < nowMs ? wallMs : nowMs;
    const ms = this.clockMs(wallMs);
    if (ms <= nowMs) return ms;
    const step = this.#steps.findLast(({ atMs, beforeMs }) => wallMs - beforeMs <= atMs);
    return step === undefined ? nowMs : wallMs - step.beforeMs;
  }

  /** Calls `listener` at each step until the function that it returns is called. */
  onStep(listener: StepListener): () => void {
    this.#listeners.add(listener);
    if (this.#listeners.size === 1) this.#heard(true);
    return () => {
      if (this.#listeners.delete(listener) && this.#listeners.size === 0) this.#heard(false);
    };
  }

  /** The wall clock is ahead by `byMs` more since `atMs`, in the clock's time. For the clock's owner. */
  step(atMs: number, byMs: number): void {
    this.#steps.push({ atMs, beforeMs: this.#aheadMs });
    if (this.#steps.length > MOST_STEPS) this.#steps.shift();
    this.#aheadMs += byMs;
    for (const listener of [...this.#listeners]) listener(byMs);
  }
}

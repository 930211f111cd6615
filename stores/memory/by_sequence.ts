/**
 * Jobs by their number.
 *
 * @module
 */

import type { MemoryJob } from "./job.ts";

/** Jobs a block, a power of two. */
const BLOCK = 256;
/** Empty blocks that are kept to be used again. */
const MOST_SPARE = 8;

interface Block {
  readonly jobs: (MemoryJob | undefined)[];
  live: number;
}

/**
 * Finds a job in O(1). Numbers rise, so blocks of slots take a fraction of the room of a map entry a
 * job; a block goes when its last job does.
 */
export class JobsBySequence {
  readonly #blocks = new Map<number, Block>();
  #newest: Block | undefined;
  #newestNumber = -1;
  readonly #spare: Block[] = []; // an empty block is used again rather than recreated

  /** Adds a job, or takes another object for it. */
  set(job: MemoryJob): void {
    const slot = job.sequence & (BLOCK - 1);
    const number = (job.sequence - slot) / BLOCK;
    const block = number === this.#newestNumber && this.#newest !== undefined
      ? this.#newest
      : this.#open(number);
    if (block.jobs[slot] === undefined) block.live++;
    block.jobs[slot] = job;
  }

  /** Looks a job up. */
  get(sequence: number): MemoryJob | undefined {
    const slot = sequence & (BLOCK - 1);
    return this.#blocks.get((sequence - slot) / BLOCK)?.jobs[slot];
  }

  /** Forgets a job. */
  delete(sequence: number): void {
    const slot = sequence & (BLOCK - 1);
    const number = (sequence - slot) / BLOCK;
    const block = this.#blocks.get(number);
    if (block?.jobs[slot] === undefined) return;
    block.jobs[slot] = undefined;
    if (--block.live > 0) return;
    this.#blocks.delete(number);
    if (this.#spare.length < MOST_SPARE) this.#spare.push(block);
    if (number === this.#newestNumber) this.#newest = undefined;
  }

  /** Jobs in order of their numbers, from `sequence` on. */
  *from(sequence: number): Generator<MemoryJob> {
    for (const [number, block] of this.#blocks) {
      const first = number * BLOCK;
      if (first + BLOCK <= sequence) continue;
      for (let slot = Math.max(0, sequence - first); slot < BLOCK; slot++) {
        const job = block.jobs[slot];
        if (job !== undefined) yield job;
      }
    }
  }

  #open(number: number): Block {
    let block = this.#blocks.get(number);
    if (block === undefined) {
      block = this.#spare.pop() ?? { jobs: new Array(BLOCK), live: 0 };
      this.#blocks.set(number, block);
    }
    // An older number is another object for a known job: the next new one comes after the newest.
    if (number >= this.#newestNumber) {
      this.#newest = block;
      this.#newestNumber = number;
    }
    return block;
  }
}

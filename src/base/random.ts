/**
 * Seeded chance: the same seed gives the same draws on every machine.
 *
 * @module
 */

/**
 * A stream of numbers from 0 to below 1.
 *
 * Mulberry32 (Tommy Ettinger, 2017), seeded with an FNV-1a hash of `name`: streams of different
 * names do not disturb each other.
 *
 * @param seed Any number.
 * @param name Whose stream it is.
 */
export function randomStream(seed: number, name = ""): () => number {
  let state = hash(name, seed >>> 0);
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let bits = state;
    bits = Math.imul(bits ^ (bits >>> 15), bits | 1);
    bits ^= bits + Math.imul(bits ^ (bits >>> 7), bits | 61);
    return ((bits ^ (bits >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** A number of 32 bits that text and seed make: others for nearly any others. */
export function hash(text: string, seed: number): number {
  let value = (0x811c9dc5 ^ seed) >>> 0;
  for (let index = 0; index < text.length; index++) {
    value = Math.imul(value ^ text.charCodeAt(index), 0x01000193) >>> 0;
  }
  return Math.imul(value ^ (value >>> 16), 0x85ebca6b) >>> 0;
}

/**
 * What is live on the heap.
 *
 * @module
 */

/** Bytes in use after a full collection. @throws {TypeError} Without `--v8-flags=--expose-gc`. */
export function heapBytes(): number {
  // `--expose-gc` adds it; no type declares it.
  const { gc } = globalThis as { gc?: () => void };
  if (gc === undefined) throw new TypeError("No gc is exposed: run with --v8-flags=--expose-gc");
  for (let times = 0; times < 4; times++) gc();
  return Deno.memoryUsage().heapUsed;
}

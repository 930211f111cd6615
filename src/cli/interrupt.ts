/**
 * What a signal does to a verb: the first one ends it in order, another one at once.
 *
 * @module
 */

import { INTERRUPTED } from "./failure.ts";
import type { Io } from "./io.ts";
import { note } from "./print.ts";

/** Signals so close together are one: a terminal sends ctrl-C to `deno task` too, which passes it on. */
const ONE_SIGNAL_MS = 500;

/** Calls `first` at the first signal; a later one ends the process. Listens until the answer is called. */
export function onInterrupt(
  io: Io,
  first: () => void,
  nowMs: () => number = () => performance.now(),
): () => void {
  let firstAtMs: number | undefined;
  return io.onSignal(() => {
    if (firstAtMs === undefined) {
      firstAtMs = nowMs();
      first();
    } else if (nowMs() - firstAtMs > ONE_SIGNAL_MS) {
      note(io, "Ended by a second signal: running work was not finished");
      io.exit(INTERRUPTED);
    }
  });
}

/**
 * Keeps the process alive when a promise or callback of a handler fails with nobody to catch it.
 *
 * @module
 */

import { messageOf } from "../contract/errors.ts";
import type { Logger } from "../contract/job.ts";

/** What can be heard of strays. A part of `globalThis`. */
export type StrayTarget = Pick<EventTarget, "addEventListener" | "removeEventListener">;

/**
 * Logs and counts strays until the function it returns is called.
 *
 * @param log Gets a line each, with how many there were.
 * @param target Where they are heard. @default {globalThis}
 */
export function watchStrays(log: Logger, target: StrayTarget = globalThis): () => void {
  let count = 0;
  const hear = (event: Event): void => {
    event.preventDefault(); // without this the process ends
    const reason = "reason" in event ? event.reason : "error" in event ? event.error : undefined;
    const what = event.type === "error" ? "A callback threw" : "A promise was rejected";
    log.error(`${what} and nothing caught it: await it in the handler, or catch it`, {
      error: messageOf(reason),
      stack: reason instanceof Error ? reason.stack : undefined,
      count: ++count,
    });
  };
  target.addEventListener("unhandledrejection", hear);
  target.addEventListener("error", hear);
  return () => {
    target.removeEventListener("unhandledrejection", hear);
    target.removeEventListener("error", hear);
  };
}

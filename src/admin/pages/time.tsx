/**
 * Times on pages. The server knows no reader's zone and writes UTC; a script makes it theirs.
 *
 * @module
 */

/** @jsxImportSource hono/jsx */

import type { FC } from "hono/jsx";
import { LAST_TIME_MS } from "../../time/iso_time.ts";

/** A time, to the second. */
export function Time({ atMs }: { atMs: number }): ReturnType<FC> {
  if (atMs > LAST_TIME_MS) return <span>never</span>;
  const iso = new Date(atMs).toISOString();
  return (
    <time datetime={iso} title={iso}>
      {iso.slice(0, 19).replace("T", " ")} UTC
    </time>
  );
}

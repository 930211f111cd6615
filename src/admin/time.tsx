/**
 * Times on pages. The server knows no reader's zone and writes UTC; a script makes it theirs.
 *
 * @module
 */

/** @jsxImportSource hono/jsx */

import type { FC } from "hono/jsx";

/** A time, to the second. */
export function Time({ atMs }: { atMs: number }): ReturnType<FC> {
  const iso = new Date(atMs).toISOString();
  return (
    <time datetime={iso} title={iso}>
      {iso.slice(0, 19).replace("T", " ")} UTC
    </time>
  );
}

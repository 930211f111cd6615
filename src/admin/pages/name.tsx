/**
 * Names of pools and lanes where there is little room.
 *
 * @module
 */

/** @jsxImportSource hono/jsx */

import type { FC } from "hono/jsx";
import { middleOut } from "../../base/middle_out.ts";

/** Longest name, characters: longer ones lose their middle. */
const LONGEST = 28;

/** A name, which is shown whole where the reader points; a link if it leads somewhere. */
export function Name({ name, href }: { name: string; href?: string }): ReturnType<FC> {
  const shown = middleOut(name, LONGEST);
  const title = shown === name ? undefined : name;
  if (href !== undefined) return <a href={href} title={title}>{shown}</a>;
  return title === undefined ? <>{shown}</> : <span title={title}>{shown}</span>;
}

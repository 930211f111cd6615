/**
 * Which pools the first page lists, and the addresses that ask for others.
 *
 * @module
 */

import { ordered, orderOf } from "./pool_order.ts";
import type { Troubled } from "./troubled.ts";

/** Pools on a page. */
const PAGE = 50;

/** Of this many pools or fewer each shows its lanes. */
const FEW = 12;

/** What was asked for. */
export interface ListQuery {
  /** `?sort=`. Empty: trouble first, else as in the config. */
  readonly sort: string;
  /** Text in the name of a pool or a lane. Empty: any. */
  readonly match: string;
  /** Which page, from 1. */
  readonly page: number;
  /** True: pools that are well are listed beside those that are not. */
  readonly isUnfolded: boolean;
}

/** What is listed. */
export interface PoolList {
  /** All pools that match. */
  readonly matching: readonly Troubled[];
  /** Those on this page. */
  readonly shown: readonly Troubled[];
  /** Pools that are well and not listed. */
  readonly folded: number;
  /** Which page it is, from 1. */
  readonly page: number;
  /** How many there are. */
  readonly pages: number;
  /** True: also pools that are well show their lanes. */
  readonly hasLanes: boolean;
}

/** Chooses from all pools, which come with those in trouble first. */
export function listOf(
  pools: readonly Troubled[],
  { sort, match, page: wanted, isUnfolded }: ListQuery,
): PoolList {
  const text = match.toLowerCase();
  const matching = pools.filter(({ pool: { pool, lanes } }) =>
    [pool, ...lanes.map(({ name }) => name)].some((name) => name.toLowerCase().includes(text))
  );
  const amiss = matching.filter(({ troubles: [worst] }) =>
    worst !== undefined && worst.tone !== "quiet"
  );
  // Who asks for an order or a name wants to see them all.
  const isFolded = !isUnfolded && sort === "" && text === "" && amiss.length > 0;
  const listed = isFolded ? amiss : matching;
  const pages = Math.max(1, Math.ceil(listed.length / PAGE));
  const page = Math.min(wanted, pages);
  return {
    matching,
    shown: ordered(listed, orderOf(sort)).slice((page - 1) * PAGE, page * PAGE),
    folded: matching.length - listed.length,
    page,
    pages,
    hasLanes: pools.length <= FEW,
  };
}

/** The query of an address, with some of it changed. What the page does by itself is left out. */
export function addressOf(query: ListQuery, change: Partial<ListQuery> = {}): string {
  const { sort, match, page, isUnfolded } = { ...query, ...change };
  const entries = Object.entries({
    sort,
    match,
    well: isUnfolded ? "shown" : "",
    page: page === 1 ? "" : String(page),
  });
  return `?${new URLSearchParams(entries.filter(([, value]) => value !== ""))}`;
}

/**
 * What one process is to hold of each cap, by what the record says of all of them.
 *
 * @module
 */

import { apportion, isNews, type Need, type PermitEntry, type PermitShare } from "./permits.ts";

/** The processes in the record, as one of them sees it. */
export interface Company {
  /** The others that may still use what they hold, in the order in which they came. */
  readonly others: readonly PermitEntry[];
  /** How many of `others` came before this one. */
  readonly place: number;
  /** What this one has written. `undefined`: it is not in the record. */
  readonly mine: PermitEntry | undefined;
  /** Its pool, where several share the record. */
  readonly pool?: string | undefined;
  /** What the wall clock shows, ms. */
  readonly wallMs: number;
}

/** What is to become of one part. */
export interface PartPlan extends Need {
  /** What the record says that it holds. */
  readonly has: number;
  /** What it may use: less than it holds at once, more only once that is committed. */
  readonly keeps: number;
  /** Since when it has some, or none, by the wall clock, ms. `undefined`: it is not in the record. */
  readonly sinceMs: number | undefined;
}

/** What is to become of all parts. */
export interface PermitPlan {
  /** By the cap's name. */
  readonly parts: ReadonlyMap<string, PartPlan>;
  /** Others would use more than they hold: it has to look again whether it can give. */
  readonly othersShort: boolean;
}

/** Plans. Nobody gives what nobody lacks, so that permits do not move with every change of load. */
export function planPermits(needs: ReadonlyMap<string, Need>, company: Company): PermitPlan {
  const parts = new Map<string, PartPlan>();
  let othersShort = false;
  for (const [key, need] of needs) {
    const { plan, isShort } = planOne(key, need, company);
    parts.set(key, plan);
    othersShort ||= isShort;
  }
  return { parts, othersShort };
}

/** What goes into the record, after what was lowered is in effect: no less than is in use. */
export function partsOf(
  { parts }: PermitPlan,
  { pool, wallMs }: Pick<Company, "pool" | "wallMs">,
): Readonly<Record<string, PermitShare>> {
  return Object.fromEntries(
    [...parts].map(([key, plan]): [string, PermitShare] => {
      const { cap, step = 1, has, keeps, wants, used } = plan;
      const holds = keeps < has ? Math.min(has, Math.max(keeps, used())) : keeps;
      const share = [holds, Math.min(cap, wants), cap] as const;
      if (pool === undefined) return [key, share]; // all are of one pool: no turns
      const isAsBefore = plan.sinceMs !== undefined && has > 0 === holds > 0;
      return [key, [...share, step, isAsBefore ? plan.sinceMs : wallMs]];
    }),
  );
}

/** True if others should hear of new parts: something moves, or is missing that they may have. */
export function isWorthTelling(
  before: Readonly<Record<string, PermitShare>>,
  now: Readonly<Record<string, PermitShare>>,
): boolean {
  for (const [key, [has, wants, cap, step]] of Object.entries(now)) {
    const [had, wanted, oldCap, oldStep] = before[key] ?? [0, 0, cap, step];
    if (cap !== oldCap || step !== oldStep) return true;
    if (has < had || (has > had && wants > had)) return true;
    if (wants > has && isNews(wanted, wants)) return true;
  }
  return Object.keys(before).some((key) => !(key in now));
}

function planOne(
  key: string,
  need: Need,
  { others, place, mine, pool, wallMs }: Company,
): { readonly plan: PartPlan; readonly isShort: boolean } {
  const staying = others.filter(({ leftMs }) => leftMs === undefined);
  // During a deploy they may know of different caps: the least holds.
  const cap = Math.min(need.cap, ...staying.map(({ parts }) => parts[key]?.[2] ?? Infinity));
  const wants = Math.min(cap, need.wants);
  const has = mine === undefined ? 0 : mine.alone ? need.cap : mine.parts[key]?.[0] ?? 0;
  const gone = others.slice(0, place).filter(({ leftMs }) => leftMs !== undefined).length;
  const own = place - gone;
  const claims = staying.map((entry) => {
    const [, wants = 0, , step = 1, sinceMs = 0] = entry.parts[key] ?? [];
    const has = hasOf(entry, key) > 0;
    // All go by the same wishes, or two of them take the same rest for their own.
    return { wants: Math.min(cap, wants), step, pool: entry.pool ?? "", has, sinceMs };
  });
  const sinceMs = mine?.parts[key]?.[4];
  const claim = {
    wants,
    step: need.step ?? 1,
    pool: pool ?? "",
    has: has > 0,
    sinceMs: sinceMs ?? 0,
  };
  const shares = apportion(cap, claims.toSpliced(own, 0, claim), wallMs);
  const share = shares[own]!;
  let isShort = false;
  let isLate = false;
  staying.forEach((entry, index) => {
    const theirs = hasOf(entry, key);
    const wish = claims[index]!.wants;
    if (wish > theirs) isShort = true;
    if (Math.min(wish, shares[index < own ? index : index + 1]!) > theirs) isLate = true;
  });
  const holding = need.cools ? others : staying;
  const free = cap - has - holding.reduce((sum, entry) => sum + hasOf(entry, key), 0);
  const gives = has > share && (isLate || free < 0 || mine?.alone === true);
  const most = has + Math.max(0, Math.min(share - has, free));
  const takes = Math.max(has, most - most % (need.step ?? 1));
  return { plan: { ...need, has, keeps: gives ? share : takes, sinceMs }, isShort };
}

/** One that was alone may use all of a cap: nothing is free until it has said otherwise. */
function hasOf({ alone, parts }: PermitEntry, key: string): number {
  return alone ? Infinity : parts[key]?.[0] ?? 0;
}

/**
 * Permits of the caps that hold over several processes: the record that the processes share, and how
 * a cap is divided by what each of them wants.
 *
 * @module
 */

/**
 * What one process holds of one cap, and would like to hold; of how many permits it knows, how many at
 * a time are of use to it, and since when it has some, or none, by the wall clock. Those from before
 * December 2026 say only the first two.
 */
export type PermitShare = readonly [
  has: number,
  wants: number,
  cap?: number,
  step?: number,
  sinceMs?: number,
];

/** One process in the record; of a record that several pools share, one pool of a process. */
export interface PermitEntry {
  /** Rises with each of its commits: shows that it lives. */
  readonly beat: number;
  /** Others may take what it holds once they have seen no change for so long, ms. */
  readonly staleMs: number;
  /** How long its starts count against a rate, ms. 0: there is no rate. */
  readonly coolMs: number;
  /** Name of its process, where others can look whether that still is. */
  readonly process?: string;
  /** Several entries of one process say the same: none of them dies alone. */
  readonly host?: string;
  /** Its pool, where several share the record. */
  readonly pool?: string;
  /** True: it was the only one, and holds all of every cap. */
  readonly alone?: boolean;
  /** It has left: what it holds is free once others have seen it so for so long, ms. */
  readonly leftMs?: number;
  /** Its part of each cap, by the cap's name. */
  readonly parts: Readonly<Record<string, PermitShare>>;
}

/** Who holds what. The parts of a cap add up to no more than the cap. */
export interface PermitRecord {
  /** Number of the next process. */
  readonly next: number;
  /** Processes by number. */
  readonly holders: Readonly<Record<string, PermitEntry>>;
}

/** How a pool uses a named downstream. */
export interface SharedUse {
  /** Its name. */
  readonly downstream: string;
  /** What of it. */
  readonly what: "connections" | "rates";
  /** Connections for all pools of all processes. `Infinity`: it is about rates. */
  readonly connections: number;
  /** Connections that a worker takes, or calls that a job makes. */
  readonly each: number;
}

/** What a process needs of one cap. */
export interface Need {
  /** Permits that there are, whole, over all processes. Where others know of fewer, that holds. */
  readonly cap: number;
  /** Permits that it would use, no slack. */
  readonly wants: number;
  /** True for starts: what is used stays so for a time, also when its process is gone. */
  readonly cools: boolean;
  /** How many permits one worker takes: fewer are of no use. @default {1} */
  readonly step?: number;
  /** Permits in use now: workers there are, starts that still count against the rate. */
  readonly used: () => number;
}

/**
 * Divides whole permits: the greatest least part (max-min fairness) up to what each wants, then what
 * nobody asked for evenly. The remainder goes to those who want least, then to those who came first.
 *
 * @returns Parts in the order of `wants`. They add up to `cap`.
 */
export function divide(cap: number, wants: readonly number[]): readonly number[] {
  const parts = wants.map(() => 0);
  let left = cap;
  const open = wants.map((_, index) => index).sort((a, b) => wants[a]! - wants[b]! || a - b);
  open.forEach((index, place) => {
    const fair = Math.ceil(left / (open.length - place));
    parts[index] = Math.min(wants[index]!, Math.min(fair, left));
    left -= parts[index];
  });
  if (left === 0 || wants.length === 0) return parts;
  const each = Math.floor(left / wants.length);
  const more = left % wants.length;
  return parts.map((part, index) => part + each + (index < more ? 1 : 0));
}

/** What one asks of a cap. */
export interface PermitClaim {
  /** Permits that it would use. */
  readonly wants: number;
  /** How many permits one of its workers takes: fewer are of no use. */
  readonly step: number;
  /** Its pool, or what else counts as one with others, however many they are. */
  readonly pool: string;
  /** It has some now. */
  readonly has?: boolean;
  /** Since when it has some, or none, by the wall clock, ms. @default {0} */
  readonly sinceMs?: number;
}

/** Where there is too little for each pool at once, they take turns of so long, ms. */
const TURN_MS = 1000;

/**
 * Divides whole permits between pools, then what each gets between its processes: with twice the
 * processes a pool gets no more. What is no whole step for one goes to another, so some may be left.
 * Where not every pool can have a step, they take turns: who has none for the longest goes first.
 *
 * @returns Parts in the order of `claims`, whole steps each. They add up to `cap` at most.
 */
export function apportion(
  cap: number,
  claims: readonly PermitClaim[],
  wallMs = 0,
): readonly number[] {
  const pools = [...Map.groupBy(claims.keys(), (index) => claims[index]!.pool).values()];
  const turns = turnsOf(cap, pools.map((own) => own.map((index) => claims[index]!)), wallMs);
  const parts = claims.map(() => 0);
  let left = cap;
  const give = (index: number, most: number): void => {
    const whole = most - most % claims[index]!.step;
    parts[index]! += whole;
    left -= whole;
  };
  for (const claim of turns) if (claim.step <= left) give(claims.indexOf(claim), claim.step);
  if (turns.length === 0) {
    const wishOf = (index: number): number => claims[index]!.wants;
    const wishes = pools.map((own) => own.reduce((sum, index) => sum + wishOf(index), 0));
    divide(cap, wishes).forEach((poolPart, at) => {
      const own = pools[at]!;
      divide(poolPart, own.map(wishOf)).forEach((part, place) => give(own[place]!, part));
    });
  }
  for (;;) {
    const next = nextOf(claims, parts, left);
    if (next === undefined) return parts;
    give(next, claims[next]!.step);
  }
}

/** Who gets one step more of what is left: the pool that has least. `undefined`: nobody wants a whole one. */
function nextOf(
  claims: readonly PermitClaim[],
  parts: readonly number[],
  left: number,
): number | undefined {
  if (left === 0) return undefined;
  const sums = new Map<string, number>();
  claims.forEach(({ pool }, index) => sums.set(pool, (sums.get(pool) ?? 0) + parts[index]!));
  const sumOf = (index: number): number => sums.get(claims[index]!.pool)!; // each was summed up
  return claims.keys()
    .filter((index) => parts[index]! < claims[index]!.wants && claims[index]!.step <= left)
    .toArray()
    .sort((a, b) => sumOf(a) - sumOf(b) || parts[a]! - parts[b]! || a - b)[0];
}

/** One claim of each pool, in the order in which they are served. Empty: there is enough for each. */
function turnsOf(
  cap: number,
  pools: readonly (readonly PermitClaim[])[],
  wallMs: number,
): readonly PermitClaim[] {
  const wanting = pools.map((own) => own.filter(({ wants, step }) => wants >= step))
    .filter((own) => own.length > 0);
  const least = wanting.map((own) => Math.min(...own.map(({ step }) => step)));
  if (wanting.length < 2 || least.reduce((sum, step) => sum + step, 0) <= cap) return [];
  const ranked = wanting.map((own) => {
    const holding = own.filter(({ has }) => has);
    const times = (holding.length > 0 ? holding : own).map(({ sinceMs = 0 }) => sinceMs);
    const isOn = holding.length > 0 && wallMs - Math.min(...times) < TURN_MS;
    const rank = isOn ? 0 : holding.length === 0 ? 1 : 2;
    const sinceMs = rank === 1 ? Math.max(...times) : Math.min(...times);
    return { claim: holding[0] ?? own[0]!, rank, sinceMs };
  });
  return ranked.sort((a, b) => a.rank - b.rank || a.sinceMs - b.sinceMs).map(({ claim }) => claim);
}

/** True if others should hear of another wish: it has changed by a quarter, and by 1 at least. */
export function isNews(before: number, now: number): boolean {
  return Math.abs(now - before) >= Math.max(1, before / 4);
}

/**
 * The starts of a long window, over processes and restarts: what the store keeps of them, and what a
 * process may draw.
 *
 * @module
 */

/** Starts at nearly the same time: when the last of them was, wall clock, and how many. */
export type LedgerStarts = readonly [atMs: number, count: number];

/** What a process holds: until when it may start jobs of it, how many, and the number of its draw. */
export type LedgerBlock = readonly [untilMs: number, count: number, draw: number];

/** What the store keeps of one limit. */
export interface StartRecord {
  /** The number of the next process. */
  readonly next: number;
  /** When it was written, by the clock of who did. */
  readonly atMs: number;
  /** When the pace lets the next job of a lower lane start. */
  readonly dueAtMs: number;
  /** Starts that count, oldest first. */
  readonly starts: readonly LedgerStarts[];
  /** What processes have drawn, by their numbers. */
  readonly held: Readonly<Record<string, LedgerBlock>>;
}

/** A limit as a ledger holds it. */
export interface LedgerRules {
  /** Starts in each window. */
  readonly most: number;
  /** Length of the window, ms. */
  readonly spanMs: number;
  /** How many starts of lower lanes may come at once after a pause. */
  readonly burst: number;
}

/** What a process has to say. */
export interface LedgerDraw {
  /** Its number. Empty: it has none. */
  readonly id: string;
  /** Number of the draw that it knows its block by. */
  readonly known: number;
  /** When the jobs started that it took of it. */
  readonly started: readonly number[];
  /** Jobs of the highest lane that wait: they need not keep the pace. */
  readonly first: number;
  /** Jobs of other lanes that wait. */
  readonly others: number;
}

/** What came of a draw, once the record is stored. */
export interface LedgerAnswer {
  readonly id: string;
  /** What the store is to keep. */
  readonly record: StartRecord;
  /** How many jobs may start. */
  readonly count: number;
  /** They may until then. */
  readonly untilMs: number;
  /** When the window lets another start, and the pace one of a lower lane. */
  readonly freeAtMs: number;
  readonly dueAtMs: number;
}

const EMPTY: StartRecord = { next: 1, atMs: -Infinity, dueAtMs: -Infinity, starts: [], held: {} };

/** A process draws what it needs for so long, ms: a crash loses that much at most. */
const BLOCK_MS = 1000;

/** Most that a process draws at once, if that is not more than it needs for that time. */
const MOST_AT_ONCE = 100;

/** What is not used for so long counts as used then, ms. */
const VALID_MS = 3000;

/** Starts that lie within this part of a window are kept as one. */
const PARTS = 240;

/** Starts of lower lanes that come late are made up for as far as this, ms: a draw, a timer. */
const LATE_MS = 500;

/**
 * Gives back what the process had, with the starts that it made of it, and draws again. Never more than
 * the window leaves: each start counts from when it was, what others hold until they have said so or it
 * has lapsed.
 *
 * @param nowMs Of the wall clock.
 */
export function draw(
  record: StartRecord = EMPTY,
  { most, spanMs, burst }: LedgerRules,
  { id: known, known: number, started, first, others }: LedgerDraw,
  nowMs: number,
): LedgerAnswer {
  const id = known === "" ? String(record.next) : known;
  const { [id]: own, ...rest } = record.held;
  const starts = record.starts.filter(([atMs]) => atMs + spanMs > nowMs);
  const held: Record<string, LedgerBlock> = {};
  for (const [holder, block] of Object.entries(rest)) {
    if (block[0] > nowMs) held[holder] = block;
    else if (block[0] + spanMs > nowMs) enter(starts, block[0], block[1], spanMs);
  }
  // A block of another draw: that one was stored, though nobody said so, and these starts with it.
  const isOwn = own !== undefined && own[2] === number;
  for (const atMs of isOwn ? started : []) enter(starts, atMs, 1, spanMs);
  const paceMs = spanMs / most;
  const unused = own === undefined ? 0 : own[1] - (isOwn ? started.length : 0);
  let dueAtMs = record.dueAtMs - unused * paceMs;

  let used = 0;
  for (const [, count] of starts) used += count;
  for (const [, count] of Object.values(held)) used += count;
  const each = Math.max(1, Math.floor(most * BLOCK_MS / spanMs));
  const fromMs = Math.max(dueAtMs, nowMs - mostLateMs(burst, paceMs));
  const due = fromMs > nowMs ? 0 : Math.max(each, 1 + Math.floor((nowMs - fromMs) / paceMs));
  const wanted = Math.max(first, Math.min(first + others, due));
  const count = Math.max(0, Math.min(wanted, Math.max(each, MOST_AT_ONCE), most - used));
  if (count > 0) dueAtMs = Math.min(fromMs + count * paceMs, nowMs + spanMs);
  const untilMs = nowMs + VALID_MS;
  const draws = (own?.[2] ?? 0) + 1;
  if (count > 0) held[id] = [untilMs, count, draws];
  const next = known === "" ? record.next + 1 : record.next;
  const oldest = Math.min(
    starts[0]?.[0] ?? Infinity,
    ...Object.values(held).map(([untilMs]) => untilMs),
  );
  return {
    id,
    record: { next, atMs: nowMs, dueAtMs, starts, held },
    count,
    untilMs,
    freeAtMs: used + count < most ? nowMs : oldest + spanMs,
    dueAtMs,
  };
}

/** How long a pause or a delay is made up for, ms. */
export function mostLateMs(burst: number, paceMs: number): number {
  return Math.max(LATE_MS, (burst - 1) * paceMs);
}

/** Enters starts; those of one part of the window count from when the last of them was. */
function enter(starts: LedgerStarts[], atMs: number, count: number, spanMs: number): void {
  const part = (ms: number): number => Math.floor(ms * PARTS / spanMs);
  let place = starts.length;
  while (place > 0 && starts[place - 1]![0] > atMs) place--;
  const after = starts[place];
  const before = starts[place - 1];
  if (after !== undefined && part(after[0]) === part(atMs)) {
    starts[place] = [after[0], after[1] + count];
  } else if (before !== undefined && part(before[0]) === part(atMs)) {
    starts[place - 1] = [atMs, before[1] + count];
  } else starts.splice(place, 0, [atMs, count]);
}

/**
 * Names of segments and ids of jobs: an id says where its job was put first.
 *
 * @module
 */

/** Digits of the time at the front of a segment's name: enough until 2059. */
const TIME_DIGITS = 8;

/** Digits of the number at the end of a segment's name. */
const NUMBER_DIGITS = 4;

/** Names repeat after this many, in another ms by then. */
const NUMBERS = 36 ** NUMBER_DIGITS;

const ID = /^([0-9a-z]{16,32})-([0-9a-z]+)\.([0-9a-z]+)(?:\.([0-9a-z]+))?$/;

/** What an id says. */
export interface IdParts {
  /** Name of the segment that the job was added in. */
  readonly segment: string;
  /** Number of its lane within the pool. */
  readonly ordinal: number;
  /** Its place in the segment. */
  readonly index: number;
  /** How long after its adding it was first due, ms. */
  readonly delayMs: number;
}

/** Makes names of segments: in order of time, then of member, then of making. */
export class SegmentNames {
  readonly #tag: string;
  #number = 0;

  /** Numbers the segments of one member. No two members have the same number. */
  constructor(memberId: number) {
    this.#tag = tagOf(memberId);
  }

  /** A name that no other segment has. */
  next(createdAtMs: number): string {
    const time = createdAtMs.toString(36).padStart(TIME_DIGITS, "0");
    const number = (this.#number++ % NUMBERS).toString(36).padStart(NUMBER_DIGITS, "0");
    return time + this.#tag + number;
  }
}

/** How a member's number is written in its segments' names. */
export function tagOf(memberId: number): string {
  return memberId.toString(36).padStart(4, "0");
}

/** The member with a tag. */
export function workerOf(tag: string): number {
  return Number.parseInt(tag, 36);
}

/** The member's tag in a segment's name. */
export function tagIn(segment: string): string {
  return segment.slice(TIME_DIGITS, -NUMBER_DIGITS);
}

/** When the jobs of a segment were added, ms since epoch. */
export function createdIn(segment: string): number {
  return Number.parseInt(segment.slice(0, TIME_DIGITS), 36);
}

/** Writes an id. */
export function formatId({ segment, ordinal, index, delayMs }: IdParts): string {
  const id = `${segment}-${ordinal.toString(36)}.${index.toString(36)}`;
  return delayMs === 0 ? id : `${id}.${delayMs.toString(36)}`;
}

/** Reads an id. `undefined`: no job has it. */
export function parseId(id: string): IdParts | undefined {
  const found = ID.exec(id);
  if (found === null) return undefined;
  const [, segment = "", ordinal = "", index = "", delay = "0"] = found;
  const parts = {
    segment,
    ordinal: Number.parseInt(ordinal, 36),
    index: Number.parseInt(index, 36),
    delayMs: Number.parseInt(delay, 36),
  };
  return formatId(parts) === id ? parts : undefined;
}

/** Below 0 if `a` was added before `b`, above 0 if after. */
export function compareAge(
  a: Pick<IdParts, "segment" | "index">,
  b: Pick<IdParts, "segment" | "index">,
): number {
  if (a.segment === b.segment) return a.index - b.index;
  return a.segment < b.segment ? -1 : 1;
}

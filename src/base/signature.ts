/**
 * What failures have in common: a message without what differs from one job to the next.
 *
 * @module
 */

/** Longest signature, characters. */
const LONGEST = 200;

/** What differs, each with what takes its place. Addresses and ids come before the numbers in them. */
const DIFFERENT: readonly (readonly [pattern: RegExp, place: string])[] = [
  [/\b[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}/g, "<address>"],
  [
    /"(?:[^"\\\n]|\\.){0,1000}"|`[^`\n]{0,1000}`|(?<![\p{L}\p{N}])'[^'\n]{0,1000}'(?![\p{L}\p{N}])/gu,
    "<value>",
  ],
  [/\b[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}\b/gi, "<id>"],
  [/\b(?=[a-z_-]*\d)(?=\d*[a-z])[\da-z_-]{8,}\b/gi, "<id>"],
  [/\d+(?:[.,:]\d+)*/g, "<n>"],
  [/\s+/g, " "],
];

/** Statuses tell failures apart, as no other numbers do. */
const STATUS = /\b(?:answered|status|HTTP)(?: code)?:? ([1-5]\d\d)\b/i;

/**
 * A message with ids, numbers, addresses and quoted values taken out, 200 characters of it at most: those
 * of one cause have the same. The HTTP status that it names stays.
 */
export function signatureOf(message: string): string {
  const status = STATUS.exec(message);
  if (status === null) return without(message);
  const at = status.index + status[0].length - 3;
  return cut(`${without(message.slice(0, at))}${status[1]}${without(message.slice(at + 3))}`);
}

function without(message: string): string {
  let text = message.slice(0, 10 * LONGEST);
  for (const [pattern, place] of DIFFERENT) text = text.replaceAll(pattern, place);
  return cut(text);
}

function cut(text: string): string {
  return text.length <= LONGEST ? text : `${text.slice(0, LONGEST - 1)}…`;
}

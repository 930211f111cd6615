// @ts-check

/**
 * What people and the system did to a pool, in lines: changes of size that follow one another are one.
 *
 * @typedef {import("../http/happening.ts").Happening} Happening
 * @typedef {import("../http/wire.ts").DecisionJson} Decision
 */

/** Most lines: the room for them is kept. */
const LINES = 4;

/** Most that are kept. */
const KEPT = 200;

/**
 * Adds what is new.
 *
 * @param {readonly Happening[]} known
 * @param {readonly Happening[]} news Oldest first.
 * @returns {Happening[]}
 */
export function joinedHappenings(known, news) {
  const all = [...known];
  for (const one of news) {
    if (!all.some(({ atMs, text }) => atMs === one.atMs && text === one.text)) all.push(one);
  }
  return all.sort((a, b) => a.atMs - b.atMs).slice(-KEPT);
}

/**
 * The latest lines, newest first. Changes of size between two other lines are one line for each that
 * caused them.
 *
 * @param {readonly Happening[]} happenings Oldest first.
 * @param {readonly Decision[]} changes Oldest first.
 * @param {{ fromMs: number, untilMs: number }} span What is older or later is left out.
 * @returns {Happening[]}
 */
export function linesOf(happenings, changes, { fromMs, untilMs }) {
  const shown = happenings.filter(({ atMs }) => atMs >= fromMs && atMs <= untilMs);
  const edges = [...shown.map(({ atMs }) => atMs), untilMs];
  /** @type {Happening[]} */
  const walks = [];
  let afterMs = fromMs;
  for (const edgeMs of edges) {
    const between = changes.filter(({ atMs }) => atMs >= afterMs && atMs < edgeMs);
    for (const cause of new Set(between.map(causeOf))) {
      walks.push(walkOf(cause, between.filter((one) => causeOf(one) === cause)));
    }
    afterMs = edgeMs;
  }
  return [...shown, ...walks].sort((a, b) => b.atMs - a.atMs).slice(0, LINES);
}

/** @param {Decision} decision */
function causeOf({ boundBy, proposals }) {
  if (boundBy !== "controller") return boundBy;
  return proposals.find(({ kind }) => kind === "controller")?.by ?? boundBy;
}

/**
 * @param {string} cause
 * @param {readonly Decision[]} changes Not empty.
 * @returns {Happening}
 */
function walkOf(cause, changes) {
  const first = changes[0];
  const last = changes.at(-1);
  const sizes = changes.flatMap(({ from, to }) => [from, to]);
  const [least, most] = [Math.min(...sizes), Math.max(...sizes)];
  const by = `by ${cause.replace(":", " ")}`;
  const way = `Size ${first?.from} → ${last?.to}`;
  const steps = `in ${changes.length} steps`;
  const [begin, end] = [first?.from, last?.to];
  const isStraight = begin === least && end === most || begin === most && end === least;
  const range = isStraight ? "" : ` between ${least} and ${most}`;
  const text = changes.length === 1 ? `${way}, ${by}` : `${way} ${steps}${range}, ${by}`;
  return { atMs: last?.atMs ?? 0, tone: "size", text };
}

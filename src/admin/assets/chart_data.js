// @ts-check

/**
 * What the charts of a pool are drawn from: samples as the server has them, made into columns.
 *
 * @typedef {import("../../planning/history.ts").Sample} Sample
 * @typedef {import("../http/wire.ts").DecisionJson} Decision
 *
 * @typedef {object} LaneColumn
 * @property {number} waitMs Longest wait, ms.
 * @property {number | undefined} times The same in target waits. `undefined`: the lane has no target.
 *
 * @typedef {object} Column What happened in one stretch of time.
 * @property {number} fromMs
 * @property {number} toMs
 * @property {number} comes Jobs accepted per second.
 * @property {number} done Attempts that ended done per second.
 * @property {number} failed Attempts that failed per second.
 * @property {number} shed Jobs rejected per second.
 * @property {number} busy Workers that ran a job, on average.
 * @property {number} least Fewest workers.
 * @property {number} most Most workers.
 * @property {number} limit The tightest bound.
 * @property {string} boundBy What held more work back. Empty: nothing did.
 * @property {LaneColumn[]} lanes
 */

/** Columns of a chart: as many as can be told apart on a phone. */
const COLUMNS = 120;

/** Longest that samples are kept, ms. */
const KEPT_MS = 3_600_000;

/** Workers that are busy for this share of the time have none to spare. */
const ALL = 0.95;

/** The last sample is older than this while the pool rests, ms. */
const REST_MS = 2_500;

/**
 * Adds samples to those that are known.
 *
 * @param {readonly Sample[]} known
 * @param {readonly Sample[]} news Oldest first.
 * @returns {Sample[]}
 */
export function joined(known, news) {
  const all = [...known];
  for (const sample of news) {
    const last = all.at(-1);
    if (last !== undefined && sample.atMs <= last.atMs) continue;
    if (last !== undefined && !haveSameLanes(last, sample)) all.length = 0;
    all.push(sample);
  }
  const fromMs = (all.at(-1)?.atMs ?? 0) - KEPT_MS;
  return all.filter(({ atMs }) => atMs >= fromMs);
}

/**
 * The columns of a span that ends now, oldest first. Samples closer than a column is wide are one.
 *
 * @param {readonly Sample[]} samples
 * @param {{ nowMs: number, spanMs: number }} span
 * @returns {Column[]}
 */
export function columnsOf(samples, { nowMs, spanMs }) {
  const widthMs = spanMs / COLUMNS;
  const last = samples.at(-1);
  const all = last !== undefined && nowMs - last.atMs > REST_MS
    ? [...samples, rested(last, nowMs)]
    : samples;
  /** @type {Column[]} */
  const columns = [];
  /** @type {Sample[]} */
  let part = [];
  let before = all[0];
  all.forEach((sample, index) => {
    if (index === 0 || before === undefined) return;
    part.push(sample);
    const next = all[index + 1];
    const isWhole = next === undefined || place(next) !== place(sample);
    if (!isWhole) return;
    if (sample.atMs > nowMs - spanMs) columns.push(columnOf(before, part));
    before = sample;
    part = [];
  });
  return columns;

  /** @param {Sample} sample */
  function place({ atMs }) {
    return Math.ceil(atMs / widthMs);
  }
}

/**
 * Decisions that changed the size, oldest first, each once.
 *
 * @param {readonly Decision[]} decisions
 * @returns {Decision[]}
 */
export function changesOf(decisions) {
  const byTime = new Map(
    decisions.filter(({ from, to }) => from !== to).map((one) => [one.atMs, one]),
  );
  return [...byTime.values()].sort((a, b) => a.atMs - b.atMs);
}

/**
 * The decision that stood at a time. `undefined`: it is older than those that are known.
 *
 * @param {readonly Decision[]} changes Oldest first.
 * @param {number} atMs
 * @returns {Decision | undefined}
 */
export function standingAt(changes, atMs) {
  return changes.findLast((change) => change.atMs <= atMs);
}

/**
 * Since when a lane has been over its target, ms since epoch. `undefined`: it is not now.
 *
 * @param {readonly Column[]} columns
 * @param {number} lane Its index.
 * @returns {number | undefined}
 */
export function overSince(columns, lane) {
  const first = columns.findLastIndex(({ lanes }) => (lanes[lane]?.times ?? 0) <= 1) + 1;
  return columns[first]?.fromMs;
}

/**
 * @param {Sample} before
 * @param {readonly Sample[]} part Not empty.
 * @returns {Column}
 */
function columnOf(before, part) {
  const last = part.at(-1) ?? before;
  const seconds = (last.atMs - before.atMs) / 1_000;
  /** @type {(count: (sample: Sample) => number) => number} */
  const perSec = (count) => Math.max(0, count(last) - count(before)) / seconds;
  const binding = part.findLast((sample, index) => isBound(part[index - 1] ?? before, sample));
  return {
    fromMs: before.atMs,
    toMs: last.atMs,
    comes: perSec(({ arrivals }) => arrivals),
    done: perSec(({ completions }) => completions),
    failed: perSec(({ failures }) => failures),
    shed: perSec(({ shed }) => shed),
    busy: perSec(({ busyMs }) => busyMs / 1_000),
    least: Math.min(...part.map(({ leastLive }) => leastLive)),
    most: Math.max(...part.map(({ mostLive }) => mostLive)),
    limit: last.limit,
    boundBy: binding === undefined ? "" : boundBy(binding),
    lanes: last.lanes.map(({ targetWaitMs }, index) => {
      const waitMs = Math.max(...part.map(({ lanes }) => lanes[index]?.longestWaitMs ?? 0));
      return { waitMs, times: targetWaitMs ? waitMs / targetWaitMs : undefined };
    }),
  };
}

/**
 * True if more starts were held back: by a rate or the receiver, or by the limit while jobs started late,
 * were rejected, or waited for workers that were all busy.
 *
 * @param {Sample} before
 * @param {Sample} sample
 */
function isBound(before, sample) {
  const { live, stuck, target, limit, rateBound, holdUntilMs, shed, busyMs, liveMs, lanes } =
    sample;
  if (target === 0 && live > 0) return false; // it drains
  if (holdUntilMs > 0 || rateBound) return true;
  if (live + stuck < limit) return false;
  const isLate = lanes.some(({ late }, index) => late > (before.lanes[index]?.late ?? 0));
  const areBusy = busyMs - before.busyMs >= ALL * (liveMs - before.liveMs);
  return isLate || shed > before.shed || areBusy && lanes.some(({ ready }) => ready > 0);
}

/**
 * @param {Sample} sample
 * @returns {string} As people read it.
 */
function boundBy({ boundBy, holdUntilMs, heldBy }) {
  if (holdUntilMs > 0) return heldBy === "" ? "the receiver" : `downstream ${heldBy}`;
  return boundBy.replace(":", " ");
}

/**
 * A pool that has rested since a sample.
 *
 * @param {Sample} sample
 * @param {number} atMs
 * @returns {Sample}
 */
function rested(sample, atMs) {
  const { live } = sample;
  const lanes = sample.lanes.map((lane) => ({ ...lane, longestWaitMs: lane.oldestWaitMs }));
  return { ...sample, atMs, leastLive: live, mostLive: live, lanes };
}

/**
 * @param {Sample} a
 * @param {Sample} b
 */
function haveSameLanes(a, b) {
  return a.lanes.length === b.lanes.length &&
    a.lanes.every(({ name }, index) => name === b.lanes[index]?.name);
}

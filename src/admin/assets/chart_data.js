// @ts-check

/**
 * What the charts of a pool are drawn from: samples as the server has them, made into columns.
 *
 * @typedef {import("../../planning/history.ts").Sample} Sample
 * @typedef {import("../http/wire.ts").DecisionJson} Decision
 *
 * @typedef {object} Columns
 * @property {number[]} at Times, s since epoch.
 * @property {(number | null)[]} arrivals Jobs per second, all lanes.
 * @property {(number | null)[][]} waits Longest wait of each lane, ms.
 * @property {(number | null)[]} live Workers.
 * @property {(number | null)[]} busy Workers that ran a job, on average.
 * @property {(number | null)[]} target Workers wanted.
 * @property {(number | null)[]} limit The tightest bound.
 * @property {(number | null)[]} min Fewest workers.
 */

/** Samples are a second apart unless the pool rests; a gap beyond this is a rest, ms. */
const REST_MS = 2_500;

/** Samples a second apart that the server keeps; those before are a minute apart. */
const DENSE = 120;

/** Longest that samples are kept, ms. */
const KEPT_MS = 3_600_000;

/**
 * Adds samples to those that are known. While a pool rests it takes none and the last one remains valid: it
 * is repeated before the next, so that no slope is drawn where nothing happened.
 *
 * @param {readonly Sample[]} known
 * @param {readonly Sample[]} news Oldest first.
 * @returns {Sample[]}
 */
export function joined(known, news) {
  const all = [...known];
  news.forEach((sample, index) => {
    const last = all.at(-1);
    if (last !== undefined && sample.atMs <= last.atMs) return;
    const isDense = index >= news.length - DENSE;
    if (
      last !== undefined && isDense && sample.atMs - last.atMs > REST_MS &&
      haveSameLanes(last, sample)
    ) {
      all.push({ ...last, atMs: sample.atMs - 1_000 });
    }
    if (last !== undefined && !haveSameLanes(last, sample)) all.length = 0;
    all.push(sample);
  });
  const fromMs = (all.at(-1)?.atMs ?? 0) - KEPT_MS;
  return all.filter(({ atMs }) => atMs >= fromMs);
}

/**
 * The samples of a span that ends now. The last one remains valid until now.
 *
 * @param {readonly Sample[]} samples
 * @param {{ nowMs: number, spanMs: number }} span
 * @returns {Columns}
 */
export function columnsOf(samples, { nowMs, spanMs }) {
  const first = samples.findLastIndex(({ atMs }) => atMs <= nowMs - spanMs);
  const shown = samples.slice(Math.max(0, first));
  const last = shown.at(-1);
  if (last !== undefined && nowMs > last.atMs) shown.push({ ...last, atMs: nowMs });
  const lanes = last?.lanes ?? [];
  return {
    at: shown.map(({ atMs }) => atMs / 1_000),
    arrivals: perSec(shown, ({ arrivals }) => arrivals),
    waits: lanes.map((_, index) =>
      shown.map((sample) => sample.lanes[index]?.longestWaitMs ?? null)
    ),
    live: shown.map(({ live }) => live),
    busy: perSec(shown, ({ busyMs }) => busyMs / 1_000),
    target: shown.map(({ target }) => target),
    limit: shown.map(({ limit }) => limit),
    min: shown.map(({ size }) => size.min),
  };
}

/**
 * How much a count rose per second up to each sample, since the one before.
 *
 * @param {readonly Sample[]} samples
 * @param {(sample: Sample) => number} count
 * @returns {(number | null)[]}
 */
function perSec(samples, count) {
  return samples.map((sample, index) => {
    const before = samples[index - 1];
    if (before === undefined) return null;
    return (count(sample) - count(before)) * 1_000 / (sample.atMs - before.atMs);
  });
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
 * @param {Sample} a
 * @param {Sample} b
 */
function haveSameLanes(a, b) {
  return a.lanes.length === b.lanes.length &&
    a.lanes.every(({ name }, index) => name === b.lanes[index]?.name);
}

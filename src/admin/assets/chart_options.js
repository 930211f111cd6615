// @ts-check
/// <reference lib="dom" />

import { duration, grouped, rate, tick } from "./figures.js";

/**
 * How the charts look. Lines differ by dash as well as by color.
 *
 * @typedef {object} Common
 * @property {number} width
 * @property {HTMLElement} place Where the charts are: its colors are theirs.
 * @property {readonly { readonly name: string, readonly targetWaitMs: number | null }[]} lanes
 * @property {{ changes: readonly import("./chart_data.js").Decision[], spanMs: number }} state
 * @property {(atMs: number | undefined) => void} tell Told what time the reader points at.
 *
 * @typedef {import("uplot").Options} Options
 * @typedef {import("uplot").Series} Series
 */

const HEIGHT = 180;

/** Both charts keep the same room beside them, so that their times are aligned. */
const AXIS = { left: 60, right: 64 };

const DASHES = [[], [6, 3], [2, 2], [8, 3, 2, 3], [4, 4], [1, 3]];

const LANE_COLORS = 6;

/**
 * Arrivals on the left, oldest waits against their targets on the right.
 *
 * @param {Common} common
 * @returns {Options}
 */
export function demandOptions(common) {
  const { lanes, place } = common;
  const ink = inkOf(place);
  const colors = lanes.map((_, index) => ink(`--lane-${index % LANE_COLORS}`));
  return {
    ...frameOf(common, ink),
    title: "Demand",
    scales: {
      x: { time: true, range: () => spanOf(common) },
      perSec: { range: (_, __, max) => [0, roomy(max, 1)] },
      ms: { range: (_, __, max) => [0, roomy(Math.max(max, ...targetsOf(lanes)), 10)] },
    },
    axes: [
      timeAxis(ink),
      { ...axis(ink), scale: "perSec", size: AXIS.left, label: "jobs per s", labelSize: 16 },
      {
        ...axis(ink),
        scale: "ms",
        side: 1,
        size: AXIS.right,
        grid: { show: false },
        values: (_, ticks) => ticks.map(tick),
      },
    ],
    series: [
      { value: timeText },
      {
        label: "arrivals/s",
        scale: "perSec",
        stroke: ink("--soft"),
        fill: ink("--fill"),
        width: 1,
        points: { show: false },
        value: shown(rate),
      },
      ...lanes.map(({ name, targetWaitMs }, index) => ({
        label: targetWaitMs === null
          ? `${name}, oldest wait`
          : `${name}, oldest wait (target ${duration(targetWaitMs)})`,
        scale: "ms",
        stroke: colors[index] ?? "",
        dash: DASHES[index % DASHES.length] ?? [],
        width: 2,
        points: { show: false },
        value: shown(duration),
      })),
    ],
    hooks: {
      draw: [(plot) => drawTargets(plot, lanes, colors)],
      setCursor: [(plot) => pointAt(plot, common)],
    },
  };
}

/**
 * Workers, the band that they may be in, and a mark for each change of size.
 *
 * @param {Common} common
 * @returns {Options}
 */
export function supplyOptions(common) {
  const ink = inkOf(common.place);
  const stepped = globals().uPlot.paths.stepped?.({ align: 1 });
  /** @type {(label: string, color: string, more?: Partial<Series>) => Series} */
  const line = (label, color, more = {}) => ({
    label,
    scale: "workers",
    stroke: ink(color),
    width: 2,
    points: { show: false },
    ...(stepped === undefined ? {} : { paths: stepped }),
    value: shown(grouped),
    ...more,
  });
  return {
    ...frameOf(common, ink),
    title: "Supply",
    scales: {
      x: { time: true, range: () => spanOf(common) },
      workers: { range: (_, __, max) => [0, roomy(max, 2)] },
    },
    axes: [
      timeAxis(ink),
      {
        ...axis(ink),
        scale: "workers",
        size: AXIS.left,
        label: "workers",
        labelSize: 16,
        incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000],
      },
      { ...axis(ink), scale: "workers", side: 1, size: AXIS.right, grid: { show: false } },
    ],
    series: [
      { value: timeText },
      line("size.min", "--soft", { width: 1, dash: [2, 3] }),
      line("limit", "--warn", { width: 1.5, dash: [8, 4] }),
      line("workers", "--lane-0"),
      line("busy", "--lane-2", { width: 1, fill: ink("--fill-busy") }),
      line("target", "--lane-3", { width: 1, dash: [3, 3] }),
    ],
    bands: [{ series: [2, 1], fill: ink("--fill-band") }],
    hooks: {
      draw: [(plot) => drawChanges(plot, common, ink("--ink"))],
      setCursor: [(plot) => pointAt(plot, common)],
    },
  };
}

/** @returns {{ uPlot: typeof import("uplot") }} */
function globals() {
  return /** @type {any} */ (globalThis);
}

/**
 * @param {Common} common
 * @param {(name: string) => string} _ink
 */
function frameOf({ width }, _ink) {
  return {
    width,
    height: HEIGHT,
    cursor: { sync: { key: "pool" }, y: false, drag: { x: false, y: false }, points: { size: 6 } },
    legend: {
      live: true,
      markers: {
        /** @type {(plot: import("uplot"), index: number) => string} */
        dash: (plot, index) => (plot.series[index]?.dash ?? []).length > 0 ? "dashed" : "solid",
      },
    },
    padding: /** @type {[number, number, number, number]} */ ([8, 0, 0, 0]),
  };
}

/** @param {(name: string) => string} ink */
function axis(ink) {
  const line = { stroke: ink("--line"), width: 1 };
  return {
    stroke: ink("--soft"),
    font: "12px system-ui, sans-serif",
    labelFont: "12px system-ui, sans-serif",
    grid: line,
    ticks: { ...line, size: 4 },
  };
}

/** @param {(name: string) => string} ink */
function timeAxis(ink) {
  return {
    ...axis(ink),
    size: 30,
    space: 80,
    /** @type {(plot: import("uplot"), ticks: number[]) => string[]} */
    values: (_plot, ticks) =>
      ticks.map((tick) => clock(tick, (ticks[1] ?? tick) - (ticks[0] ?? tick) >= 60)),
  };
}

/**
 * @param {number} atSec
 * @param {boolean} isCoarse
 */
function clock(atSec, isCoarse) {
  return new Date(atSec * 1_000).toLocaleTimeString([], {
    hour: "2-digit",
    minute: "2-digit",
    hourCycle: "h23",
    ...(isCoarse ? {} : { second: "2-digit" }),
  });
}

/** @type {(plot: import("uplot"), value: number | null) => string} */
function timeText(_plot, value) {
  return value === null ? "now" : clock(value, false);
}

/**
 * What the legend says of a value: the latest while the reader points at none.
 *
 * @param {(value: number) => string} text
 * @returns {(plot: import("uplot"), value: number | null, series: number, index: number | null) => string}
 */
function shown(text) {
  return (plot, value, series, index) => {
    const said = index === null ? plot.data[series]?.at(-1) : value;
    return typeof said === "number" ? text(said) : "-";
  };
}

/**
 * @param {Common} common
 * @returns {[number, number]}
 */
function spanOf({ state }) {
  const words = document.getElementById("demand-words");
  const nowSec = Number(words?.dataset.nowMs ?? Date.now()) / 1_000;
  return [nowSec - state.spanMs / 1_000, nowSec];
}

/**
 * @param {number} max
 * @param {number} least
 */
function roomy(max, least) {
  return Math.max(least, max * 1.1);
}

/** @param {Common["lanes"]} lanes */
function targetsOf(lanes) {
  return lanes.map(({ targetWaitMs }) => targetWaitMs ?? 0);
}

/**
 * A thin line at each target, in its lane's color.
 *
 * @param {import("uplot")} plot
 * @param {Common["lanes"]} lanes
 * @param {readonly string[]} colors
 */
function drawTargets(plot, lanes, colors) {
  const { ctx, bbox } = plot;
  ctx.save();
  ctx.lineWidth = devicePixelRatio;
  ctx.setLineDash([devicePixelRatio, 3 * devicePixelRatio]);
  lanes.forEach(({ targetWaitMs }, index) => {
    if (targetWaitMs === null) return;
    const y = plot.valToPos(targetWaitMs, "ms", true);
    if (y < bbox.top || y > bbox.top + bbox.height) return;
    ctx.strokeStyle = colors[index] ?? "";
    ctx.beginPath();
    ctx.moveTo(bbox.left, y);
    ctx.lineTo(bbox.left + bbox.width, y);
    ctx.stroke();
  });
  ctx.restore();
}

/**
 * A triangle at each change of size: up where it grows, down where it shrinks.
 *
 * @param {import("uplot")} plot
 * @param {Common} common
 * @param {string} color
 */
function drawChanges(plot, { state }, color) {
  const { ctx, bbox } = plot;
  const half = 4 * devicePixelRatio;
  ctx.save();
  ctx.fillStyle = color;
  for (const { atMs, from, to } of state.changes) {
    const x = plot.valToPos(atMs / 1_000, "x", true);
    if (x < bbox.left || x > bbox.left + bbox.width) continue;
    const y = plot.valToPos(to, "workers", true);
    const tip = to > from ? -half * 1.6 : half * 1.6;
    ctx.beginPath();
    ctx.moveTo(x - half, y);
    ctx.lineTo(x + half, y);
    ctx.lineTo(x, y + tip);
    ctx.closePath();
    ctx.fill();
  }
  ctx.restore();
}

/**
 * @param {import("uplot")} plot
 * @param {Common} common
 */
function pointAt(plot, { tell }) {
  const { left } = plot.cursor;
  tell(
    left === undefined || left === null || left < 0 ? undefined : plot.posToVal(left, "x") * 1_000,
  );
}

/**
 * Reads colors as the page has them now: a canvas knows no variables.
 *
 * @param {HTMLElement} place
 * @returns {(name: string) => string}
 */
function inkOf(place) {
  return (name) => {
    const probe = document.createElement("i");
    probe.style.color = `var(${name})`;
    place.append(probe);
    const { color } = getComputedStyle(probe);
    probe.remove();
    return color;
  };
}

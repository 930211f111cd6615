// @ts-check
/// <reference lib="dom" />

import { tick } from "./figures.js";

/**
 * Draws columns as SVG: strips of one width over the same time. What they look like is in the style.
 *
 * @typedef {import("./chart_data.js").Column} Column
 *
 * @typedef {object} Frame
 * @property {number} width Of the whole strip, px.
 * @property {number} fromMs Where time begins.
 * @property {number} toMs Where it ends.
 */

const NAMESPACE = "http://www.w3.org/2000/svg";

/** Room for figures beside a strip, px. */
export const BESIDE = 46;

const WAIT_HEIGHT = 40;
const WORKERS_HEIGHT = 72;
const RATES_HEIGHT = 72;
const AXIS_HEIGHT = 18;
const BAND_HEIGHT = 16;

/** Room above what is drawn, px: a figure at the top is not cut. */
const ABOVE = 5;

/** Room for the line that says what bound the workers, px. */
const BOUND_HEIGHT = 5;

/** Ticks of the time axis are so long apart, ms. */
const TICKS_MS = [15_000, 30_000, 60_000, 120_000, 180_000, 300_000, 600_000, 1_200_000];

/**
 * Waits of one lane in target waits, filled above 1. Without a target, its waits.
 *
 * @param {Frame} frame
 * @param {readonly Column[]} columns
 * @param {number} lane Its index.
 * @returns {SVGElement}
 */
export function waitStrip(frame, columns, lane) {
  const hasTarget = columns.some(({ lanes }) => lanes[lane]?.times !== undefined);
  /** @type {(column: Column) => number} */
  const figure = ({ lanes }) => (hasTarget ? lanes[lane]?.times : lanes[lane]?.waitMs) ?? 0;
  const most = Math.max(hasTarget ? 1.6 : 1, ...columns.map(figure));
  const y = scale(WAIT_HEIGHT, most);
  const label = hasTarget ? `${short(most)}×` : tick(most);
  const isHigh = !hasTarget || most > 1.6;
  return strip(frame, WAIT_HEIGHT, [
    area("wait", frame, columns, (column) => [y(figure(column)), y(0)]),
    ...hasTarget
      ? [
        area(
          "over",
          frame,
          columns,
          (column) => [y(figure(column)), y(Math.min(1, figure(column)))],
        ),
        line("target", frame, y(1)),
        ...most < 8 ? [beside(frame, y(1), "1×")] : [],
      ]
      : [],
    ...isHigh ? [beside(frame, ABOVE + 4, label)] : [],
  ]);
}

/**
 * Workers: how many there were and ran a job, the limit, and below them when it held work back.
 *
 * @param {Frame} frame
 * @param {readonly Column[]} columns
 * @param {readonly import("./chart_data.js").Decision[]} changes
 * @returns {SVGElement}
 */
export function workersStrip(frame, columns, changes) {
  const highest = Math.max(1, ...columns.map((column) => column.most));
  const limits = columns.map(({ limit }) => limit).filter((limit) => limit <= 4 * highest);
  const most = Math.max(highest, ...limits) * 1.12;
  const height = WORKERS_HEIGHT - BOUND_HEIGHT - 2;
  const y = scale(height, most);
  return strip(frame, WORKERS_HEIGHT, [
    area("live", frame, columns, (column) => [y(column.most), y(0)]),
    area("least", frame, columns, (column) => [y(column.least), y(0)]),
    area("busy", frame, columns, (column) => [y(column.busy), y(0)]),
    steps("limit", frame, columns, ({ limit }) => limit > most ? undefined : y(limit)),
    marks(frame, changes, y),
    area("bound", frame, columns, ({ boundBy }) => {
      return boundBy === "" ? undefined : [WORKERS_HEIGHT - BOUND_HEIGHT, WORKERS_HEIGHT];
    }),
    line("floor", frame, y(0)),
    beside(frame, y(highest), String(highest)),
  ]);
}

/**
 * Rates as bars: how attempts ended, and what was rejected; what came as a line.
 *
 * @param {Frame} frame
 * @param {readonly Column[]} columns
 * @returns {SVGElement}
 */
export function ratesStrip(frame, columns) {
  const most = Math.max(
    1,
    ...columns.map(({ comes, done, failed, shed }) => Math.max(comes, done + failed + shed)),
  );
  const y = scale(RATES_HEIGHT, most);
  return strip(frame, RATES_HEIGHT, [
    area("done", frame, columns, ({ done }) => [y(done), y(0)], 1),
    area("failed", frame, columns, ({ done, failed }) => [y(done + failed), y(done)], 1),
    area("shed", frame, columns, ({ done, failed, shed }) => {
      return [y(done + failed + shed), y(done + failed)];
    }, 1),
    steps("comes", frame, columns, ({ comes }) => y(comes)),
    line("floor", frame, y(0)),
    beside(frame, ABOVE + 4, `${short(most)}/s`),
  ]);
}

/**
 * What people and the system did, each a mark.
 *
 * @param {Frame} frame
 * @param {readonly { atMs: number, tone: string }[]} events
 * @returns {SVGElement}
 */
export function bandStrip(frame, events) {
  const middle = BAND_HEIGHT / 2;
  const shown = events.filter(({ atMs }) => atMs >= frame.fromMs);
  return strip(frame, BAND_HEIGHT, [
    line("floor", frame, middle),
    ...shown.map(({ atMs, tone }) => {
      const at = x(frame, atMs);
      const path = `M${at - 5} ${middle}l5 -6l5 6l-5 6Z`;
      return make("path", { class: `event ${tone}`, d: path });
    }),
  ]);
}

/**
 * The times below all strips.
 *
 * @param {Frame} frame
 * @returns {SVGElement}
 */
export function timeAxis(frame) {
  const spanMs = frame.toMs - frame.fromMs;
  const room = (frame.width - BESIDE) / 66;
  const everyMs = TICKS_MS.find((ms) => spanMs / ms <= room) ?? spanMs;
  const children = [];
  for (
    let atMs = Math.ceil(frame.fromMs / everyMs) * everyMs;
    atMs <= frame.toMs;
    atMs += everyMs
  ) {
    const at = x(frame, atMs);
    if (at < 24 || at > frame.width - BESIDE - 24) continue;
    const text = make("text", { x: String(at), y: "13", class: "tick time" });
    text.textContent = clock(atMs, everyMs < 60_000);
    children.push(text);
  }
  return strip(frame, AXIS_HEIGHT, children);
}

/**
 * Where a time is, px from the left of its strip.
 *
 * @param {Frame} frame
 * @param {number} atMs
 */
export function x({ width, fromMs, toMs }, atMs) {
  const share = Math.max(0, (atMs - fromMs) / (toMs - fromMs));
  return Math.round(share * (width - BESIDE) * 10) / 10;
}

/**
 * @param {number} height
 * @param {number} most
 * @returns {(figure: number) => number}
 */
function scale(height, most) {
  return (figure) => {
    const share = Math.min(1, figure / most);
    return Math.round((height - share * (height - ABOVE)) * 10) / 10;
  };
}

/**
 * @param {string} kind
 * @param {Frame} frame
 * @param {readonly Column[]} columns
 * @param {(column: Column) => readonly [number, number] | undefined} bounds Upper and lower edge.
 * @param {number} [gap] Between columns, px.
 * @returns {SVGElement}
 */
function area(kind, frame, columns, bounds, gap = 0) {
  let path = "";
  for (const column of columns) {
    const [upper, lower] = bounds(column) ?? [0, 0];
    if (upper === lower) continue;
    const left = x(frame, column.fromMs);
    const right = x(frame, column.toMs);
    const end = right - left > 3 ? right - gap : right;
    path += `M${left} ${lower}V${upper}H${end}V${lower}Z`;
  }
  return make("path", { class: kind, d: path });
}

/**
 * @param {string} kind
 * @param {Frame} frame
 * @param {readonly Column[]} columns
 * @param {(column: Column) => number | undefined} height
 * @returns {SVGElement}
 */
function steps(kind, frame, columns, height) {
  let path = "";
  let isOn = false;
  for (const column of columns) {
    const to = height(column);
    if (to === undefined) {
      isOn = false;
      continue;
    }
    const left = x(frame, column.fromMs);
    path += `${isOn ? `H${left}V${to}` : `M${left} ${to}`}H${x(frame, column.toMs)}`;
    isOn = true;
  }
  return make("path", { class: kind, d: path });
}

/**
 * A triangle at each change of size: up where it grows, down where it shrinks. Those of one place are one.
 *
 * @param {Frame} frame
 * @param {readonly import("./chart_data.js").Decision[]} changes
 * @param {(workers: number) => number} y
 * @returns {SVGElement}
 */
function marks(frame, changes, y) {
  let path = "";
  let lastAt = -Infinity;
  for (const { atMs, from, to } of changes) {
    if (atMs < frame.fromMs) continue;
    const at = x(frame, atMs);
    if (at - lastAt < 9) continue;
    lastAt = at;
    const tip = to > from ? -7 : 7;
    path += `M${at - 4} ${y(to)}h8l-4 ${tip}Z`;
  }
  return make("path", { class: "change", d: path });
}

/**
 * @param {string} kind
 * @param {Frame} frame
 * @param {number} at
 * @returns {SVGElement}
 */
function line(kind, { width }, at) {
  return make("path", { class: kind, d: `M0 ${at}H${width - BESIDE}` });
}

/**
 * @param {Frame} frame
 * @param {number} at
 * @param {string} text
 * @returns {SVGElement}
 */
function beside({ width }, at, text) {
  const made = make("text", { x: String(width - BESIDE + 6), y: String(at + 4), class: "tick" });
  made.textContent = text;
  return made;
}

/**
 * @param {Frame} frame
 * @param {number} height
 * @param {readonly SVGElement[]} children
 * @returns {SVGElement}
 */
function strip({ width }, height, children) {
  const svg = make("svg", { width: String(width), height: String(height), "aria-hidden": "true" });
  svg.append(...children);
  return svg;
}

/**
 * Makes an element of a drawing.
 *
 * @param {string} tag
 * @param {Readonly<Record<string, string>>} attributes
 * @returns {SVGElement}
 */
export function make(tag, attributes) {
  const made = /** @type {SVGElement} */ (document.createElementNS(NAMESPACE, tag));
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  return made;
}

/** @param {number} figure */
function short(figure) {
  return figure < 9.95 ? String(Math.round(figure * 10) / 10) : String(Math.round(figure));
}

/**
 * @param {number} atMs
 * @param {boolean} hasSeconds
 */
function clock(atMs, hasSeconds) {
  return new Date(atMs).toLocaleTimeString([], {
    hour: "2-digit",
    minute: "2-digit",
    hourCycle: "h23",
    ...(hasSeconds ? { second: "2-digit" } : {}),
  });
}

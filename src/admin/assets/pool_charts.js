// @ts-check
/// <reference lib="dom" />

import { changesOf, columnsOf, joined, standingAt } from "./chart_data.js";
import { demandOptions, supplyOptions } from "./chart_options.js";
import { byId, element } from "./dom.js";
import { onEvent, onLook, whileHere } from "./live.js";
import { localTime } from "./local_time.js";

/**
 * Draws demand above supply, over the same time, and keeps both current.
 *
 * @typedef {import("./chart_data.js").Sample} Sample
 * @typedef {import("./chart_data.js").Decision} Decision
 */

/** Spans that a reader may choose. */
const SPANS = [
  { name: "2 min", spanMs: 120_000 },
  { name: "10 min", spanMs: 600_000 },
  { name: "1 h", spanMs: 3_600_000 },
];

/** Decisions that are read at first. */
const DECISIONS = 500;

const place = byId("charts");
if (place !== null) void begin(place);

/** @param {HTMLElement} place */
async function begin(place) {
  /** @type {{ uPlot?: typeof import("uplot") }} */
  const globals = /** @type {any} */ (globalThis);
  const { uPlot } = globals;
  const path = place.dataset.path ?? "";
  if (uPlot === undefined) {
    place.append(element("p", { class: "soft" }, "The charts cannot be drawn: a file is missing."));
    return;
  }
  const state = {
    /** @type {Sample[]} */
    samples: [],
    /** @type {Decision[]} */
    changes: [],
    spanMs: SPANS[0]?.spanMs ?? 0,
    /** @type {readonly import("uplot")[]} */
    plots: [],
    lanes: "",
  };
  const at = element("p", { class: "soft at", role: "presentation" });
  const parts = { demand: element("div"), supply: element("div") };
  place.append(spanButtons(), parts.demand, parts.supply, at);

  const read = async () => {
    const after = Math.ceil(state.samples.at(-1)?.atMs ?? 0);
    const response = await fetch(`${path}/history?afterMs=${after}`, {
      cache: "no-store",
      signal: whileHere(),
    });
    if (!response.ok) return; // the banner says that the server does not answer
    /** @type {{ samples: Sample[] }} */
    const { samples } = await response.json();
    state.samples = joined(state.samples, samples);
  };
  const readChanges = async () => {
    const response = await fetch(`${path}/decisions?limit=${DECISIONS}`, {
      cache: "no-store",
      signal: whileHere(),
    });
    if (response.ok) state.changes = changesOf(await response.json());
  };
  onEvent((event) => {
    if (event.kind !== "decided" || !path.endsWith(`/${encodeURIComponent(event.pool)}`)) return;
    state.changes = changesOf([...state.changes, event.decision]);
  });
  onLook(() => void read().then(draw, () => {}));
  document.addEventListener("themechange", build);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", build);
  new ResizeObserver(() => {
    for (const plot of state.plots) plot.setSize({ width: widthOf(place), height: plot.height });
  }).observe(place);
  await Promise.all([read(), readChanges()]).catch(() => {});
  build();

  function build() {
    for (const plot of state.plots) plot.destroy();
    state.plots = [];
    const last = state.samples.at(-1);
    if (last === undefined || uPlot === undefined) {
      at.textContent = "There are no samples yet: the charts begin with the first job.";
      return;
    }
    state.lanes = laneNames(last);
    const common = { width: widthOf(place), place, lanes: last.lanes, state, tell };
    const columns = columnsNow();
    state.plots = [
      new uPlot(demandOptions(common), demandData(columns), parts.demand),
      new uPlot(supplyOptions(common), supplyData(columns), parts.supply),
    ];
    tell(undefined);
  }

  function draw() {
    const last = state.samples.at(-1);
    if (last === undefined) return;
    if (state.plots.length === 0 || laneNames(last) !== state.lanes) return build();
    const columns = columnsNow();
    const [demand, supply] = state.plots;
    demand?.setData(demandData(columns));
    supply?.setData(supplyData(columns));
  }

  function columnsNow() {
    return columnsOf(state.samples, { nowMs: nowMs(), spanMs: state.spanMs });
  }

  /** @param {number | undefined} atMs */
  function tell(atMs) {
    const change = atMs === undefined ? state.changes.at(-1) : standingAt(state.changes, atMs);
    const time = change === undefined ? "" : localTime(change.atMs);
    at.textContent = change === undefined
      ? "No change of size is known before that time."
      : `${
        atMs === undefined ? "Last change" : "In effect then"
      }: ${time}, ${change.from} → ${change.to}. ${change.sentence}`;
  }

  function spanButtons() {
    const buttons = SPANS.map(({ name, spanMs }) => {
      const button = element("button", { type: "button", class: "small" }, name);
      button.setAttribute("aria-pressed", String(spanMs === state.spanMs));
      button.addEventListener("click", () => {
        state.spanMs = spanMs;
        for (const one of buttons) one.setAttribute("aria-pressed", String(one === button));
        draw();
      });
      return button;
    });
    return element("div", { class: "row", role: "group", "aria-label": "Time shown" }, ...buttons);
  }
}

/** @param {Sample} sample */
function laneNames({ lanes }) {
  return JSON.stringify(lanes.map(({ name, targetWaitMs }) => [name, targetWaitMs]));
}

/** The server's time: charts say when things happened there. */
function nowMs() {
  return Number(byId("demand-words")?.dataset.nowMs ?? Date.now());
}

/** @param {HTMLElement} place */
function widthOf(place) {
  return Math.max(240, Math.floor(place.clientWidth));
}

/**
 * @param {import("./chart_data.js").Columns} columns
 * @returns {import("uplot").AlignedData}
 */
function demandData({ at, arrivals, waits }) {
  return [at, arrivals, ...waits];
}

/**
 * @param {import("./chart_data.js").Columns} columns
 * @returns {import("uplot").AlignedData}
 */
function supplyData({ at, min, limit, live, busy, target }) {
  return [at, min, limit, live, busy, target];
}

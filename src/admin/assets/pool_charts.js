// @ts-check
/// <reference lib="dom" />

import { changesOf, columnsOf, joined, overSince, standingAt } from "./chart_data.js";
import * as draw from "./chart_draw.js";
import { base, byId, element } from "./dom.js";
import { duration, grouped, rate } from "./figures.js";
import { joinedHappenings, linesOf } from "./happened.js";
import { onEvent, onLook, whileHere } from "./live.js";
import { localTime } from "./local_time.js";

/**
 * Draws the recent past of a pool, and keeps it current: waits of each lane, workers, rates, and what
 * people and the system did, over the same time.
 *
 * @typedef {import("./chart_data.js").Sample} Sample
 * @typedef {import("./chart_data.js").Column} Column
 * @typedef {import("./chart_data.js").Decision} Decision
 * @typedef {import("./happened.js").Happening} Happening
 *
 * @typedef {object} Strip
 * @property {HTMLElement} row
 * @property {HTMLElement} figure What is said beside it.
 * @property {HTMLElement} plot Where it is drawn.
 */

/** Spans that a reader may choose, by their name in the address, ms. */
const SPANS = { "2m": 120_000, "10m": 600_000, "1h": 3_600_000 };

/** Least time between two drawings, ms, and how many there are while all of the span passes. */
const LEAST_MS = 950;
const STEPS = 1_000;

/** Decisions that are read at first. */
const DECISIONS = 500;

const place = byId("charts");
if (place !== null) void begin(place);

/** @param {HTMLElement} place */
async function begin(place) {
  const path = place.dataset.path ?? "";
  const state = {
    /** @type {Sample[]} */
    samples: [],
    /** @type {Decision[]} */
    changes: [],
    /** @type {Happening[]} */
    happenings: [],
    /** @type {Column[]} */
    columns: [],
    /** @type {Strip[]} */
    strips: [],
    lanes: "",
    /** Where the reader points. @type {number | undefined} */
    pointedMs: undefined,
  };
  const at = element("p", { class: "at", role: "presentation" });
  const list = element("ol", { class: "happened" });
  const stack = element("div", { class: "strips" });
  const cursor = element("div", { class: "cursor", hidden: "" });
  place.append(stack, at, list);

  const read = async () => {
    const after = Math.ceil(state.samples.at(-1)?.atMs ?? 0);
    const response = await fetch(`${path}/history?afterMs=${after}`, {
      cache: "no-store",
      signal: whileHere(),
    });
    if (!response.ok) return; // the banner says that the server does not answer
    /** @type {{ samples: Sample[], happenings?: Happening[] }} */
    const { samples, happenings = [] } = await response.json();
    state.samples = joined(state.samples, samples);
    state.happenings = joinedHappenings(state.happenings, happenings);
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
  let readAtMs = -Infinity;
  let isWaiting = false;
  const follow = () => {
    isWaiting = false;
    readAtMs = performance.now();
    void read().then(show, () => {});
  };
  // A look may come with each event; there is a sample a second, and an hour moves by less than that.
  onLook(() => {
    if (isWaiting) return;
    isWaiting = true;
    const waitMs = readAtMs + Math.max(LEAST_MS, spanMs() / STEPS) - performance.now();
    setTimeout(follow, Math.max(0, waitMs));
  });
  new ResizeObserver(show).observe(stack);
  stack.addEventListener("pointermove", (event) => point(timeAt(event)));
  stack.addEventListener("pointerleave", () => point(undefined));
  document.addEventListener("click", (event) => {
    const link = event.target instanceof Element ? event.target.closest("a[data-span]") : null;
    if (!(link instanceof HTMLAnchorElement) || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    history.replaceState(null, "", link.href);
    for (const one of document.querySelectorAll("a[data-span]")) {
      if (one === link) one.setAttribute("aria-current", "true");
      else one.removeAttribute("aria-current");
    }
    show();
  });
  await Promise.all([read(), readChanges()]).catch(() => {});
  show();

  function show() {
    const last = state.samples.at(-1);
    if (last === undefined) {
      at.textContent = "There are no samples yet: the charts begin with the first job.";
      return;
    }
    const lanes = JSON.stringify(last.lanes.map(({ name, targetWaitMs }) => [name, targetWaitMs]));
    if (lanes !== state.lanes) build(last);
    state.lanes = lanes;
    const frame = frameNow();
    const { samples, strips, changes } = state;
    state.columns = columnsOf(samples, { nowMs: frame.toMs, spanMs: frame.toMs - frame.fromMs });
    const { columns } = state;
    const drawn = [
      ...last.lanes.map((_, index) => draw.waitStrip(frame, columns, index)),
      draw.workersStrip(frame, columns, changes),
      draw.ratesStrip(frame, columns),
      draw.bandStrip(frame, state.happenings),
      draw.timeAxis(frame),
    ];
    drawn.forEach((svg, index) => strips[index]?.plot.replaceChildren(svg));
    tell();
  }

  /** @param {Sample} last */
  function build({ lanes }) {
    state.strips = [
      ...lanes.map(({ name, targetWaitMs }) =>
        stripOf(name, [], targetWaitMs === null ? "wait" : `wait ÷ ${duration(targetWaitMs)}`)
      ),
      stripOf("workers", ["busy", "live", "limit", "bound"]),
      stripOf("jobs/s", ["comes", "done", "failed", "shed"]),
      stripOf("events", [], "", element("a", { href: `${base}/audit` }, "all")),
      stripOf(""),
    ];
    stack.replaceChildren(...state.strips.map(({ row }) => row), cursor);
  }

  /** What is said beside the strips: of where the reader points, else of the whole span. */
  function tell() {
    const { columns, strips, pointedMs, changes, happenings } = state;
    const pointed = pointedMs === undefined
      ? undefined
      : columns.find(({ toMs }) => toMs >= pointedMs) ?? columns.at(-1);
    const laneCount = strips.length - 4;
    const workers = strips[laneCount];
    const rates = strips[laneCount + 1];
    for (let lane = 0; lane < laneCount; lane++) tellWait(lane, pointed);
    if (workers !== undefined) workers.figure.replaceChildren(...workersText(pointed));
    if (rates !== undefined) rates.figure.textContent = ratesText(pointed);
    const { fromMs } = frameNow();
    list.replaceChildren(
      ...linesOf(happenings, changes, { fromMs, untilMs: pointed?.toMs ?? Infinity }).map((
        { atMs, tone, text },
      ) =>
        element(
          "li",
          {},
          element("span", { class: `dot ${tone}`, "aria-hidden": "true" }),
          element("time", { datetime: new Date(atMs).toISOString() }, localTime(atMs)),
          ` ${text}`,
        )
      ),
    );
    const change = pointedMs === undefined ? changes.at(-1) : standingAt(changes, pointedMs);
    at.textContent = change === undefined
      ? `No change of size is known${pointedMs === undefined ? "" : " before that time"}.`
      : `${pointedMs === undefined ? "Last change" : "In effect then"}: ${
        localTime(change.atMs)
      }, ${change.from} → ${change.to}. ${change.sentence}`;
  }

  /**
   * @param {number} lane
   * @param {Column | undefined} pointed
   */
  function tellWait(lane, pointed) {
    const { columns, strips } = state;
    const strip = strips[lane];
    if (strip === undefined) return;
    const waits = (pointed === undefined ? columns : [pointed]).map(({ lanes }) => lanes[lane]);
    const waitMs = Math.max(0, ...waits.map((one) => one?.waitMs ?? 0));
    const times = Math.max(0, ...waits.map((one) => one?.times ?? 0));
    const since = pointed === undefined ? overSince(columns, lane) : undefined;
    const isOver = pointed === undefined ? since !== undefined : times > 1;
    const most = pointed === undefined ? "at most " : "";
    const over = since === undefined ? "" : `, over since ${localTime(since)}`;
    const isKnown = waits.some((one) => one?.times !== undefined);
    const ratio = isKnown
      ? `${times < 9.95 ? times.toFixed(1) : grouped(Math.round(times))}×, `
      : "";
    strip.figure.textContent = `${most}${ratio}${duration(waitMs)}${over}`;
    strip.figure.classList.toggle("late", isOver);
  }

  /** @param {Column | undefined} pointed */
  function workersText(pointed) {
    const column = pointed ?? state.columns.at(-1);
    if (column === undefined) return [];
    const { least, most, busy, limit, boundBy } = column;
    const count = least === most ? grouped(most) : `${grouped(least)} to ${grouped(most)}`;
    const bound = pointed === undefined
      ? boundOf(state.columns)
      : boundBy && `, bound by ${boundBy}`;
    return [`${count} of ${grouped(limit)}, ${rate(busy)} busy${bound}`];
  }

  /** @param {Column | undefined} pointed */
  function ratesText(pointed) {
    if (pointed === undefined) return byId("demand-words")?.dataset.rates ?? "";
    const { comes, done, failed, shed } = pointed;
    const more = [failed > 0 && `${rate(failed)} failed`, shed > 0 && `${rate(shed)} shed`];
    return [`${rate(comes)} in`, `${rate(done)} done`, ...more.filter(Boolean)].join(", ");
  }

  /** @param {number | undefined} atMs */
  function point(atMs) {
    state.pointedMs = atMs;
    cursor.hidden = atMs === undefined;
    const plot = state.strips[0]?.plot;
    if (atMs !== undefined && plot !== undefined) {
      cursor.style.left = `${plot.offsetLeft + draw.x(frameNow(), atMs)}px`;
    }
    tell();
  }

  /** @param {PointerEvent} event */
  function timeAt({ clientX }) {
    const plot = state.strips[0]?.plot;
    if (plot === undefined) return undefined;
    const { width, fromMs, toMs } = frameNow();
    const share = (clientX - plot.getBoundingClientRect().left) / (width - draw.BESIDE);
    return share < 0 || share > 1 ? undefined : fromMs + share * (toMs - fromMs);
  }

  function frameNow() {
    const toMs = nowMs();
    const width = Math.max(200, Math.floor(state.strips[0]?.plot.clientWidth ?? 0));
    return { width, fromMs: toMs - spanMs(), toMs };
  }
}

/**
 * @param {string} name
 * @param {readonly string[]} [keys] What its colors mean.
 * @param {string} [unit]
 * @param {HTMLElement} [link] Where there is more.
 * @returns {Strip}
 */
function stripOf(name, keys = [], unit = "", link = undefined) {
  const figure = element("span", { class: "figure" });
  const plot = element("div", { class: "plot" });
  const NAMES = { live: "there", comes: "in", bound: "bound", limit: "limit", busy: "busy" };
  const legend = keys.map((key) =>
    element(
      "span",
      { class: "key" },
      element("i", { class: `swatch ${key}`, "aria-hidden": "true" }),
      Object.hasOwn(NAMES, key) ? NAMES[/** @type {keyof typeof NAMES} */ (key)] : key,
    )
  );
  const row = element(
    "div",
    { class: "strip" },
    element(
      "div",
      { class: "name" },
      element("strong", {}, name),
      ...legend.length > 0
        ? [element("span", { class: "keys" }, ...legend)]
        : link !== undefined
        ? [link]
        : unit === ""
        ? []
        : [element("span", { class: "soft" }, unit)],
      figure,
    ),
    plot,
  );
  return { row, figure, plot };
}

/**
 * What held work back for most of a time, and for how much of it.
 *
 * @param {readonly Column[]} columns
 */
function boundOf(columns) {
  /** @type {Map<string, number>} */
  const times = new Map();
  let allMs = 0;
  for (const { boundBy, fromMs, toMs } of columns) {
    allMs += toMs - fromMs;
    if (boundBy !== "") times.set(boundBy, (times.get(boundBy) ?? 0) + toMs - fromMs);
  }
  const [most] = [...times].sort(([, a], [, b]) => b - a);
  if (most === undefined) return "";
  return `, bound by ${most[0]} ${Math.max(1, Math.round(100 * most[1] / allMs))} % of the time`;
}

function spanMs() {
  const name = new URLSearchParams(location.search).get("span") ?? "2m";
  return Object.hasOwn(SPANS, name) ? SPANS[/** @type {keyof typeof SPANS} */ (name)] : SPANS["2m"];
}

/** The server's time: charts say when things happened there. */
function nowMs() {
  return Number(byId("demand-words")?.dataset.nowMs ?? Date.now());
}

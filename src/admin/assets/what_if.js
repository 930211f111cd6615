// @ts-check
/// <reference lib="dom" />

import { BESIDE, make } from "./chart_draw.js";
import { base, byId, element } from "./dom.js";
import { duration, grouped, tick } from "./figures.js";

/**
 * Asks what the last minutes would have been with a change, and lays the answer over what happened.
 *
 * @typedef {import("../http/wire_what_if.ts").WhatIfJson} WhatIfJson
 * @typedef {import("../../simulate/happened.ts").PoolOutcome} PoolOutcome
 */

/** Height of a drawing, px. */
const HEIGHT = 80;

const form = byId("what-if-form");
const place = byId("what-if-answer");
if (form instanceof HTMLFormElement && place !== null) {
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    void ask(form, place);
  });
}

/**
 * @param {HTMLFormElement} form
 * @param {HTMLElement} place
 */
async function ask(form, place) {
  const button = form.querySelector("button");
  const input = form.elements.namedItem("changes");
  if (button === null || !(input instanceof HTMLInputElement)) return;
  button.disabled = true;
  place.replaceChildren(element("p", { class: "soft" }, "Simulating…"));
  try {
    const response = await fetch(`${base}${form.dataset.path}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ changes: changesOf(input.value) }),
    });
    const answer = await response.json();
    if (response.ok) show(place, answer);
    else place.replaceChildren(element("p", { class: "fault" }, faultOf(answer)));
  } catch {
    place.replaceChildren(element("p", { class: "fault" }, "The server does not answer."));
  } finally {
    button.disabled = false;
  }
}

/** @param {{ detail: string, errors?: readonly { detail: string }[] }} problem */
function faultOf({ detail, errors = [] }) {
  return errors[0]?.detail ?? detail;
}

/** @param {string} text */
function changesOf(text) {
  return Object.fromEntries(
    text.trim().split(/\s+(?=[^\s=]+=)/).map((change) => {
      const at = change.indexOf("=");
      return at < 0 ? [change, null] : [change.slice(0, at), valueOf(change.slice(at + 1))];
    }),
  );
}

/** @param {string} text */
function valueOf(text) {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/**
 * @param {HTMLElement} place
 * @param {WhatIfJson} answer
 */
function show(place, answer) {
  const { happened, asItIs, changed, comparison, changes, spanMs } = answer;
  place.replaceChildren(
    element("h3", {}, `The last ${duration(spanMs)} with ${changes.join(", ")}`),
    element(
      "div",
      { class: "scroll", tabindex: "0" },
      tableOf([
        ...(happened === null ? [] : [/** @type {const} */ (["happened", happened])]),
        ["simulated as it is", asItIs],
        ["simulated with the change", changed],
      ]),
    ),
    ...comparison.map((sentence) => element("p", {}, sentence)),
    element("p", { class: "soft" }, "Trust the last row as far as the two above it agree."),
  );
  for (const lane of answer.lanes) {
    const waits = [...lane.happenedMs, ...lane.asItIsMs, ...lane.changedMs];
    if (waits.every((wait) => (wait ?? 0) === 0)) continue; // nothing to see
    place.append(
      element("h4", {}, `Longest waits of ${lane.lane}`),
      element(
        "p",
        { class: "legend soft" },
        element("span", { class: "past" }, "happened"),
        element("span", { class: "same" }, "simulated as it is"),
        element("span", { class: "changed" }, "simulated with the change"),
      ),
      drawing(lane, Math.max(280, place.clientWidth)),
    );
  }
}

/** @param {readonly (readonly [name: string, outcome: PoolOutcome])[]} outcomes */
function tableOf(outcomes) {
  const head = ["", "Workers", "Peak", "Lane", "Done", "Shed", "Longest wait"];
  const rows = outcomes.flatMap(([name, { workers, peak, lanes }]) =>
    lanes.map(({ lane, done, shed, longestWaitMs }, index) =>
      element(
        "tr",
        {},
        element("th", { scope: "row" }, index === 0 ? name : ""),
        element("td", { class: "num" }, index === 0 ? workers.toFixed(1) : ""),
        element("td", { class: "num" }, index === 0 ? String(peak) : ""),
        element("td", {}, lane),
        element("td", { class: "num" }, grouped(done)),
        element("td", { class: "num" }, grouped(shed)),
        element("td", { class: "num" }, duration(longestWaitMs)),
      )
    )
  );
  return element(
    "table",
    {},
    element(
      "thead",
      {},
      element("tr", {}, ...head.map((text) => element("th", { scope: "col" }, text))),
    ),
    element("tbody", {}, ...rows),
  );
}

/**
 * The longest waits of a lane over time: what happened, and both simulations over it.
 *
 * @param {WhatIfJson["lanes"][number]} lane
 * @param {number} width
 */
function drawing({ lane, happenedMs, asItIsMs, changedMs }, width) {
  const most = Math.max(1, ...[...happenedMs, ...asItIsMs, ...changedMs].map((wait) => wait ?? 0));
  const right = width - BESIDE;
  /** @type {(waits: readonly (number | null)[]) => string} */
  const path = (waits) =>
    waits.map((wait, index) =>
      wait === null
        ? ""
        : `${Math.round(index / waits.length * right)} ${Math.round((1 - wait / most) * HEIGHT)}`
    ).filter((point) => point !== "").map((point, index) => `${index === 0 ? "M" : "L"}${point}`)
      .join("");
  const label = make("text", { x: String(right + 6), y: "10", class: "tick" });
  label.textContent = tick(most);
  const svg = make("svg", {
    width: String(width),
    height: String(HEIGHT + 2),
    role: "img",
    "aria-label": `Longest waits of lane ${lane}, at most ${duration(most)}`,
  });
  svg.append(
    make("path", { class: "floor", d: `M0 ${HEIGHT}H${right}` }),
    make("path", { class: "past", d: path(happenedMs) }),
    make("path", { class: "same", d: path(asItIsMs) }),
    make("path", { class: "changed", d: path(changedMs) }),
    label,
  );
  return svg;
}

// @ts-check
/// <reference lib="dom" />

import { ask, Refusal, send } from "./actions.js";
import { byId, element, say } from "./dom.js";
import { grouped } from "./figures.js";
import { beforeTake, refresh } from "./live.js";
import { localize } from "./local_time.js";

/**
 * Lists of jobs: they stay still under a reader who uses them, some jobs are chosen by tick boxes, and a
 * search goes on by itself.
 */

/** Pages that a search goes through by itself. */
const MOST_PAGES = 20;

/** Matches after which a search stops by itself. */
const MOST_MATCHES = 50;

/** @typedef {"retry" | "discard" | "cancel"} Action */

/** @type {Readonly<Record<Action, { title: string, more: string, states: readonly string[], danger: boolean }>>} */
const ACTIONS = {
  retry: {
    title: "Retry",
    more: "Each goes back to the end of its lane, with all its attempts.",
    states: ["dead"],
    danger: false,
  },
  discard: {
    title: "Discard",
    more: "They are deleted, with their payloads and errors. This cannot be undone.",
    states: ["dead"],
    danger: true,
  },
  cancel: {
    title: "Cancel",
    more: "Those that wait are never started; handlers that run are asked to stop.",
    states: ["delayed", "ready", "blocked", "running"],
    danger: true,
  },
};

/** True: the next look is taken as it is. */
let isWanted = false;

/** @returns {HTMLElement | null} */
function rowsHere() {
  return document.querySelector("table.jobs tbody");
}

/** True while the reader points at the list, is in it, has chosen or opened something, or reads further down. */
function isInUse() {
  const table = document.querySelector("table.jobs");
  if (table === null) return false;
  return table.matches(":hover") || table.contains(document.activeElement) ||
    table.querySelector("details[open]") !== null || chosen().length > 0 ||
    table.getBoundingClientRect().top < 0;
}

/**
 * Keeps the rows of the list where they are: what is there still is brought up to date, what is new waits.
 *
 * @param {Document} page
 */
function hold(page) {
  const here = rowsHere();
  const wanted = page.querySelector("table.jobs tbody");
  if (here === null || wanted === null) return;
  const news = byId("news");
  if (isWanted || !isInUse()) {
    isWanted = false;
    if (news !== null) news.replaceChildren();
    return;
  }
  const fresh = new Map([...wanted.children].map((row) => [row.id, row]));
  const old = [...here.children];
  const lastKept = old.findLastIndex(({ id }) => fresh.has(id));
  const kept = old.flatMap((row, index) => {
    const now = fresh.get(row.id);
    if (now !== undefined) return [now];
    // One that comes before others which are still there is gone; one behind them has gone to the next page.
    return index < lastKept ? [] : [document.importNode(row, true)];
  });
  const known = new Set(old.map(({ id }) => id));
  const count = [...fresh.keys()].filter((id) => !known.has(id)).length;
  wanted.replaceChildren(...kept);
  if (news === null) return;
  const text = `${count} new: show`;
  if (count === 0) return news.replaceChildren();
  if (news.textContent === text) return;
  const button = element("button", { type: "button" }, text);
  button.addEventListener("click", () => {
    isWanted = true;
    refresh();
  });
  news.replaceChildren(button);
}

/** @returns {HTMLInputElement[]} */
function boxes() {
  return [...document.querySelectorAll("table.jobs input[data-choose]")].filter((box) =>
    box instanceof HTMLInputElement
  );
}

/** @returns {HTMLInputElement[]} */
function chosen() {
  return boxes().filter(({ checked }) => checked);
}

/** Says what is chosen, and what can be done with it. */
function showChosen() {
  const bar = byId("chosen");
  if (bar === null) return;
  const some = chosen();
  bar.hidden = some.length === 0;
  const parts = Object.keys(ACTIONS).flatMap((name) => {
    const action = /** @type {Action} */ (name);
    const { title, states, danger } = ACTIONS[action];
    const fit = some.filter(({ dataset }) => states.includes(dataset.choose ?? ""));
    if (fit.length === 0) return [];
    const attributes = { type: "button", class: danger ? "small danger" : "small" };
    const button = element("button", attributes, `${title} ${fit.length}…`);
    button.addEventListener("click", () => askFor(action, fit));
    return [button];
  });
  const none = element("button", { type: "button", class: "small" }, "Choose none");
  none.addEventListener("click", () => choose(false));
  bar.replaceChildren(element("span", {}, `${some.length} chosen`), ...parts, none);
  const all = document.querySelector("input[data-choose-all]");
  if (!(all instanceof HTMLInputElement)) return;
  all.checked = some.length > 0 && some.length === boxes().length;
  all.indeterminate = some.length > 0 && !all.checked;
}

/** @param {boolean} checked */
function choose(checked) {
  for (const box of boxes()) box.checked = checked;
  showChosen();
}

/**
 * @param {Action} action
 * @param {readonly HTMLInputElement[]} some
 */
function askFor(action, some) {
  const { title, more, danger } = ACTIONS[action];
  const many = `${some.length} ${some.length === 1 ? "job" : "jobs"}`;
  ask({
    ask: `${title} ${many}?`,
    more,
    cli: cliOf(action, some),
    label: `${title} ${some.length === 1 ? "it" : "them"}`,
    danger,
    run: async () => {
      /** @type {string[]} */
      const faults = [];
      for (const box of some) {
        const path = `/api/jobs/${encodeURIComponent(box.value)}`;
        try {
          await (action === "discard"
            ? send("DELETE", path)
            : send("POST", `${path}/${action}`, {}));
          box.checked = false;
        } catch (thrown) {
          if (!(thrown instanceof Refusal)) throw thrown;
          faults.push(`${box.value}: ${thrown.message}`);
        }
      }
      isWanted = true; // what became of them is to be seen
      showChosen();
      const left = `${faults.length} of ${many} ${
        faults.length === 1 ? "was" : "were"
      } not changed`;
      if (faults.length > 0) throw new Refusal(left, faults);
      say(`${title}: ${many}`);
    },
  });
}

/**
 * @param {Action} action
 * @param {readonly HTMLInputElement[]} some
 */
function cliOf(action, some) {
  const ids = some.map(({ value }) => value).join(" ");
  if (action !== "discard") return `sluice jobs ${action} ${ids}`;
  const pools = Map.groupBy(some, ({ dataset }) => dataset.pool ?? "");
  return [...pools].map(([pool, boxes]) =>
    `sluice dlq discard ${pool} ${boxes.map(({ value }) => value).join(" ")}`
  ).join(" && ");
}

/** The search that goes on. */
let searching = new AbortController();

/** Goes on with a search, page by page, until there is enough, or no more. */
async function search() {
  searching.abort();
  searching = new AbortController();
  const { signal } = searching;
  for (let pages = 0; pages < MOST_PAGES; pages++) {
    const state = byId("searched");
    const next = document.querySelector("a[data-search]");
    if (state === null || !(next instanceof HTMLAnchorElement)) return;
    if (document.querySelectorAll("table.jobs tbody tr").length >= MOST_MATCHES) return;
    showSearch(state, true);
    try {
      const response = await fetch(next.href, { headers: { accept: "text/html" }, signal });
      if (!response.ok) break;
      const page = new DOMParser().parseFromString(await response.text(), "text/html");
      if (signal.aborted) return;
      append(page, state);
    } catch {
      break; // it was stopped, or nothing answers: it can be continued by hand
    }
  }
  const state = byId("searched");
  if (state !== null && !signal.aborted) showSearch(state, false);
}

/**
 * @param {HTMLElement} state
 * @param {boolean} isOn
 */
function showSearch(state, isOn) {
  const button = state.querySelector("button");
  if (!isOn) return button?.remove();
  if (button !== null) return;
  const stop = element("button", { type: "button", class: "small" }, "Stop");
  stop.addEventListener("click", () => {
    searching.abort();
    showSearch(state, false);
  });
  state.append(" ", stop);
}

/**
 * Adds what a further page has found.
 *
 * @param {Document} page
 * @param {HTMLElement} state
 */
function append(page, state) {
  localize(page);
  const found = page.querySelector("table.jobs");
  const here = rowsHere();
  if (found !== null && here !== null) {
    for (const row of found.querySelectorAll("tbody tr")) {
      here.append(document.importNode(row, true));
    }
  } else if (found !== null) {
    const list = found.closest(".card");
    document.querySelector("p.card.empty")?.replaceWith(document.importNode(list ?? found, true));
  }
  const more = page.getElementById("searched");
  const looked = Number(state.dataset.looked) + Number(more?.dataset.looked);
  state.dataset.looked = String(looked);
  const count = state.querySelector("[data-part=looked]");
  if (count !== null) count.textContent = grouped(looked);
  const back = state.querySelector("[data-part=back]");
  const farther = more?.querySelector("[data-part=back]");
  if (back !== null && farther) back.replaceWith(document.importNode(farther, true));
  const pages = document.querySelector("nav.pages");
  const next = page.querySelector("nav.pages");
  if (next === null) pages?.remove();
  else pages?.replaceWith(document.importNode(next, true));
  if (next === null || page.querySelector("a[data-search]") === null) {
    state.querySelector("[data-part=more]")?.remove();
    const none = document.querySelector("p.card.empty");
    const last = page.querySelector("p.card.empty");
    if (none !== null && last !== null) none.textContent = last.textContent;
  }
}

beforeTake(hold);
beforeTake((page) => {
  // Only a reader's action looks again at a search: it begins anew then.
  if (page.getElementById("searched") !== null) setTimeout(() => void search(), 0);
});
document.addEventListener("change", ({ target }) => {
  if (!(target instanceof HTMLInputElement)) return;
  if (target.dataset.chooseAll !== undefined) choose(target.checked);
  else if (target.dataset.choose !== undefined) showChosen();
});
void search();
showChosen();

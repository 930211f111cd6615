// @ts-check
/// <reference lib="dom" />

import { ask, leaveFor, Refusal, send } from "./actions.js";
import { byId, element, say } from "./dom.js";

/**
 * The reload: it is tried dry first, and what it would change is shown with the question.
 */

/** @typedef {import("../../runtime/handles.ts").ReloadReport} ReloadReport */
/** @typedef {import("../../contract/event.ts").ConfigChange} ConfigChange */

const button = byId("reload");
if (button instanceof HTMLButtonElement) {
  button.addEventListener("click", () => {
    button.disabled = true;
    tryDry().then(question, refused).finally(() => {
      button.disabled = false;
    });
  });
}

/** @returns {Promise<ReloadReport>} */
async function tryDry() {
  const report = await send("POST", "/api/reload?dryRun=1", {});
  return /** @type {ReloadReport} */ (report); // what this route answers
}

/** @param {ReloadReport} report */
function question({ changes, stale }) {
  const refusals = changes.filter(({ refused }) => refused).length;
  const fields = element("div", { class: "changes" });
  if (changes.length > 0) fields.append(listOf(changes));
  if (stale.length > 0) fields.append(staleOf(stale));
  ask({
    ask: "Reload the config?",
    more: refusals > 0
      ? "Nothing would change: the refused changes need a restart, and a reload is all or nothing."
      : changes.length === 0
      ? "Nothing would change: the running config is the same."
      : "All of this applies at once. Running jobs end under the old config.",
    fields,
    cli: "sluice reload",
    label: "Reload",
    run: async () => {
      await send("POST", "/api/reload", {});
      say(changes.length === 0 ? "Nothing has changed" : "The config is reloaded");
      if (changes.length > 0) await leaveFor(() => location.reload());
    },
  });
}

/** @param {readonly ConfigChange[]} changes */
function listOf(changes) {
  const items = changes.map(({ pointer, change, from, to, refused, effect }) => {
    const line = element("p", {}, element("code", {}, pointer), ` ${refused ? "refused" : change}`);
    const values = element("p", {});
    if (from !== undefined) values.append("from ", element("code", {}, textOf(from)));
    if (from !== undefined && to !== undefined) values.append(" ");
    if (to !== undefined) values.append("to ", element("code", {}, textOf(to)));
    const how = element("p", { class: refused ? "late" : "soft" }, effect);
    return element("li", {}, line, values, how);
  });
  return element("ul", {}, ...items);
}

/** @param {readonly string[]} stale */
function staleOf(stale) {
  const names = stale.map((name) => element("li", {}, element("code", {}, name)));
  return element(
    "div",
    {},
    element("p", {}, "Changed since they were loaded; the new code runs only after a restart:"),
    element("ul", {}, ...names),
  );
}

/** @param {unknown} value */
function textOf(value) {
  const text = JSON.stringify(value);
  return text.length > 200 ? `${text.slice(0, 200)}…` : text;
}

/** @param {unknown} thrown */
function refused(thrown) {
  const text = thrown instanceof Refusal ? thrown.message : "The server does not answer";
  const faults = thrown instanceof Refusal ? thrown.faults : [];
  const list = element("ul", {}, ...faults.map((fault) => element("li", {}, fault)));
  ask({
    ask: "The config cannot be loaded",
    more: faults.length > 0 ? "The old config stays in use. Fix this first:" : text,
    fields: list,
    label: "Look again",
    run: async () => {
      await Promise.resolve();
      button?.click();
    },
  });
}

// @ts-check
/// <reference lib="dom" />

import { ask, send } from "./actions.js";
import { element, say } from "./dom.js";

/** Asks for other bounds of a pool, and for how long. */

/** How long an override may last, by name. */
const LASTS = [
  { name: "5 minutes", cli: "5m", ms: 300_000 },
  { name: "10 minutes", cli: "10m", ms: 600_000 },
  { name: "30 minutes", cli: "30m", ms: 1_800_000 },
  { name: "1 hour", cli: "1h", ms: 3_600_000 },
  { name: "4 hours", cli: "4h", ms: 14_400_000 },
  { name: "12 hours", cli: "12h", ms: 43_200_000 },
];

document.addEventListener("click", (event) => {
  if (!(event.target instanceof Element)) return;
  const button = event.target.closest("[data-override]");
  if (button instanceof HTMLElement) askFor(button);
});

/** @param {HTMLElement} button */
function askFor(button) {
  const { override: pool = "", min = "0", max = "", most = max } = button.dataset;
  const inputs = {
    min: numberInput(`min, now ${min}`, most),
    max: numberInput(`max, now ${max}`, most),
    target: numberInput("target", most),
  };
  const select = element(
    "select",
    { id: "override-for" },
    ...LASTS.map(({ name, cli }) => element("option", { value: cli }, name)),
  );
  select.value = "10m";
  const fields = element(
    "div",
    { class: "fields" },
    ...Object.values(inputs).map(({ label }) => label),
    element("label", {}, "For", select),
  );
  const given = () =>
    Object.entries(inputs).filter(([, { input }]) => input.value !== "")
      .map(([name, { input }]) => /** @type {const} */ ([name, Number(input.value)]));
  ask({
    ask: `Override the bounds of pool "${pool}"?`,
    more: "Leave empty what should stay. Caps still apply; a target replaces that of the " +
      "controller. The override ends by itself.",
    label: "Override",
    fields,
    cliOf: () =>
      [
        "sluice pools scale",
        word(pool),
        ...given().map(([name, value]) => `--${name} ${value}`),
        `--for ${select.value}`,
      ]
        .join(" "),
    run: async () => {
      const last = LASTS.find(({ cli }) => cli === select.value);
      await send("PUT", `/api/pools/${encodeURIComponent(pool)}/override`, {
        ...Object.fromEntries(given()),
        expiresInMs: last?.ms ?? 0,
      });
      say(`Pool "${pool}" has other bounds for ${last?.name ?? ""}`);
    },
  });
  inputs.min.input.focus();
}

/**
 * @param {string} name
 * @param {string} most
 */
function numberInput(name, most) {
  const input = element("input", {
    type: "number",
    min: "0",
    max: most,
    step: "1",
    inputmode: "numeric",
  });
  return { input, label: element("label", {}, name, input) };
}

/**
 * As `shellWord` of the server.
 *
 * @param {string} text
 */
function word(text) {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

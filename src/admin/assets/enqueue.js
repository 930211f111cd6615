// @ts-check
/// <reference lib="dom" />

import { Refusal, send } from "./actions.js";
import { base, byId, element } from "./dom.js";

/** Sends the form that enqueues a job, and shows what the pool says of it. */

const form = byId("enqueue");
if (form instanceof HTMLFormElement) {
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    void enqueue(form);
  });
}

/** @param {HTMLFormElement} form */
async function enqueue(form) {
  const button = form.querySelector("button");
  const text = form.querySelector("textarea");
  if (button === null || text === null) return;
  tell([]);
  text.removeAttribute("aria-invalid");
  button.disabled = true;
  try {
    const answer = await send("POST", form.dataset.path ?? "", jobIn(form, text.value));
    const { id = "" } = /** @type {{ id?: string }} */ (answer);
    location.assign(`${base}/jobs/${encodeURIComponent(id)}`);
  } catch (thrown) {
    const faults = thrown instanceof Refusal ? thrown.faults : [];
    const message = thrown instanceof Error ? thrown.message : String(thrown);
    tell(faults.length > 0 ? faults : [message]);
    const isOfPayload = thrown instanceof SyntaxError ||
      faults.some((fault) => fault.startsWith("/payload"));
    if (isOfPayload) text.setAttribute("aria-invalid", "true");
    button.disabled = false;
    text.focus();
  }
}

/**
 * @param {HTMLFormElement} form
 * @param {string} payload
 */
function jobIn(form, payload) {
  const given = new FormData(form);
  const lane = given.get("lane");
  const type = given.get("type");
  const key = given.get("key");
  const isAgain = form.dataset.path?.endsWith("/again") === true;
  const noKey = isAgain ? { key: null } : {}; // one that is left out is that of the other job
  return {
    ...(lane === "" ? {} : { lane }), // the pool's routes say which
    ...(type === null ? {} : { type }),
    ...(key === null || key === "" ? noKey : { key }),
    payload: readPayload(payload),
  };
}

/** @param {string} text */
function readPayload(text) {
  try {
    return /** @type {unknown} */ (JSON.parse(text));
  } catch (thrown) {
    const why = thrown instanceof Error ? thrown.message : "";
    throw new SyntaxError(`The payload is no JSON: ${why}`);
  }
}

/** @param {readonly string[]} faults */
function tell(faults) {
  byId("enqueue-faults")?.replaceChildren(
    ...faults.map((fault) => element("p", { class: "fault" }, fault)),
  );
}

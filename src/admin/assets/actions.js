// @ts-check
/// <reference lib="dom" />

import { base, element, say } from "./dom.js";
import { grouped } from "./figures.js";
import { refresh } from "./live.js";

/**
 * Actions: they ask in a dialog, show the same thing as a command line, and show what the server says.
 *
 * A button is an action if it carries `data-act` (the method), `data-path`, `data-ask`, and perhaps
 * `data-body`, `data-more`, `data-count`, `data-counted`, `data-list`, `data-cli`, `data-done`, `data-danger`. `Act` in `act.tsx` makes it.
 */

/**
 * @typedef {object} Question
 * @property {string} ask What is asked.
 * @property {string} [more] What comes of it.
 * @property {string} [count] Path that counts the jobs that it is about.
 * @property {string} [counted] What is asked once they are counted, `{n}` in place of their number.
 * @property {string} [list] Path of the page that lists them.
 * @property {string} [cli] The same thing as a command line.
 * @property {string} [label] What the button that does it says.
 * @property {boolean} [danger] True: it cannot be taken back.
 * @property {HTMLElement} [fields] What is to be filled in.
 * @property {() => string} [cliOf] Makes the command line again after each input.
 * @property {() => Promise<unknown>} run Does it. What it throws is shown.
 */

/** A request that the server refused, with each fault. */
export class Refusal extends Error {
  /** @type {readonly string[]} */
  faults;

  /**
   * @param {string} message
   * @param {readonly string[]} faults
   */
  constructor(message, faults) {
    super(message);
    this.faults = faults;
  }
}

/**
 * Sends a request to the API.
 *
 * @param {string} method
 * @param {string} path Below the app, such as `/api/pools/mail/pause`.
 * @param {unknown} [body]
 * @returns {Promise<unknown>} What it answers.
 * @throws {Refusal} If the server refuses it.
 */
export async function send(method, path, body) {
  const response = await fetch(`${base}${path}`, {
    method,
    headers: { "content-type": "application/json", accept: "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (!response.ok) throw refusalOf(response.status, text);
  return text === "" ? undefined : JSON.parse(text);
}

/**
 * @param {number} status
 * @param {string} text
 */
function refusalOf(status, text) {
  try {
    /** @type {import("../http/wire.ts").Problem} */
    const problem = JSON.parse(text);
    const faults = (problem.errors ?? []).map(({ pointer, detail }) =>
      pointer === "" ? detail : `${pointer}: ${detail}`
    );
    return new Refusal(problem.detail, faults);
  } catch {
    return new Refusal(`The server answered ${status}`, []);
  }
}

/**
 * Asks, and does it if the answer is yes.
 *
 * @param {Question} question
 */
export function ask(question) {
  const { danger = false, label = "Do it" } = question;
  const fault = element("div", { role: "alert", class: "fault" });
  const yes = element("button", { type: "submit", class: danger ? "danger" : "primary" }, label);
  const no = element("button", { type: "button" }, "Cancel");
  const cli = cliPart(question);
  const form = element("form", { method: "dialog" });
  const title = element("h2", { id: "ask-title" }, question.ask);
  const more = element("p", { id: "ask-more" }, question.more ?? "");
  form.append(title, more);
  if (question.list !== undefined) {
    const link = element("a", { href: `${base}${question.list}` }, "Show them as a list");
    form.append(element("p", {}, link));
  }
  void countFor(question, title);
  if (question.fields !== undefined) form.append(question.fields);
  if (cli !== undefined) form.append(cli.part);
  form.append(fault, element("div", { class: "buttons" }, no, yes));
  const dialog = element(
    "dialog",
    { "aria-labelledby": "ask-title", "aria-describedby": "ask-more" },
    form,
  );
  form.addEventListener("input", () => cli?.update());
  no.addEventListener("click", () => dialog.close());
  dialog.addEventListener("close", () => dialog.remove());
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    yes.disabled = true;
    fault.replaceChildren();
    question.run().then(() => dialog.close(), (thrown) => {
      yes.disabled = false;
      fault.replaceChildren(...faultParts(thrown));
    }).finally(refresh);
  });
  document.body.append(dialog);
  dialog.showModal();
  if (danger) no.focus();
  else if (question.fields === undefined) yes.focus();
}

/**
 * Asks how many jobs it is about, and says so in the question.
 *
 * @param {Question} question
 * @param {HTMLElement} title
 */
async function countFor({ count, counted }, title) {
  if (count === undefined || counted === undefined) return;
  try {
    const { count: found, complete } =
      /** @type {import("../http/wire_lists.ts").JobCountJson} */ (await send("GET", count));
    const number = complete ? grouped(found) : `at least ${grouped(found)}`;
    title.textContent = counted.replace("{n}", () => number);
  } catch {
    // The question stays without a number.
  }
}

/** A request that nothing answers may have arrived, or arrive yet. */
const MAY_BE_DONE = "The server does not answer: it may have taken effect, so check before you " +
  "try again";

/** @param {unknown} thrown */
function faultParts(thrown) {
  if (!(thrown instanceof Refusal)) {
    return [element("p", {}, MAY_BE_DONE)];
  }
  const list = thrown.faults.filter((fault) => !thrown.message.startsWith(fault));
  const parts = [element("p", {}, thrown.message)];
  if (list.length === 0) return parts;
  return [...parts, element("ul", {}, ...list.map((text) => element("li", {}, text)))];
}

/** @param {Question} question */
function cliPart({ cli, cliOf }) {
  if (cli === undefined && cliOf === undefined) return undefined;
  const text = () => `${cliOf?.() ?? cli ?? ""}${whereOption()}`;
  const code = element("code", { tabindex: "0" }, text());
  const copy = element("button", { type: "button", class: "small" }, "Copy");
  copy.addEventListener("click", () => copyText(code.textContent ?? ""));
  const part = element(
    "div",
    { class: "cli" },
    element("span", { class: "soft" }, "The same on the command line"),
    element("div", { class: "line" }, code, copy),
  );
  return {
    part,
    update: () => {
      code.textContent = text();
    },
  };
}

/** Where the command line finds this system, unless it looks there anyway. */
function whereOption() {
  const url = `${location.origin}${base}`;
  return url === "http://127.0.0.1:8787" ? "" : ` --url ${url}`;
}

/**
 * Copies a text and says so.
 *
 * @param {string} text
 */
export function copyText(text) {
  navigator.clipboard.writeText(text).then(
    () => say("Copied"),
    () => say("The browser does not allow this page to copy: select the text instead"),
  );
}

/**
 * Leaves the page, and never resolves: nothing is looked at any more that may be gone.
 *
 * @param {() => void} go
 * @returns {Promise<never>}
 */
export function leaveFor(go) {
  go();
  return new Promise(() => {});
}

/** @param {HTMLElement} button */
function askFor(button) {
  const { act = "POST", path = "", body, ask: text = "", more, cli, done, danger } = button.dataset;
  const { count, counted, list } = button.dataset;
  ask({
    ask: text,
    ...(more === undefined ? {} : { more }),
    ...(cli === undefined ? {} : { cli }),
    ...(count === undefined ? {} : { count }),
    ...(counted === undefined ? {} : { counted }),
    ...(list === undefined ? {} : { list }),
    label: button.dataset.label ?? button.textContent ?? "Do it",
    danger: danger !== undefined,
    run: async () => {
      await send(act, path, body === undefined ? undefined : JSON.parse(body));
      if (done !== undefined) say(done);
      const { next } = button.dataset;
      if (next !== undefined) await leaveFor(() => location.assign(`${base}${next}`));
    },
  });
}

/** Listens to all buttons that are actions, those that come later too. */
export function startActions() {
  document.addEventListener("click", (event) => {
    if (!(event.target instanceof Element)) return;
    const button = event.target.closest("[data-act], [data-copy]");
    if (!(button instanceof HTMLElement)) return;
    if (button.dataset.copy !== undefined) return copyText(button.dataset.copy);
    askFor(button);
  });
}

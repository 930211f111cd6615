// @ts-check
/// <reference lib="dom" />

/** Path that the app is mounted at, such as `/queue`. Empty: at the root. */
export const base = document.documentElement.dataset.base ?? "";

/**
 * Makes an element. Text goes in as text, never as markup.
 *
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Readonly<Record<string, string>>} [attributes]
 * @param {...(Node | string)} children
 * @returns {HTMLElementTagNameMap[Tag]}
 */
export function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

/**
 * The element with this id, where the frame has one.
 *
 * @param {string} id
 * @returns {HTMLElement | null}
 */
export function byId(id) {
  return document.getElementById(id);
}

/**
 * Says something to all: shown for a while, and read aloud.
 *
 * @param {string} text
 */
export function say(text) {
  const region = byId("said");
  if (region === null) return;
  const note = element("p", { class: "note" }, text);
  region.replaceChildren(note);
  setTimeout(() => note.remove(), 6_000);
}

// @ts-check
/// <reference lib="dom" />

/**
 * Makes the content of one element like that of another, and leaves alone what is alike: focus,
 * selection, scrolling and opened details stay. What carries `data-keep` belongs to a script.
 *
 * @param {Element} from
 * @param {Element} to
 */
export function morph(from, to) {
  const keyed = new Map();
  const wantedKeys = new Set([...to.children].map(keyOf));
  for (const child of [...from.children]) {
    const key = keyOf(child);
    if (key === undefined) continue;
    // One that goes leaves at once: in between, what has no key would not be found again behind it.
    if (wantedKeys.has(key)) keyed.set(key, child);
    else child.remove();
  }
  /** @type {ChildNode | null} */
  let next = from.firstChild;
  for (const wanted of [...to.childNodes]) {
    const old = match(next, wanted, keyed);
    if (old === undefined) {
      from.insertBefore(document.importNode(wanted, true), next);
      continue;
    }
    if (old === next) next = old.nextSibling;
    else from.insertBefore(old, next);
    become(old, wanted);
  }
  while (next !== null) {
    const after = next.nextSibling;
    next.remove();
    next = after;
  }
}

/**
 * @param {ChildNode | null} next
 * @param {ChildNode} wanted
 * @param {Map<string, Element>} keyed
 * @returns {ChildNode | undefined}
 */
function match(next, wanted, keyed) {
  const key = keyOf(wanted);
  if (key !== undefined) {
    const found = keyed.get(key);
    keyed.delete(key); // a second one of the same key is another
    return found?.nodeName === wanted.nodeName ? found : undefined;
  }
  const fits = next !== null && next.nodeName === wanted.nodeName && keyOf(next) === undefined;
  return fits ? next : undefined;
}

/**
 * @param {ChildNode} old
 * @param {ChildNode} wanted
 */
function become(old, wanted) {
  if (!(old instanceof Element && wanted instanceof Element)) {
    if (old.nodeValue !== wanted.nodeValue) old.nodeValue = wanted.nodeValue;
    return;
  }
  if (old.hasAttribute("data-keep")) return;
  for (const { name } of [...old.attributes]) {
    if (!wanted.hasAttribute(name) && !isOwn(old, name)) old.removeAttribute(name);
  }
  for (const { name, value } of wanted.attributes) {
    if (old.getAttribute(name) !== value && !isOwn(old, name)) old.setAttribute(name, value);
  }
  morph(old, wanted);
}

/**
 * True for what the reader has set: an opened detail stays open.
 *
 * @param {Element} element
 * @param {string} name
 */
function isOwn(element, name) {
  return name === "open" && (element.nodeName === "DETAILS" || element.nodeName === "DIALOG");
}

/**
 * @param {Node} node
 * @returns {string | undefined}
 */
function keyOf(node) {
  if (!(node instanceof Element)) return undefined;
  return node.getAttribute("data-key") ?? (node.id === "" ? undefined : `#${node.id}`);
}

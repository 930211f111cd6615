/**
 * Finds a field that a JSON text gives twice: parsing keeps the last one and says nothing.
 *
 * @module
 */

/** The first field that an object of the text has twice. `undefined`: there is none. `value` is what the text says. */
export function repeatedField(text: string, value: unknown): string | undefined {
  // All objects together have as many fields as there are colons outside strings, unless one is lost.
  return fieldsIn(value) === colonsIn(text) ? undefined : findRepeated(text);
}

function colonsIn(text: string): number {
  let colons = 0;
  let isInside = false;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) isInside = !isInside;
    else if (code === BACKSLASH) at++; // outside strings there is none
    else if (code === COLON && !isInside) colons++;
  }
  return colons;
}

const QUOTE = '"'.charCodeAt(0);
const BACKSLASH = "\\".charCodeAt(0);
const COLON = ":".charCodeAt(0);

/** Goes down without calls: a body may be nested deeper than the stack is. */
function fieldsIn(value: unknown): number {
  let fields = 0;
  const open: unknown[] = [value];
  while (open.length > 0) {
    const next = open.pop();
    if (typeof next !== "object" || next === null) continue;
    const items: readonly unknown[] = Array.isArray(next) ? next : Object.values(next);
    if (items !== next) fields += items.length;
    for (const item of items) if (typeof item === "object") open.push(item);
  }
  return fields;
}

function findRepeated(text: string): string | undefined {
  const open: (Set<string> | undefined)[] = [];
  for (const [token, key] of text.matchAll(/("(?:[^"\\]|\\.)*")\s*:|"(?:[^"\\]|\\.)*"|[{}[\]]/g)) {
    if (token === "{") open.push(new Set());
    else if (token === "[") open.push(undefined);
    else if (token === "}" || token === "]") open.pop();
    else if (key !== undefined) {
      const name = String(JSON.parse(key));
      const names = open.at(-1);
      if (names?.has(name)) return name;
      names?.add(name);
    }
  }
  return undefined;
}

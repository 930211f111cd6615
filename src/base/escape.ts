/**
 * Texts from outside as they may be shown.
 *
 * @module
 */

/**
 * A text whose control characters are seen rather than obeyed: an escape sequence in an error or a name
 * could color, move or clear a terminal. Line breaks and tabs stay.
 */
export function visible(text: string): string {
  return text.replace(OBEYED, escaped);
}

// deno-lint-ignore no-control-regex -- these are what it looks for
const OBEYED = /[\0-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/** A text in which each address, such as `https://user:password@host/`, has lost user and password. */
export function withoutPassword(text: string): string {
  return text.includes("@") ? text.replace(/:\/\/[^\s/?#]*@/g, "://[redacted]@") : text;
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

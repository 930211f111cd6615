/**
 * Cursors of pages as clients see them: they count only for the very list that they came from.
 *
 * @module
 */

/** Longest cursor that is read, characters: one over many pools has a place in each. */
export const LONGEST_CURSOR = 32_768;

/** Makes a cursor of a store's. `list` names what is listed, filters included. */
export function sealCursor(list: readonly (string | undefined)[], cursor: string): string {
  const text = JSON.stringify([keyOf(list), cursor]);
  return new TextEncoder().encode(text).toBase64({ alphabet: "base64url", omitPadding: true });
}

/** The store's cursor. `undefined`: it is none, or of another list. */
export function openCursor(
  list: readonly (string | undefined)[],
  sealed: string,
): string | undefined {
  if (sealed.length > LONGEST_CURSOR) return undefined;
  try {
    const bytes = Uint8Array.fromBase64(sealed, { alphabet: "base64url" });
    const opened: unknown = JSON.parse(new TextDecoder().decode(bytes));
    if (!Array.isArray(opened) || opened.length !== 2 || opened[0] !== keyOf(list)) {
      return undefined;
    }
    return typeof opened[1] === "string" ? opened[1] : undefined;
  } catch {
    return undefined; // neither base64 nor JSON
  }
}

function keyOf(list: readonly (string | undefined)[]): string {
  return list.map((part) => part === undefined ? "" : encodeURIComponent(part)).join(" ");
}

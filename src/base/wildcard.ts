/**
 * Patterns of names, in which `*` matches any text.
 *
 * @module
 */

/**
 * True for a text that fits: each `*` matches any text, an empty one too; all else itself.
 * Takes the text once from left to right, however many `*` there are: no text makes it slow.
 */
export function wildcard(pattern: string): (text: string) => boolean {
  const [first = "", ...rest] = pattern.split("*");
  const last = rest.pop();
  if (last === undefined) return (text) => text === pattern;
  return (text) => {
    if (!text.startsWith(first)) return false;
    let at = first.length;
    for (const part of rest) {
      const found = text.indexOf(part, at);
      if (found < 0) return false;
      at = found + part.length;
    }
    return text.length - last.length >= at && text.endsWith(last);
  };
}

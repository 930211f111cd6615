/**
 * Names in little room.
 *
 * @module
 */

/** A text of at most `most` characters: what is too much is left out of its middle. */
export function middleOut(text: string, most: number): string {
  const characters = [...text];
  if (characters.length <= most) return text;
  const tail = Math.floor((most - 1) / 2);
  const head = characters.slice(0, most - 1 - tail).join("");
  return `${head}…${characters.slice(characters.length - tail).join("")}`;
}

/**
 * Writes markup: what comes from outside is escaped.
 *
 * @module
 */

/** Markup that is safe to put in. */
export class Markup {
  /** Holds it. */
  constructor(readonly text: string) {}

  /** The text itself. */
  toString(): string {
    return this.text;
  }
}

/** What a template may hold. Texts are escaped; `undefined` is nothing; lists are joined. */
export type MarkupPart = string | number | Markup | undefined | readonly MarkupPart[];

/** Markup of a template. */
export function markup(parts: TemplateStringsArray, ...values: readonly MarkupPart[]): Markup {
  return new Markup(
    parts.map((part, index) => index === 0 ? part : written(values[index - 1]) + part).join(""),
  );
}

function written(value: MarkupPart): string {
  if (value === undefined) return "";
  if (value instanceof Markup) return value.text;
  if (typeof value === "number") return String(value);
  if (typeof value === "string") return escaped(value);
  return value.map(written).join("");
}

function escaped(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

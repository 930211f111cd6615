/**
 * What of a URL and of an answer may be shown: the rest may hold a secret.
 *
 * @module
 */

import type { ReadAnswer } from "./_send.ts";

/** Longest excerpt of a body in an error, characters. */
const LONGEST_EXCERPT = 300;

/** Headers that hold no secret, and the shortest value of others that may be one, characters. */
const PLAIN_HEADERS = /^(accept|content-type|user-agent)/i;
const SHORTEST_SECRET = 4;

/** A part of a path that is so long, or so long and of letters and digits, may be a key. */
const LONG_PART = 24;
const KEY_PART = 16;

/** What of a URL may be shown: its query is left out, and so are parts of its path that look like keys. */
export function placeOf(url: string): string {
  const { origin, pathname, search } = new URL(url);
  const path = pathname.split("/").map((part) => isKey(part) ? "…" : part).join("/");
  return `${origin}${path === "/" ? "" : path}${search === "" ? "" : "?…"}`;
}

/** True for what may be a key: it is long, and no word. */
export function isKey(part: string): boolean {
  return part.length >= LONG_PART ||
    (part.length >= KEY_PART && /\d/.test(part) && /[a-z]/i.test(part));
}

/** Values of headers that may be secrets, such as a token, and their last words. */
export function secretsIn(headers: Headers): readonly string[] {
  return [...headers].filter(([name]) => !PLAIN_HEADERS.test(name))
    .flatMap(([, value]) => [value, value.split(" ").at(-1) ?? ""])
    .filter(({ length }) => length >= SHORTEST_SECRET);
}

/** A receiver may say what it was sent. */
function withoutSecrets(text: string, secrets: readonly string[]): string {
  return secrets.reduce((left, secret) => left.replaceAll(secret, "[redacted]"), text);
}

/** The body of an answer as a text, as far as it was read. `undefined`: it is none. */
function textOf(bytes: Uint8Array, headers: Headers): string | undefined {
  const type = headers.get("content-type") ?? "text/plain";
  if (!/^text\/|json|xml|urlencoded/i.test(type)) return undefined;
  return new TextDecoder().decode(bytes, { stream: true }); // half a character at its end is left out
}

/** How a body begins, in one line of at most 300 characters and without secrets. Empty if it is no text. */
export function excerptOf({ bytes, headers }: ReadAnswer, secrets: readonly string[]): string {
  const body = withoutSecrets(textOf(bytes, headers) ?? "", secrets); // a cut would leave half of one
  const text = body.replaceAll(/\s+/g, " ").trim();
  return text.length <= LONGEST_EXCERPT ? text : `${text.slice(0, LONGEST_EXCERPT - 1)}…`;
}

/** The body of an answer as a result keeps it: what it says in JSON if all of it is here, else its text. */
export function resultBody(
  { bytes, headers, isWhole }: ReadAnswer,
  secrets: readonly string[],
): unknown {
  const text = textOf(bytes, headers);
  if (text === undefined) return undefined;
  if (isWhole && /json/i.test(headers.get("content-type") ?? "")) {
    try {
      return JSON.parse(
        text,
        (_, value) => typeof value === "string" ? withoutSecrets(value, secrets) : value,
      );
    } catch {
      // It only says that it is JSON.
    }
  }
  return withoutSecrets(text, secrets);
}

/**
 * Changes values in the text of a config. Comments and everything else stay as they are.
 *
 * @module
 */

import { applyEdits, modify } from "jsonc-parser";
import type { Path } from "./faults.ts";

/** A value that is to be at a place. `undefined`: nothing is to be there. */
export interface TextEdit {
  /** Where. */
  readonly path: Path;
  /** What. */
  readonly to: unknown;
}

const FORMAT = { insertSpaces: true, tabSize: 2, eol: "\n" };

/** The text with all changes made, one after the other. */
export function withEdits(text: string, edits: readonly TextEdit[]): string {
  return edits.reduce((changed, { path, to }) => {
    const changes = modify(changed, [...path], to, { formattingOptions: FORMAT });
    return applyEdits(changed, changes);
  }, text);
}

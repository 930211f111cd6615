/**
 * What is typed into `sluice top`: a filter, an override, a yes.
 *
 * @module
 */

import type { OverrideBody } from "../admin/http/wire.ts";
import { CliError } from "./failure.ts";
import type { ScreenEvent } from "./screen.ts";
import { durationMs, wholeNumber } from "./verb.ts";

/** A line that is being typed. */
export interface Prompt {
  /** What is asked for. */
  readonly label: string;
  /** What was typed so far. */
  readonly text: string;
  /** True: one key answers, `y` for yes. */
  readonly confirms?: true;
  /** Called after each key. */
  readonly typed?: (text: string) => void;
  /** Called with what was typed in the end; for one that confirms, only for a yes. */
  readonly done: (text: string) => void;
  /** Called if it is given up. */
  readonly left?: () => void;
}

/** The prompt after one more key. `undefined`: it has ended. */
export function typeInto(prompt: Prompt, event: ScreenEvent): Prompt | undefined {
  if (prompt.confirms) {
    if (typeof event === "string" && event === "resize") return prompt;
    if (typeof event === "object" && event.typed.toLowerCase() === "y") prompt.done("y");
    else prompt.left?.();
    return undefined;
  }
  if (event === "enter") {
    prompt.done(prompt.text);
    return undefined;
  }
  if (event === "escape") {
    prompt.left?.();
    return undefined;
  }
  const text = typeof event === "object"
    ? prompt.text + event.typed
    : event === "backspace"
    ? prompt.text.slice(0, -1)
    : prompt.text;
  prompt.typed?.(text);
  return { ...prompt, text };
}

/** What an override may be, as it is typed. */
export const OVERRIDE_HINT = '"max 4 for 10m", "target 2", or "clear"';

/** Reads an override. `undefined`: it is to be ended. @throws {CliError} If it is none. */
export function readOverride(text: string): OverrideBody | undefined {
  const words = text.trim().split(/\s+/);
  if (words.join() === "clear") return undefined;
  const given: Record<string, number | undefined> = {};
  let expiresInMs = 600_000;
  for (let at = 0; at < words.length; at += 2) {
    const [name = "", value] = words.slice(at, at + 2);
    if (name === "for") expiresInMs = durationMs("for", value ?? "") ?? expiresInMs;
    else if (["min", "max", "target"].includes(name)) given[name] = wholeNumber(name, value ?? "");
    else throw new CliError(`Expected ${OVERRIDE_HINT} but received "${text}"`, 2);
  }
  return { ...given, expiresInMs };
}

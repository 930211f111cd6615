/**
 * A scenario as the text of a file: an object a line, lists filled into lines.
 *
 * @module
 */

import type { ScenarioInput } from "./scenario.ts";

/** Longest line, characters. */
const WIDTH = 100;

/** A scenario as JSON that people can read. */
export function scenarioText(scenario: ScenarioInput): string {
  return `${show(scenario, "")}\n`;
}

function show(value: unknown, indent: string): string {
  const within = `${indent}  `;
  if (Array.isArray(value)) {
    const lines = filled(value.map((item) => JSON.stringify(item)), WIDTH - within.length);
    return lines.length === 0 ? "[]" : `[\n${within}${lines.join(`\n${within}`)}\n${indent}]`;
  }
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const entries = Object.entries(value).filter(([, item]) => item !== undefined);
  const lines = entries.map(([key, item]) => `${JSON.stringify(key)}: ${show(item, within)}`);
  return `{\n${within}${lines.join(`,\n${within}`)}\n${indent}}`;
}

function filled(items: readonly string[], width: number): readonly string[] {
  const lines: string[] = [];
  let line = "";
  items.forEach((item, index) => {
    const piece = index < items.length - 1 ? `${item},` : item;
    if (line !== "" && line.length + 1 + piece.length > width) {
      lines.push(line);
      line = "";
    }
    line += line === "" ? piece : ` ${piece}`;
  });
  return line === "" ? lines : [...lines, line];
}

/**
 * Names: one exported type name has one meaning and is in one file.
 *
 * @module
 */

import assert from "node:assert/strict";
import { type SourceFile, sourceFiles } from "./_source.ts";

const TYPE = /^export (?:declare |abstract )*(?:interface|type|class|enum) (\w+)/gm;

/** Names of exported types that more than one file declares, each with its files. */
function doublesIn(files: readonly SourceFile[]): readonly string[] {
  const places = new Map<string, string[]>();
  for (const { path, text } of files) {
    for (const [, name = ""] of text.matchAll(TYPE)) {
      places.set(name, [...places.get(name) ?? [], path]);
    }
  }
  return [...places].filter(([, paths]) => paths.length > 1)
    .map(([name, paths]) => `${name} is declared in ${paths.join(" and ")}`);
}

Deno.test("one exported type name stands in one file", async () => {
  const doubles = doublesIn(await sourceFiles("mod.ts", "src", "plugins", "stores"));

  assert.deepEqual(doubles, []);
});

Deno.test("doublesIn() finds a name that two files export, and lets pass what one keeps for itself", () => {
  const files = [
    { path: "a.ts", text: "export interface Lane {}\nexport type Part = 1;\ntype Own = 1;" },
    {
      path: "b.ts",
      text: "export class Lane {}\ntype Part = 2;\nexport type { Own } from './c.ts';",
    },
    { path: "c.ts", text: "export abstract class Own {}" },
  ];

  assert.deepEqual(doublesIn(files), ["Lane is declared in a.ts and b.ts"]);
});

/**
 * Holds the table of cases to the tests that there are.
 *
 * @module
 */

import assert from "node:assert/strict";
import { findIn, type SourceFile, sourceFiles } from "../_source.ts";

const TABLE = new URL("README.md", import.meta.url);

/** One line of the table. */
interface Row {
  readonly id: string;
  readonly path: string;
  readonly test: string;
}

/** Names of the tests of a file; what is put into a name at run time is `…`. */
function testsIn(file: SourceFile): readonly string[] {
  const names: string[] = [];
  findIn(file, () => ({
    CallExpression: ({ callee, arguments: [name] }) => {
      if (callee.type !== "MemberExpression" || callee.object.type !== "Identifier") return;
      if (callee.object.name !== "Deno" || callee.property.type !== "Identifier") return;
      if (callee.property.name !== "test") return;
      if (name?.type === "Literal") names.push(String(name.value));
      if (name?.type === "TemplateLiteral") {
        names.push(name.quasis.map((quasi) => quasi.cooked).join("…"));
      }
    },
  }));
  return names;
}

async function readRows(): Promise<readonly Row[]> {
  const text = await Deno.readTextFile(TABLE);
  return [...text.matchAll(/^\| ([A-G]\d+)\s*\| \[[^\]]*\]\(([^)]*)\)\s*\| (.*?)\s*\|$/gm)].map(
    ([, id = "", link = "", test = ""]) => {
      const path = new URL(link, TABLE).pathname.slice(new URL("../../", TABLE).pathname.length);
      return { id, path, test: test.replaceAll("\\|", "|") };
    },
  );
}

Deno.test("every test that the table of cases names exists", async () => {
  const rows = await readRows();
  const tests = new Map<string, readonly string[]>();
  for (const file of await sourceFiles("tests")) tests.set(file.path, testsIn(file));

  assert.ok(rows.length > 100, `${rows.length} rows`);
  const missing = rows.filter(({ path, test }) => tests.get(path)?.includes(test) !== true);
  assert.deepEqual(missing, []);
});

Deno.test("every test of the cases stands in their table, and every case has one", async () => {
  const rows = await readRows();
  const listed = new Set(rows.map(({ path, test }) => `${path}: ${test}`));
  const files = (await sourceFiles("tests/cases")).filter(({ path }) =>
    path.endsWith("_test.ts") && path !== "tests/cases/table_test.ts"
  );
  const own = files.flatMap((file) => testsIn(file).map((test) => `${file.path}: ${test}`));

  assert.deepEqual(own.filter((test) => !listed.has(test)), []);
  const ids = [
    ...["A1", "A2", "A5", "A7", "B1", "B2", "B5", "B6", "B9", "B11", "C1", "C3", "C6", "C10"],
    ...["C12", "D1", "D4", "D7", "E2", "E4", "E6", "E8", "F2", "F5", "F7", "G1", "G2", "G3", "G4"],
  ];
  assert.deepEqual([...new Set(rows.map(({ id }) => id))], ids);
});

Deno.test("testsIn() reads names that are texts and those that are made up", () => {
  const text =
    'Deno.test("one", () => {});\nfor (const a of b) Deno.test(`two ${a ? "x" : `y`} of ${b}`, c);';
  assert.deepEqual(testsIn({ path: "a_test.ts", text }), ["one", "two … of …"]);
});

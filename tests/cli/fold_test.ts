import assert from "node:assert/strict";
import { type Column, fold, wrap } from "../../src/cli/fold.ts";

interface Row {
  readonly name: string;
  readonly count: number;
}

const COLUMNS: readonly Column<Row>[] = [
  { title: "NAME", rank: 0, cell: ({ name }) => name },
  {
    title: "STATE",
    rank: 0,
    cell: () => "failing, paused",
    short: () => "failing +1",
    style: () => "red",
  },
  { title: "COUNT", rank: 2, cell: ({ count }) => count },
  { title: "MORE", rank: 1, cell: () => "more" },
];

const ROWS: readonly Row[] = [{ name: "a-long-name-of-a-pool", count: 1_000 }, {
  name: "b",
  count: 2,
}];

function laid(width?: number): readonly string[] {
  const { head, rows } = fold(COLUMNS, ROWS, width);
  return [
    head,
    ...rows.map((parts) =>
      parts.map((part) => typeof part === "string" ? part : part.text).join("")
    ),
  ];
}

Deno.test("fold() leaves a table as it is where there is room", () => {
  assert.deepEqual(laid(), [
    "NAME                   STATE            COUNT  MORE",
    "a-long-name-of-a-pool  failing, paused  1,000  more",
    "b                      failing, paused      2  more",
  ]);
  assert.deepEqual(fold(COLUMNS, ROWS).left, []);
});

Deno.test("fold() shortens cells, then leaves columns out by their rank, then shortens names", () => {
  assert.equal(laid(46)[1], "a-long-name-of-a-pool  failing +1  1,000  more");
  assert.equal(laid(39)[1], "a-long-name-of-a-pool  failing +1  more");
  assert.equal(laid(33)[1], "a-long-name-of-a-pool  failing +1");
  assert.equal(laid(28)[1], "a-long-n…-a-pool  failing +1");
  assert.equal(laid(1)[1], "a-lo…ool  failing +1");
  assert.deepEqual(fold(COLUMNS, ROWS, 33).left, ["COUNT", "MORE"]);
});

Deno.test("fold() keeps the styles of cells, and rows of a table without rows", () => {
  const [, , state] = fold(COLUMNS, ROWS).rows[0] ?? [];

  assert.deepEqual(state, { text: "failing, paused", style: "red" });
  assert.deepEqual(fold(COLUMNS, [], 10).rows, []);
});

Deno.test("wrap() breaks a text at spaces, keeps its indent, and breaks no word", () => {
  assert.deepEqual(wrap("one two three", 7), ["one two", "  three"]);
  assert.deepEqual(wrap("  one two", 6, "    "), ["  one", "    two"]);
  assert.deepEqual(wrap("longer-than-that", 4), ["longer-than-that"]);
  assert.deepEqual(wrap("", 4), [""]);
});

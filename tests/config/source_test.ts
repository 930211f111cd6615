import assert from "node:assert/strict";
import fc from "fast-check";
import { formatFault } from "../../src/contract/errors.ts";
import { parseSource } from "../../src/config/source.ts";
import { faultsOf, pool, resolveFiles, resolveObject } from "./_bench.ts";

function syntaxOf(text: string): readonly string[] {
  return parseSource(text).syntax.map(({ path, place, message }) =>
    `${place?.line}:${place?.column} /${path.join("/")} ${message}`
  );
}

Deno.test("parseSource() reads comments, trailing commas and a byte order mark", () => {
  const { value, syntax, place } = parseSource('\uFEFF// all\n{ "a": [1, /* two */ 2,], }');

  assert.deepEqual(value, { a: [1, 2] });
  assert.deepEqual(syntax, []);
  assert.deepEqual(place(["a", 1], "value"), { offset: 29, line: 2, column: 22 });
});

Deno.test("parseSource() answers what JSON.parse() does, for all JSON", () => {
  fc.assert(fc.property(fc.json(), fc.constantFrom(0, 2), (text, indent) => {
    const expected = JSON.parse(text);
    const { value, syntax } = parseSource(JSON.stringify(expected, null, indent));
    assert.deepEqual(syntax, []);
    assert.deepEqual(value, expected);
  }));
});

Deno.test("parseSource() finds keys and values, or the nearest above", () => {
  const { place } = parseSource('{\r\n  "a": {\r  "b": 1,\n    "a": [true]\n  }\n}');
  const at = (path: (string | number)[], of: "key" | "value"): readonly (number | undefined)[] => {
    const found = place(path, of);
    return [found?.line, found?.column];
  };

  assert.deepEqual(at([], "value"), [1, 1]);
  assert.deepEqual(at(["a"], "key"), [2, 3]);
  assert.deepEqual(at(["a"], "value"), [2, 8]);
  assert.deepEqual(at(["a", "b"], "value"), [3, 8]);
  assert.deepEqual(at(["a", "a"], "key"), [4, 5]);
  assert.deepEqual(at(["a", "a", 0], "value"), [4, 11]);
  assert.deepEqual(at(["a", "gone", "a"], "key"), [2, 8]);
  assert.deepEqual(at(["a", "a", 5], "value"), [4, 10]);
});

Deno.test("parseSource() keeps a key __proto__ a key", () => {
  const { value } = parseSource('{ "__proto__": { "a": 1 } }');

  assert.deepEqual(Object.keys(Object(value)), ["__proto__"]);
  assert.equal(Object.getPrototypeOf(value), Object.prototype);
});

Deno.test("parseSource() says of each line what is not JSON", () => {
  assert.deepEqual(syntaxOf(""), ["1:1 / Expected a value but the file ends"]);
  assert.deepEqual(syntaxOf("{ pools: 1 }"), [
    "1:3 / Expected a value or a string in double quotes but received pools",
  ]);
  assert.deepEqual(syntaxOf('{ "a": }'), ["1:8 /a Expected a value but received }"]);
  assert.deepEqual(syntaxOf('{ "a" 1 }'), ["1:7 /a Expected a colon after the key but received 1"]);
  assert.deepEqual(syntaxOf('{ "a": 1 "b": 2 }'), ['1:10 /b Expected a comma but received "b"']);
  assert.deepEqual(syntaxOf('{ "a": [1'), ["1:10 /a/0 Expected a closing ] but the file ends"]);
  assert.deepEqual(syntaxOf('{ "a": 1'), ["1:9 /a Expected a closing } but the file ends"]);
  assert.deepEqual(syntaxOf("{} {}"), ["1:4 / Expected the end of the file but received {"]);
  assert.deepEqual(syntaxOf("{ 1: 2 }"), ["1:3 / Expected a key in double quotes but received 1"]);
  assert.deepEqual(syntaxOf("{} /* a"), [
    "1:4 / Expected the end of the comment but received /* a",
  ]);
  assert.deepEqual(syntaxOf('{ "a": "b }'), [
    '1:8 /a Expected the closing double quote of the string but received "b }',
  ]);
  assert.deepEqual(syntaxOf('{ "a": 1. }'), [
    "1:8 /a Expected the rest of the number but received 1.",
  ]);
  assert.deepEqual(syntaxOf('{ "a": "\\u12" }'), [
    '1:8 /a Expected four hexadecimal digits after \\u but received "\\u12"',
  ]);
  assert.deepEqual(syntaxOf('{ "a": "\\x" }'), [
    '1:8 /a Expected one of the characters " \\ / b f n r t u after \\ but received "\\x"',
  ]);
  assert.deepEqual(syntaxOf('{ "a": "\t" }'), [
    '1:8 /a Expected no control character in a string but received "\t"',
  ]);
});

Deno.test("parseSource() names a key that is given twice, and keeps the first", () => {
  const text = '{\n  "a": 1,\n  "b": [{ "c": 1, "c": 2 }],\n  "a": 2\n}';

  assert.deepEqual(syntaxOf(text), [
    '3:19 /b/0/c The key "c" is given twice: it is in line 3 already',
    '4:3 /a The key "a" is given twice: it is in line 2 already',
  ]);
  assert.deepEqual(parseSource(text).value, { a: 1, b: [{ c: 1 }] });
});

Deno.test("parseSource() looks on after a missing comma, not after worse", async () => {
  const right = JSON.stringify({ pools: { mail: pool({ tickMs: 0, size: { min: 5, max: 2 } }) } });
  const tick = "/pools/mail/tickMs: Expected a number >= 1 but received 0";
  const size = "/pools/mail/size/min: Expected at most max (2) but received 5";

  const comma = await linesOf(right.replace(',"tickMs"', ' "tickMs"'));
  const worse = await linesOf(right.replace('"tickMs"', "tickMs"));

  assert.deepEqual(comma.map((line) => line.slice(line.indexOf("/"))), [
    size,
    '/pools/mail/tickMs: Expected a comma but received "tickMs"',
    tick,
  ]);
  assert.equal(worse.length, 1);
});

Deno.test("parseSource() gives faults of a file their file, those of an object none", async () => {
  const config = { pools: { mail: pool({ tickMs: 0 }) } };

  const [inFile] = await faultsOf(resolveFiles({ "pools.json": JSON.stringify(config, null, 2) }));
  const [inCode] = await faultsOf(resolveObject(config));

  assert.match(inFile?.file ?? "", /pools\.json$/);
  assert.deepEqual([inFile?.line, inFile?.column], [17, 17]);
  assert.deepEqual([inCode?.file, inCode?.line, inCode?.column], [undefined, undefined, undefined]);
});

async function linesOf(text: string): Promise<readonly string[]> {
  const faults = await faultsOf(resolveFiles({ "pools.json": text }));
  return faults.map((fault) => formatFault(fault).replace(/^.*pools\.json:/, ""));
}

import assert from "node:assert/strict";
import { isoTime } from "../../src/base/iso_time.ts";

Deno.test("isoTime() reads times with their zone", () => {
  const at = Date.UTC(2026, 11, 24, 18);
  for (
    const text of ["2026-12-24T18:00Z", "2026-12-24T18:00:00.000Z", "2026-12-24T19:00:00+01:00"]
  ) {
    assert.equal(isoTime(text), at, text);
  }
  assert.equal(isoTime("2028-02-29T00:00:00Z"), Date.UTC(2028, 1, 29));
});

Deno.test("isoTime() refuses what has no zone, no such day, or is no time", () => {
  const texts = [
    "2026-12-24",
    "2026-12-24T18:00:00",
    "2026-02-30T00:00:00Z",
    "2026-13-01T00:00:00Z",
  ];
  for (const value of [...texts, "tomorrow", "", "2026-12-24T25:00:00Z", 5, null, undefined]) {
    assert.equal(isoTime(value), undefined, String(value));
  }
});

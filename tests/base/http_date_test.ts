import assert from "node:assert/strict";
import { httpDateMs } from "../../src/base/http_date.ts";

const NOW_MS = Date.UTC(2026, 5, 1);

// B8; RFC 9110, 5.6.7
Deno.test("httpDateMs() reads all forms that HTTP allows as the same time, in any zone of the machine", () => {
  const atMs = Date.UTC(1994, 10, 6, 8, 49, 37);

  for (
    const text of [
      "Sun, 06 Nov 1994 08:49:37 GMT",
      "Sunday, 06-Nov-94 08:49:37 GMT",
      "Sun Nov  6 08:49:37 1994",
      "Sun, 06 Nov 1994 08:49:37 UTC",
      "Sun, 06 Nov 1994 10:49:37 +0200",
      "1994-11-06T08:49:37Z",
    ]
  ) assert.equal(httpDateMs(text, NOW_MS), atMs, text);
});

Deno.test("httpDateMs() takes a year of two digits for one at most 50 years ahead", () => {
  const yearOf = (years: string): number =>
    new Date(httpDateMs(`Monday, 01-Jun-${years} 00:00:00 GMT`, NOW_MS) ?? NaN).getUTCFullYear();

  assert.deepEqual(["26", "50", "76", "77", "99"].map(yearOf), [2026, 2050, 2076, 1977, 1999]);
});

Deno.test("httpDateMs() takes nothing else for a date", () => {
  for (
    const text of [
      "",
      "soon",
      "-5",
      "7",
      "1e3",
      "2026",
      "2026-01-01",
      "06 Nov 1994",
      "Sun, 06 Nov 1994 08:49:37",
      "Sun, 99 Nov 1994 08:49:37 GMT",
      "Sun, 06 Nov 1994 08:49:37 GMT, 7",
      "x".repeat(100_000),
    ]
  ) assert.equal(httpDateMs(text, NOW_MS), undefined, text.slice(0, 40));
});

// Every folder of tests/scenarios/ is a case: config.json, scenario.json and expected.json, which is
// part of a report. A number there is what the report must say for every seed; `atLeast` and
// `atMost` bound it for every seed; `about` and `within` (a share) hold for the mean over the seeds.

import assert from "node:assert/strict";
import { isRecord } from "../src/config/faults.ts";
import { type Report, simulate } from "../src/simulate/mod.ts";

const ROOT = new URL("./scenarios/", import.meta.url);

for (const { name, isDirectory } of Deno.readDirSync(ROOT)) {
  if (!isDirectory) continue;
  const folder = new URL(`${name}/`, ROOT);
  Deno.test(`scenario ${name} comes to what is expected`, async () => {
    const { about: _, seeds, ...expected } = JSON.parse(
      await Deno.readTextFile(new URL("expected.json", folder)),
    );
    const reports: Report[] = [];
    for (let seed = 1; seed <= seeds; seed++) {
      const files = [new URL("config.json", folder), new URL("scenario.json", folder)] as const;
      reports.push(await simulate(...files, { seed }));
    }

    const faults = faultsIn(expected, reports, "");

    assert.deepEqual(faults, []);
  });
}

/** What is not as expected, a line each. */
function faultsIn(expected: unknown, found: readonly unknown[], path: string): string[] {
  if (isRecord(expected) && !isBound(expected)) {
    return Object.entries(expected).flatMap(([key, below]) =>
      faultsIn(below, found.map((each) => isRecord(each) ? each[key] : undefined), `${path}/${key}`)
    );
  }
  const figures = found.map(Number);
  if (!isRecord(expected)) {
    return figures.every((figure) => figure === expected) ? [] : [`${path}: ${figures}`];
  }
  const { atLeast = -Infinity, atMost = Infinity, about, within } = expected;
  const mean = figures.reduce((sum, figure) => sum + figure, 0) / figures.length;
  const inBounds = figures.every((figure) => figure >= Number(atLeast) && figure <= Number(atMost));
  const isNear = about === undefined ||
    Math.abs(mean - Number(about)) <= Number(within) * Number(about);
  return inBounds && isNear ? [] : [`${path}: ${figures}, mean ${mean}`];
}

function isBound(expected: Readonly<Record<string, unknown>>): boolean {
  return ["atLeast", "atMost", "about"].some((key) => Object.hasOwn(expected, key));
}

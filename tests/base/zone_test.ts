import assert from "node:assert/strict";
import { readZone } from "../../src/base/zone.ts";

const HOUR = 3_600_000;

Deno.test("offsetMs() knows zones east and west, of half hours, and of seconds long ago", () => {
  const at = Date.UTC(2026, 0, 1);

  assert.equal(readZone("UTC").offsetMs(at), 0);
  assert.equal(readZone("Asia/Kolkata").offsetMs(at), 5.5 * HOUR);
  assert.equal(readZone("America/St_Johns").offsetMs(at), -3.5 * HOUR);
  assert.equal(readZone("Europe/Paris").offsetMs(Date.UTC(1900, 0, 1)), 561_000);
  assert.throws(() => readZone("Mars/Base"), RangeError);
});

Deno.test("changeIn() finds the first moment at which clocks are set, to the ms", () => {
  const zone = readZone("Europe/Berlin");
  const forward = Date.UTC(2026, 2, 29, 1);

  assert.equal(zone.changeIn(Date.UTC(2025, 11, 1), Date.UTC(2027, 0, 1)), forward);
  assert.equal(zone.changeIn(forward - 1, forward), forward);
  assert.equal(zone.changeIn(forward - 1, forward - 1), undefined);
  assert.equal(zone.changeIn(forward, Date.UTC(2026, 9, 25)), undefined);
  assert.equal(readZone("UTC").changeIn(0, Date.UTC(2030, 0, 1)), undefined);
});

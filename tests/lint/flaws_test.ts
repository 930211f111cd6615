/**
 * Configs with one known flaw each: the check names it, and nothing else; a config close to it, in
 * which the flaw is fixed as the concern says, is silent.
 *
 * @module
 */

import assert from "node:assert/strict";
import type { ConcernCode } from "../../src/lint/mod.ts";
import { concernsOf } from "./_configs.ts";
import { LOAD_FLAWS } from "./_load_flaws.ts";
import { TIME_FLAWS } from "./_time_flaws.ts";

const FLAWS = [...LOAD_FLAWS, ...TIME_FLAWS];

for (const { code, severity, pointer, given, mended, platform, numbers, change } of FLAWS) {
  Deno.test(`lint() names ${code} at ${pointer}, and is silent once it is mended`, async () => {
    const found = await concernsOf(given, platform);
    const after = await concernsOf(mended, platform);

    assert.deepEqual(found.map((concern) => [concern.code, concern.severity, concern.pointer]), [
      [code, severity, pointer],
    ]);
    const [concern] = found;
    for (const [name, value] of Object.entries(numbers)) {
      assert.equal(concern?.numbers[name], value, name);
    }
    assert.match(concern?.change ?? "", change);
    assert.deepEqual(after, []);
  });
}

Deno.test("every kind of concern has a config here that shows it", () => {
  const codes: Record<ConcernCode, true> = {
    "overload": true,
    "rate-overload": true,
    "lane-overload": true,
    "late-at-limit": true,
    "pool-stopped": true,
    "cap-below-min": true,
    "rate-by-workers": true,
    "rate-below-one-worker": true,
    "rate-unused": true,
    "rate-forgotten": true,
    "key-rate-unused": true,
    "reserve-over-limit": true,
    "reserve-small": true,
    "no-reserve": true,
    "retry-load": true,
    "retry-at-once": true,
    "retry-in-step": true,
    "retry-past-ttl": true,
    "breaker-one-by-one": true,
    "deadline-below-run": true,
    "timeout-below-run": true,
    "timeout-tight": true,
    "lease-short": true,
    "lease-below-run": true,
    "deadline-below-lease": true,
    "drain-short": true,
    "drain-past-kill": true,
    "depth-past-deadline": true,
    "depth-below-target": true,
    "growth-slow": true,
    "growth-stalls": true,
    "never-grows": true,
    "reserve-below-chance": true,
    "weight-unread": true,
    "start-within-unread": true,
    "strategy-fails": true,
    "connections-short": true,
    "downstream-short": true,
    "downstream-unused": true,
    "store-rate": true,
    "target-over-max": true,
    "route-unreached": true,
    "request-past-timeout": true,
  };
  assert.deepEqual([...new Set(FLAWS.map(({ code }) => code))].sort(), Object.keys(codes).sort());
});

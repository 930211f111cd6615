/** The built-ins pass the checks that everyone else's plugins have to pass. */

import assert from "node:assert/strict";
import { builtins } from "../../plugins/mod.ts";
import { isPlugin, type Kind } from "../../src/contract/plugin.ts";
import {
  checkAdmission,
  checkCap,
  checkController,
  checkLanePolicy,
  checkRetirement,
} from "../../src/testing/mod.ts";

/** Options of those that need some, or that are worth a second look. */
const OPTIONS: Readonly<Record<string, readonly unknown[]>> = {
  "age-scaler": [{}, { rule: "step" }],
  "api-rate-cap": [{ callsPerSec: 100, callsPerJob: 1, serviceMs: 20 }, { callsPerSec: 3 }],
  "db-pool-cap": [{ connections: 20 }],
  "dedicated-lanes": [{ workers: { urgent: 2, normal: 1, batch: 8 } }],
  "fixed-cap": [{ workers: 3 }],
  "reserved-lane": [{ reserve: { urgent: 2 } }, { reserve: "auto" }],
};

function each<K extends Kind>(kind: K, check: (slot: { use: never; with: unknown }) => void): void {
  const plugins = builtins.filter((plugin) => isPlugin(plugin, kind));
  assert.ok(plugins.length > 0);
  for (const plugin of plugins) {
    for (const options of OPTIONS[plugin.name] ?? [{}]) {
      Deno.test(`${kind} ${plugin.name} passes its check with ${JSON.stringify(options)}`, () => {
        check({ use: plugin as never, with: options }); // `filter` has seen to the kind
      });
    }
  }
}

each("controller", checkController);
each("lane-policy", checkLanePolicy);
each("cap", checkCap);
each("retirement", checkRetirement);
each("admission", checkAdmission);

import assert from "node:assert/strict";
import { METRICS } from "../../src/telemetry/catalog.ts";

Deno.test("The page says of each gauge once how samples of several processes come together", async () => {
  const page = await Deno.readTextFile(new URL("../../docs/metrics.md", import.meta.url));
  const part = page.slice(page.indexOf("With a shared store"), page.indexOf("## Alerts"));
  const [same = "", own = ""] = part.split("Take `sum` of");
  const named = (text: string): string[] => text.match(/sluice_\w+/g) ?? [];

  const gauges = METRICS.filter(({ kind }) => kind === "gauge").map(({ name }) => name);
  assert.deepEqual([...named(same), ...named(own)].toSorted(), gauges.toSorted());
  for (const name of ["sluice_lane_oldest_wait_seconds", "sluice_pool_peers"]) {
    assert.ok(named(same).includes(name), name);
  }
});

/// <reference lib="dom" />

import { violationsOn } from "./_axe.ts";
import assert from "node:assert/strict";
import { RetryLater } from "../../src/contract/errors.ts";
import type { Job, JobContext } from "../../src/contract/job.ts";
import { browserTest, visit } from "./_chromium.ts";
import { startSystem } from "./_system.ts";

browserTest("The breaker of a key is shown, and closed by its button", async () => {
  let isBad = true;
  const handler = (_: Job, context: JobContext): string => {
    if (!isBad) return "done";
    context.overloaded(20_000);
    throw new RetryLater(20_000);
  };
  const lanes = [{ name: "only", maxRunningPerKey: 1 }];
  const pools = {
    hooks: { handler, lanes, size: { min: 1, max: 2 }, cooldown: { by: "key", after: 1 } },
  } as const;
  await using system = await startSystem({ pools });
  const hooks = system.pool("hooks");
  await hooks.enqueue({ lane: "only", key: "acme", payload: 0 });

  await visit(system.url, async ({ page }) => {
    await page.goto("/pools/hooks");
    await page.getByText(/^Jobs of the key "acme" wait for/).waitFor();
    assert.deepEqual(await violationsOn(page), []);
    isBad = false;
    await page.getByRole("button", { name: 'Close the circuit breaker of key "acme"' }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Close" }).click();
    await page.getByText(/^Jobs of the key "acme" wait for/).waitFor({ state: "detached" });
    assert.equal(hooks.snapshot().openKeys, 0);
  });
});

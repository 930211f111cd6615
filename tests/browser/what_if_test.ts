/// <reference lib="dom" />

import assert from "node:assert/strict";
import { warmWorker } from "../_what_if.ts";
import { browserTest, visit } from "./_chromium.ts";
import { startSystem } from "./_system.ts";

browserTest("A pool's page lays what would have been beside what happened", async () => {
  await warmWorker();
  await using system = await startSystem();
  const mail = system.pool("mail");
  for (let turn = 0; turn < 25; turn++) {
    await mail.enqueueAll(Array.from({ length: 4 }, () => ({ lane: "urgent", payload: {} })));
    await new Promise((resolve) => setTimeout(resolve, 100));
  }

  await visit(system.url, async ({ page, allow }) => {
    allow(/400 \(Bad Request\)/); // of the fault below
    await page.goto("/pools/mail");
    const change = page.getByLabel("Change");
    assert.match(await change.inputValue(), /^size\.max=\d+$/);
    await change.fill("size.max=1 lanes.urgent.targetWaitMs=20");
    await page.getByRole("button", { name: "Simulate" }).click();

    const answer = page.locator("#what-if-answer");
    await answer.getByRole("heading", { name: /with pools\.mail\.size\.max: \d+ -> 1/ }).waitFor();
    await answer.getByRole("rowheader", { name: "happened", exact: true }).waitFor();
    await answer.getByRole("rowheader", { name: "simulated with the change", exact: true })
      .waitFor();
    await answer.getByRole("img", { name: /^Longest waits of lane urgent/ }).waitFor();
    if (Deno.env.has("SHOTS")) await page.screenshot({ path: "/tmp/whatif.png", fullPage: true });

    await change.fill("size.mx=1");
    await page.getByRole("button", { name: "Simulate" }).click();
    await answer.getByText('No key is named "mx"').waitFor();
  });
});

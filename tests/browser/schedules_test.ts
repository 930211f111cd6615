/// <reference lib="dom" />

import assert from "node:assert/strict";
import { browserTest, visit } from "./_chromium.ts";
import { startSystem, until, VIEWER } from "./_system.ts";

browserTest("A schedule is run and paused from its page, and the audit says by whom", async () => {
  await using system = await startSystem();
  const reports = system.pool("reports");

  await visit(system.url, async ({ page }) => {
    await page.goto("/schedules");
    const row = page.getByRole("row", { name: "@yearly" });
    await row.getByText("no job yet").waitFor();
    await row.getByRole("button", { name: "Run now" }).click();
    await page.getByRole("dialog").getByText("sluice schedules run reports").waitFor();
    await page.getByRole("dialog").getByRole("button", { name: "Run now" }).click();
    await until(async () => (await reports.schedules())[0]?.lastJob !== undefined);
    await row.getByRole("link", { name: /^\w+-\d+$/ }).waitFor();
    await row.getByRole("button", { name: "Pause" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Pause" }).click();
    await row.getByText("paused").waitFor();

    await page.getByRole("link", { name: "Audit" }).click();
    await page.getByRole("row", { name: /pause schedule/ }).getByText("local from 127.0.0.1")
      .waitFor();
    await page.getByRole("link", { name: "By people" }).click();
    assert.equal(await page.getByRole("row").count(), 3);
  });
});

browserTest("A viewer sees schedules and the audit, without buttons", async () => {
  await using system = await startSystem({ tokens: true });

  await visit(system.url, async ({ page }) => {
    await page.goto("/");
    await page.getByLabel("Token").fill(VIEWER);
    await page.getByRole("button", { name: "Log in" }).click();
    await page.getByRole("link", { name: "Schedules" }).click();
    await page.getByRole("row", { name: "@yearly" }).waitFor();
    assert.equal(await page.getByRole("button", { name: /Run now|Pause:/ }).count(), 0);
    await page.getByRole("link", { name: "Audit" }).click();
    await page.getByText(/^Who changed what through this process/).waitFor();
  });
});

/// <reference lib="dom" />

import assert from "node:assert/strict";
import { browserTest, visit } from "./_chromium.ts";
import { startSystem } from "./_system.ts";

browserTest("Charts stay where they are when a lane waits longer than its target", async () => {
  await using system = await startSystem();
  const mail = system.pool("mail");
  await mail.enqueue({ lane: "urgent", payload: {} });

  await visit(system.url, async ({ page }) => {
    await page.goto("/pools/mail");
    await page.locator("#charts svg").nth(1).waitFor();
    await page.getByText("No lane waits longer than its target.").waitFor();
    const before = await page.locator("#charts").boundingBox();
    await mail.enqueueAll(
      Array.from({ length: 9 }, () => ({ lane: "urgent", payload: { hold: true } })),
    );
    await page.getByText(/^over target: Jobs of lane "urgent" wait longer/).waitFor();

    assert.deepEqual(await page.locator("#charts").boundingBox(), before);
  });
});

browserTest(
  "An action that nobody answers may be done all the same: the page says so",
  async () => {
    await using system = await startSystem();

    await visit(system.url, async ({ page, allow }) => {
      allow(/ERR_CONNECTION_REFUSED|ERR_EMPTY_RESPONSE|ERR_INCOMPLETE/);
      await page.goto("/pools/mail");
      await page.getByRole("button", { name: "Pause", exact: true }).click();
      await system.stopServing();
      await page.getByRole("dialog").getByRole("button", { name: "Pause" }).click();

      const alert = page.getByRole("dialog").getByRole("alert");
      await alert.getByText(/^The server does not answer: it may have taken effect, so check/)
        .waitFor();
    });
  },
);

browserTest("Copy report copies what the API answers as the report of the pool", async () => {
  await using system = await startSystem();

  await visit(system.url, async ({ page }) => {
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    await page.goto("/pools/mail");
    await page.getByRole("button", { name: "Copy report" }).click();
    await page.getByText("Copied").waitFor();
    const copied = await page.evaluate(() => navigator.clipboard.readText());
    const answered = await (await fetch(`${system.url}/api/pools/mail/report`)).text();

    const withoutTimes = (text: string): string => text.replaceAll(/\d{4}-\S+Z/g, "TIME");
    assert.equal(withoutTimes(copied), withoutTimes(answered));
    assert.match(copied, /^### mail: nothing is wrong\n[^]*\nsluice dlq ls mail\n```\n$/);
  });
});

/// <reference lib="dom" />

import assert from "node:assert/strict";
import { violationsOn } from "./_axe.ts";
import { browserTest, visit } from "./_chromium.ts";
import { fill, startSystem, type System, until } from "./_system.ts";

/** Gives a system many dead jobs. */
async function die(system: System, count: number, why: string): Promise<void> {
  const mail = system.pool("mail");
  system.release(); // those that run hold all workers
  await until(() => mail.counts().running === 0);
  const before = mail.counts().dead ?? 0;
  await mail.enqueueAll(
    Array.from({ length: count }, (_, index) => ({
      lane: "urgent",
      payload: { to: `n${index}@example.com`, fail: why },
    })),
  );
  await until(() => mail.counts().dead === before + count);
}

browserTest("Counts are links: dead letters in the navigation, states of a pool", async () => {
  await using system = await startSystem();
  await fill(system);

  await visit(system.url, async ({ page }) => {
    await page.goto("/pools/mail");
    const tabs = page.getByRole("navigation", { name: "Jobs of mail" });
    await tabs.getByRole("link", { name: "delayed 1" }).waitFor();
    await tabs.getByRole("link", { name: "running 4" }).waitFor();
    await tabs.getByRole("link", { name: "ready 4" }).click(); // with that of the paused lane
    await page.waitForURL(/\/jobs\?pool=mail&state=ready/);
    assert.equal(await page.locator("table.jobs tbody tr").count(), 4);
    assert.deepEqual(await violationsOn(page), []);

    await page.getByRole("navigation", { name: "Main" }).getByRole("link", {
      name: "Dead letters 3",
    })
      .click();
    await page.getByRole("heading", { level: 1, name: "Dead letters" }).waitFor();
    await die(system, 5, "no route");
    await page.getByRole("link", { name: "Dead letters 8" }).waitFor();
  });
});

browserTest("A bulk action says how many it is about, and shows them as a list", async () => {
  await using system = await startSystem();
  await fill(system);
  await die(system, 60, "no such mailbox");

  await visit(system.url, async ({ page }) => {
    await page.goto("/dead");
    await page.getByRole("button", { name: "Discard 63 in mail" }).click();
    const all = page.getByRole("dialog", { name: 'Discard 63 dead jobs of "mail"?' });
    await all.getByRole("button", { name: "Cancel" }).click();

    await page.getByLabel("Text").fill("mailbox");
    await page.getByLabel("Text").press("Enter");
    await page.waitForURL(/match=mailbox/);
    await page.getByRole("button", { name: "Discard all in mail" }).click();
    const some = page.getByRole("dialog", {
      name: 'Discard 61 dead jobs of "mail" with "mailbox" in them?',
    });
    await some.waitFor();
    assert.deepEqual(await violationsOn(page), []);
    await some.getByRole("link", { name: "Show them as a list" }).click();
    await page.waitForURL(/pool=mail/);
  });
});

browserTest(
  "Some jobs are chosen by tick boxes, and stay chosen while the list is live",
  async () => {
    await using system = await startSystem();
    await fill(system);

    await visit(system.url, async ({ page }) => {
      await page.goto("/dead");
      const boxes = page.locator("input[data-choose]");
      await boxes.nth(0).check();
      await boxes.nth(2).check();
      await die(system, 4, "later");
      await page.getByRole("button", { name: "4 new: show" }).waitFor();
      assert.equal(await page.locator("table.jobs tbody tr").count(), 3);
      await page.getByText("2 chosen").waitFor();
      assert.deepEqual(await violationsOn(page), []);
      await page.getByRole("button", { name: "Discard 2…" }).click();
      await page.getByRole("dialog", { name: "Discard 2 jobs?" }).getByText(
        /sluice dlq discard mail/,
      )
        .waitFor();
      await page.getByRole("dialog").getByRole("button", { name: "Discard them" }).click();
      await until(() => system.pool("mail").counts().dead === 5);
      await until(async () => await page.locator("table.jobs tbody tr").count() === 5);
      assert.equal(await page.getByText("chosen").isVisible(), false);
    });
  },
);

browserTest("A list does not move under the pointer; what is new is shown on demand", async () => {
  await using system = await startSystem();
  await fill(system);

  await visit(system.url, async ({ page }) => {
    await page.goto("/dead");
    const first = page.locator("table.jobs tbody tr").first();
    const id = await first.getAttribute("id");
    await first.hover();
    const at = await first.boundingBox();
    await die(system, 12, "no route");
    await page.getByRole("button", { name: "12 new: show" }).waitFor();
    assert.equal(await first.getAttribute("id"), id);
    assert.deepEqual(await first.boundingBox(), at);

    await page.getByRole("button", { name: "12 new: show" }).click();
    await until(async () => await page.locator("table.jobs tbody tr").count() === 15);
    assert.notEqual(await first.getAttribute("id"), id);

    await page.getByRole("heading", { level: 1 }).hover(); // nobody uses the list: it moves by itself
    await die(system, 1, "last");
    await until(async () => await page.locator("table.jobs tbody tr").count() === 16);
  });
});

browserTest(
  "A search goes on by itself, says how far it has looked, and stops at its bound",
  async () => {
    await using system = await startSystem();
    const mail = system.pool("mail");
    const many = (count: number, text: string) =>
      Array.from({ length: count }, () => ({ lane: "bulk", payload: { text } }));
    await mail.enqueueAll(many(1, "needle"));
    await mail.enqueueAll(many(11_000, "hay"));
    await mail.enqueueAll(many(1, "needle"));

    await visit(system.url, async ({ page }) => {
      await page.goto("/jobs?match=needle");
      await page.getByText("Looked at 11,002 of 11,002 jobs").waitFor();
      assert.equal(await page.locator("table.jobs tbody tr").count(), 2);
      assert.equal(await page.getByRole("link", { name: "Look further" }).count(), 0);
      assert.deepEqual(await violationsOn(page), []);

      await page.goto("/jobs?match=nothing");
      await page.getByText("No job has that text").waitFor();
      await page.getByText("Looked at 11,002 of 11,002 jobs").waitFor();
    });
  },
);

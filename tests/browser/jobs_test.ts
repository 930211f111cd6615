/// <reference lib="dom" />

import assert from "node:assert/strict";
import type { Locator, Page } from "playwright-core";
import { StoreError } from "../../src/contract/errors.ts";
import { violationsOn } from "./_axe.ts";
import { browserTest, visit } from "./_chromium.ts";
import { fill, startSystem, type System, until, VIEWER } from "./_system.ts";

/** A button of the dialog that is open. */
function inDialog(page: Page, name: string): Locator {
  return page.getByRole("dialog").getByRole("button", { name, exact: true });
}

/** How many jobs of a pool are dead. */
async function deadIn(system: System): Promise<number> {
  return (await system.pool("mail").list({ state: "dead", limit: 99 })).jobs.length;
}

browserTest(
  "All dead jobs are retried: asked before, shown as it goes, gone from the list",
  async () => {
    await using system = await startSystem();
    await fill(system);

    await visit(system.url, async ({ page }) => {
      await page.goto("/dead");
      await page.getByRole("button", { name: "Retry 3 in mail" }).click();
      const dialog = page.getByRole("dialog", { name: 'Retry 3 dead jobs of "mail"?' });
      await dialog.getByText("sluice dlq retry mail --all").waitFor();
      assert.equal(await deadIn(system), 3);

      await inDialog(page, "Retry them").click();

      await page.getByText("3 looked at, 3 matched, 3 retried").waitFor();
      await page.getByText("No job is dead").waitFor();
      assert.equal(await deadIn(system), 0);
    });
  },
);

browserTest("Only what matches is discarded, and not without a yes", async () => {
  await using system = await startSystem();
  const { dead } = await fill(system);

  await visit(system.url, async ({ page }) => {
    await page.goto("/dead");
    await page.getByLabel("Text").fill("no route");
    await page.getByLabel("Text").press("Enter");
    await page.waitForURL(/match=no/);
    await page.getByRole("button", { name: "Discard 2 in mail" }).click();
    await page.getByText("sluice dlq discard mail --all --match 'no route'").waitFor();
    await page.keyboard.press("Enter"); // the harmless answer has the focus
    await page.getByRole("dialog").waitFor({ state: "detached" });
    assert.equal(await deadIn(system), 3);

    await page.getByRole("button", { name: "Discard 2 in mail" }).click();
    await inDialog(page, "Discard them").click();

    await page.getByText("No dead job matches.").waitFor();
    const left = await system.pool("mail").list({ state: "dead", limit: 9 });
    assert.deepEqual(left.jobs.map(({ id }) => id), [dead]);
  });
});

browserTest(
  "A job is found by a text, says why it waits, follows what happens, and is cancelled",
  async () => {
    await using system = await startSystem();
    const { ready } = await fill(system);
    const mail = system.pool("mail");

    await visit(system.url, async ({ page }) => {
      await page.goto("/jobs");
      await page.getByLabel("State").selectOption("ready");
      await page.getByLabel("Text").fill('"last": true');
      await page.getByRole("button", { name: "Show" }).click();
      await page.getByText("No job has that text").waitFor(); // JSON has no blank there
      await page.getByLabel("Text").fill('"last":true');
      await page.getByRole("button", { name: "Show" }).click();
      await page.getByRole("link", { name: ready }).click();

      const why = page.getByRole("region", { name: "Why it waits" });
      await why.getByText(/workers are busy/).waitFor();
      await mail.pause("urgent");
      await why.getByText('Lane "urgent" is paused: resume it').waitFor();
      await mail.resume("urgent");
      await why.getByText(/workers are busy/).waitFor();

      await page.getByRole("button", { name: `Cancel ${ready}` }).click();
      await page.getByText(`sluice jobs cancel ${ready}`).waitFor();
      await inDialog(page, "Cancel the job").click();
      await page.getByText("cancelled", { exact: true }).waitFor();
      assert.equal((await mail.find(ready))?.state, "cancelled");
    });
  },
);

browserTest("A dead job is discarded from its page, which leads back to the others", async () => {
  await using system = await startSystem();
  const { dead } = await fill(system);

  await visit(system.url, async ({ page }) => {
    await page.goto(`/jobs/${dead}`);
    await page.getByRole("button", { name: `Discard ${dead}` }).click();
    await page.getByText(`sluice dlq discard mail ${dead}`).waitFor();
    await inDialog(page, "Discard").click();

    await page.getByRole("heading", { level: 1, name: "Dead letters" }).waitFor();
    assert.equal(await system.pool("mail").find(dead), undefined);
  });
});

browserTest(
  "Payloads are folded, and unfold with the keyboard, and stay so while the page follows",
  async () => {
    await using system = await startSystem();
    const { dead } = await fill(system);

    await visit(system.url, async ({ page }) => {
      await page.goto("/dead");
      const row = page.getByRole("row").filter({ hasText: dead });
      const payload = row.getByRole("region", { name: `Payload of ${dead}` });
      assert.equal(await payload.isVisible(), false);
      await row.locator("summary").press("Enter");
      await payload.getByText('"password": "[redacted]"').waitFor();

      const mail = system.pool("mail");
      system.release();
      await until(() => mail.snapshot().lanes[0]?.ready === 0); // else it may be shed
      await mail.enqueue({ lane: "urgent", payload: { fail: "a fourth" } });
      await page.getByRole("button", { name: "1 new: show" }).click(); // nothing moves before
      await page.getByText("a fourth", { exact: true }).waitFor();

      assert.equal(await payload.isVisible(), true);
    });
  },
);

browserTest("A dead job is reached, retried and left with the keyboard alone", async () => {
  await using system = await startSystem();
  const { dead } = await fill(system);

  await visit(system.url, async ({ page }) => {
    await page.goto("/dead");
    const isOn = (name: string): Promise<boolean> =>
      page.evaluate(
        (name) => (document.activeElement?.getAttribute("aria-label") ?? "") === name,
        name,
      );
    for (let steps = 0; steps < 80 && !await isOn(`Retry ${dead}`); steps++) {
      await page.keyboard.press("Tab");
    }
    assert.ok(await isOn(`Retry ${dead}`));
    const outline = await page.evaluate(() =>
      document.activeElement === null ? "" : getComputedStyle(document.activeElement).outlineStyle
    );
    assert.equal(outline, "solid");
    await page.keyboard.press("Enter");
    await page.getByRole("dialog").waitFor();
    await page.keyboard.press("Enter");

    await page.getByText(`Job ${dead} is ready again`).waitFor();
    await until(async () => (await system.pool("mail").find(dead))?.state !== "dead");
  });
});

browserTest(
  "A viewer reads jobs, finds no button that changes them, and is refused by the server",
  async () => {
    await using system = await startSystem({ tokens: true });
    const { dead } = await fill(system);

    await visit(system.url, async ({ page, allow }) => {
      allow(/status of 403/);
      await page.goto("/dead");
      await page.getByLabel("Token").fill(VIEWER);
      await page.getByRole("button", { name: "Log in" }).click();
      await page.getByRole("heading", { level: 1, name: "Dead letters" }).waitFor();
      for (const path of ["/dead", "/jobs", `/jobs/${dead}`]) {
        await page.goto(path);
        await page.getByText(dead).first().waitFor();
        assert.equal(await page.getByRole("main").getByRole("button", { name: /…$/ }).count(), 0);
        assert.equal(await page.locator("[data-act]").count(), 0);
      }
      await page.goto("/config");
      assert.equal(await page.getByRole("button", { name: "Reload…" }).count(), 0);
      const statuses = await page.evaluate(async (id) => {
        const sent = [
          fetch(`/api/jobs/${id}/retry`, { method: "POST" }),
          fetch(`/api/jobs/${id}`, { method: "DELETE" }),
          fetch("/api/reload", { method: "POST" }),
        ];
        return (await Promise.all(sent)).map(({ status }) => status);
      }, dead);
      assert.deepEqual(statuses, [403, 403, 403]);
    });
    assert.equal(await deadIn(system), 3);
  },
);

browserTest("A search is looked at once after an action, and not again and again", async () => {
  await using system = await startSystem();
  const { dead } = await fill(system);

  await visit(system.url, async ({ page }) => {
    let looks = 0;
    page.on("request", (request) => {
      if (new URL(request.url()).pathname === "/jobs") looks++;
    });
    await page.clock.install();
    await page.goto("/jobs?state=dead&match=mailbox");
    await page.getByRole("button", { name: `Retry ${dead}` }).click();
    await inDialog(page, "Retry").click();
    await page.getByRole("link", { name: dead }).waitFor({ state: "detached" });
    const before = looks;

    await page.clock.runFor(10_000);
    await page.evaluate(() => fetch("/healthz").then(({ status }) => status));

    assert.deepEqual([before, looks], [2, 2]);
  });
});

browserTest("The page of a job follows it to its end, and then rests", async () => {
  await using system = await startSystem();
  const { running } = await fill(system);

  await visit(system.url, async ({ page }) => {
    await page.goto(`/jobs/${running}`);
    await page.getByText("Live", { exact: true }).waitFor();
    system.release();

    await page.getByRole("heading", { name: "Result" }).waitFor();
    await page.getByText("Live", { exact: true }).waitFor({ state: "hidden" });
    await page.getByRole("button", { name: "Pause updates" }).waitFor({ state: "hidden" });
  });
});

browserTest("The page of a job that is forgotten meanwhile says so", async () => {
  await using system = await startSystem();
  const { blocked } = await fill(system);
  const reports = system.pool("reports");

  await visit(system.url, async ({ page, allow }) => {
    allow(/status of 404/);
    await page.goto(`/jobs/${blocked}`);
    await page.getByText("1 job of its key runs").waitFor();
    await reports.change(blocked, "cancel");
    await reports.change(blocked, "remove");

    await page.getByText(`No job has the id "${blocked}"`).waitFor();
    assert.equal(await page.getByText("The server does not answer").count(), 0);
  });
});

browserTest(
  "A page stays as it was while the store does not answer, says so, and goes on",
  async () => {
    await using system = await startSystem();
    const { blocked } = await fill(system);
    const reports = system.pool("reports");
    const find = reports.find.bind(reports);

    await visit(system.url, async ({ page, allow }) => {
      allow(/^503 |status of 503/);
      await page.goto(`/jobs/${blocked}`);
      await page.getByText("1 job of its key runs").waitFor();
      const locked = new StoreError(undefined, "The store failed: database is locked");
      reports.find = () => Promise.reject(locked);

      await page.getByRole("status").getByText(/^The store does not answer: what you see is from/)
        .waitFor();
      assert.equal(await page.getByText("1 job of its key runs").count(), 1);
      await page.reload();
      await page.getByRole("heading", { name: "The store does not answer" }).waitFor();
      await page.getByText("The store failed: database is locked.").waitFor();
      assert.deepEqual(await violationsOn(page), []);
      await page.getByText(/^The page tries again in [1-4] s\.$/).waitFor();
      await page.reload();
      reports.find = find;
      await page.getByText("1 job of its key runs").waitFor(); // by itself
      reports.find = () => Promise.reject(locked);
      await page.reload();
      await page.getByRole("heading", { name: "The store does not answer" }).waitFor();
      reports.find = find;
      await page.getByRole("link", { name: "Try again" }).click();
      await page.getByText("1 job of its key runs").waitFor();
    });
  },
);

/// <reference lib="dom" />

import assert from "node:assert/strict";
import type { Page } from "playwright-core";
import { overflowOf, violationsOn } from "./_axe.ts";
import { browserTest, visit } from "./_chromium.ts";
import { fill, type Filled, startSystem, VIEWER } from "./_system.ts";

const WIDE = { width: 1280, height: 800 };
const PHONE = { width: 375, height: 740 };

/** Holds a page to axe-core and to its window: light and wide, dark and on a phone. */
async function holdsEverywhere(page: Page, what: string): Promise<void> {
  await page.emulateMedia({ colorScheme: "light" });
  assert.deepEqual(await violationsOn(page), [], `${what}, light and wide`);
  assert.equal(await overflowOf(page), 0, `${what}, wide`);
  await holdsOnPhone(page, what);
}

/** Holds a page dark and on a phone: for those that differ little from others. */
async function holdsOnPhone(page: Page, what: string): Promise<void> {
  await page.emulateMedia({ colorScheme: "dark" });
  await page.setViewportSize(PHONE);
  assert.equal(await overflowOf(page), 0, `${what}, on a phone`);
  assert.deepEqual(await violationsOn(page), [], `${what}, dark and on a phone`);
  await page.setViewportSize(WIDE);
}

const PAGES: Readonly<Record<string, (jobs: Filled) => readonly string[]>> = {
  "Pages of pools": () => ["/", "/pools/mail"],
  "Pages of jobs": ({ ready }) => ["/jobs", `/jobs/${ready}`],
  "Pages of dead letters, config and API": () => ["/dead", "/config", "/docs"],
  "Pages of schedules and of what happened": () => ["/schedules", "/audit"],
};

for (const [name, pathsOf] of Object.entries(PAGES)) {
  browserTest(`${name} have no violation, light and dark, wide and on a phone`, async () => {
    await using system = await startSystem();
    const jobs = await fill(system);

    await visit(system.url, async ({ page }) => {
      for (const path of pathsOf(jobs)) {
        await page.goto(path);
        await holdsEverywhere(page, path);
      }
    }, { viewport: WIDE });
  });
}

browserTest("Pages of what is dead, done, not found or not there have no violation", async () => {
  await using system = await startSystem();
  const { dead, done } = await fill(system);

  await visit(system.url, async ({ page, allow }) => {
    allow(/status of 40[04]/);
    const paths = [
      `/jobs/${dead}`,
      `/jobs/${done}`,
      "/jobs?match=nothing+like+it",
      "/dead?pool=reports",
      "/jobs?state=ded",
      "/jobs/nope",
      "/pools/nope",
    ];
    for (const path of paths) {
      await page.goto(path);
      await holdsOnPhone(page, path);
    }
  }, { viewport: WIDE });
});

browserTest("The login page, and pages for a viewer, have no violation", async () => {
  await using system = await startSystem({ tokens: true });

  await visit(system.url, async ({ page }) => {
    await page.goto("/");
    await holdsEverywhere(page, "login");
    await page.getByLabel("Token").fill(VIEWER);
    await page.getByRole("button", { name: "Log in" }).click();
    await page.getByRole("heading", { name: "Pools", level: 1 }).waitFor();
    await holdsOnPhone(page, "overview of a viewer");
  }, { viewport: WIDE });
});

browserTest("Dialogs have no violation, and fit a phone", async () => {
  await using system = await startSystem();
  await fill(system);

  await visit(system.url, async ({ page }) => {
    for (
      const [path, button] of [
        ["/dead", "Discard 3 in mail"],
        ["/pools/mail", "Override…"],
        ["/config", "Reload…"],
      ] as const
    ) {
      await page.goto(path);
      await page.getByRole("button", { name: button }).click();
      await page.getByRole("dialog").waitFor();
      await holdsOnPhone(page, `${path} ${button}`);
    }
  }, { viewport: WIDE });
});

browserTest("An app that is mounted under a path has all its pages there", async () => {
  await using system = await startSystem({ base: "/queue" });
  const { dead } = await fill(system);

  await visit(system.url, async ({ page }) => {
    await page.goto(system.url);
    for (const name of ["Jobs", "Dead letters", "Schedules", "Audit", "Config", "Pools"]) {
      await page.getByRole("navigation", { name: "Main" }).getByRole("link", { name }).click();
      await page.getByRole("heading", { level: 1, name }).waitFor();
    }
    await page.getByRole("table").getByRole("link", { name: "mail", exact: true }).click();
    await page.getByRole("heading", { level: 1, name: "mail" }).waitFor();
    await page.goto(`${system.url}/jobs/${dead}`);
    await page.getByRole("button", { name: `Retry ${dead}` }).click();
    await page.getByRole("button", { name: "Retry", exact: true }).click();
    await page.getByText(`Job ${dead} is ready again`).waitFor();
    assert.match(page.url(), /\/queue\/jobs\//);
  });
});

browserTest("No button is shown before the script listens that acts on it", async () => {
  await using system = await startSystem();
  const held = Promise.withResolvers<void>();

  await visit(system.url, async ({ page }) => {
    await page.route("**/assets/actions.js", async (route) => {
      await held.promise;
      await route.continue();
    });
    await page.goto("/pools/mail", { waitUntil: "commit" });
    const pause = page.locator("button").filter({ hasText: /^Pause…?$/ }).first();
    await pause.waitFor({ state: "attached" });
    assert.equal(await pause.isVisible(), false);
    held.resolve();

    await page.getByRole("button", { name: "Pause", exact: true }).click();
    await page.getByRole("dialog").waitFor();
  });
});

browserTest("Pages can be read without a script, and filtered", async () => {
  await using system = await startSystem();
  const { dead } = await fill(system);

  await visit(system.url, async ({ page }) => {
    await page.goto("/jobs");
    await page.getByLabel("State").selectOption("dead");
    await page.getByLabel("Text").fill("mailbox");
    await page.getByRole("button", { name: "Show" }).click();
    await page.waitForURL(/match=mailbox/);
    await page.getByRole("link", { name: dead }).click();
    await page.getByRole("region", { name: "Error" }).getByText("550 <mailbox>").waitFor();
    assert.equal(await page.getByRole("button", { name: `Retry ${dead}` }).count(), 0);
    assert.equal(await page.getByText("hunter2").count(), 0);
  }, { javaScriptEnabled: false });
});

/// <reference lib="dom" />
import assert from "node:assert/strict";
import { overflowOf, violationsOn } from "./_axe.ts";
import { browserTest, visit } from "./_chromium.ts";
import { startSystem } from "./_system.ts";

browserTest("visit() fails on what a page does against its own policy", async () => {
  await using system = await startSystem();

  await assert.rejects(
    visit(system.url, async ({ page }) => {
      await page.goto("/");
      await page.evaluate(() => {
        const style = document.createElement("style");
        style.textContent = "body { color: red }";
        document.body.append(style);
      });
    }),
    /CSP style-src/,
  );
});

browserTest("visit() fails on an error that a page logs", async () => {
  await using system = await startSystem();

  await assert.rejects(
    visit(system.url, async ({ page }) => {
      await page.goto("/");
      // deno-lint-ignore no-console -- the page's console
      await page.evaluate(() => console.error("logged"));
    }),
    /error: logged/,
  );
});

browserTest("visit() fails on a file that a page does not get", async () => {
  await using system = await startSystem();

  await assert.rejects(
    visit(system.url, async ({ page }) => {
      await page.goto("/docs");
      await page.evaluate(() => fetch("/none").then((response) => response.status));
    }),
    /status of 404/,
  );
});

browserTest("visit() lets pass what its test allows, and nothing else", async () => {
  await using system = await startSystem();

  await assert.rejects(
    visit(system.url, async ({ page, allow }) => {
      allow(/wanted/);
      await page.goto("/");
      await page.evaluate(() => {
        reportError(new Error("wanted"));
        reportError(new Error("other"));
      });
    }),
    (error: Error) => /other/.test(error.message) && !/wanted/.test(error.message),
  );
});

browserTest("violationsOn() and overflowOf() find what is wrong with a page", async () => {
  await using system = await startSystem();

  await visit(system.url, async ({ page }) => {
    await page.goto("/docs");
    await page.evaluate(() => {
      document.body.append(document.createElement("button"), "x".repeat(4_000));
    });

    const found = await violationsOn(page);

    assert.ok(found.some((line) => line.startsWith("button-name: ")), found.join("\n"));
    assert.ok(await overflowOf(page) > 0);
  });
});

/// <reference lib="dom" />
import assert from "node:assert/strict";
import type { Page } from "playwright-core";
import type { ConfigInput } from "../../src/config/input.ts";
import { overflowOf, violationsOn } from "./_axe.ts";
import { browserTest, visit } from "./_chromium.ts";
import { startSystem, until } from "./_system.ts";

const LONG = "customer-facing-notifications-of-europe-0007";

const trouble = ".trouble";

browserTest(
  "The first screen says what is wrong, worst first, and folds pools that are well",
  async () => {
    await using system = await startSystem({ pools: pools(8) });
    await system.pool("pool-2").enqueueAll(failing(20));
    await system.pool("pool-5").pause();
    await until(() => system.pool("pool-2").diagnosis().length > 0);

    await visit(system.url, async ({ page }) => {
      await page.goto("/");
      await page.getByRole("heading", { name: "1 of 8 pools needs attention; 1 is held" })
        .waitFor();
      const lines = await page.locator(trouble).allInnerTexts();

      assert.equal(lines.length, 2);
      assert.match(lines[0]!, /pool-2[^]*100 % of attempts fail: 550 no such user/);
      assert.match(lines[1]!, /pool-5[^]*Paused/);
      assert.equal(await page.locator("tbody").count(), 2);
      await page.getByRole("link", { name: "6 pools are well" }).click();
      await page.getByRole("link", { name: "Fold pools that are well" }).waitFor();
      assert.equal(await page.locator("tbody").count(), 8);

      await page.locator(trouble).getByRole("button", { name: "Resume" }).click();
      await page.getByRole("dialog").getByRole("button", { name: "Resume" }).click();
      await until(() => !system.pool("pool-5").snapshot().paused);
      await page.getByRole("heading", { name: "1 of 8 pools needs attention", exact: true })
        .waitFor();
      await page.getByRole("link", { name: "Errors: pool-2" }).click();
      await page.getByRole("heading", { name: "Why jobs are dead" }).waitFor();
    });
  },
);

browserTest("Nothing wrong is one calm line", async () => {
  await using system = await startSystem({ pools: pools(3) });

  await visit(system.url, async ({ page }) => {
    await page.goto("/");
    await page.getByRole("heading", { name: "All is well in 3 pools" }).waitFor();
    assert.equal(await page.locator(trouble).count(), 0);
    assert.equal(await page.locator("tbody").count(), 3);
  });
});

browserTest(
  "The filter finds a pool, with a script and without, and says if there is none",
  async () => {
    await using system = await startSystem({ pools: { ...pools(3), [LONG]: pools(1)["pool-0"]! } });

    for (const javaScriptEnabled of [true, false]) {
      await visit(system.url, async ({ page }) => {
        await page.goto("/");
        await page.getByRole("searchbox").fill("EUROPE");
        await page.getByRole("searchbox").press("Enter");
        await page.getByRole("heading", { name: "All is well in 1 pool", exact: true }).waitFor();
        const link = page.locator("tbody th a");
        assert.equal(await link.textContent(), "customer-facin…f-europe-0007");
        assert.equal(await link.getAttribute("title"), LONG);

        await page.goto("/?match=nothing");
        await page.getByText('No pool and no lane has "nothing" in its name.').waitFor();
      }, { javaScriptEnabled });
    }
  },
);

browserTest(
  "200 pools are a screenful of trouble and pages of pools, and weigh little",
  async () => {
    await using system = await startSystem({ pools: pools(200) });
    for (let index = 0; index < 40; index++) await system.pool(`pool-${index}`).pause();

    await visit(system.url, async ({ page }) => {
      const bytes = await weigh(page);
      await page.goto("/");
      await page.getByRole("heading", { name: "No pool needs attention; 40 are held" }).waitFor();
      await page.getByText("And 20 more").waitFor();
      const bottom = await page.locator(".troubles").evaluate((card) =>
        card.getBoundingClientRect().bottom
      );
      assert.ok(bottom < 800, `the trouble ends at ${bottom} px`);
      const loaded = bytes();
      const shifted = await shiftOf(page);
      await page.waitForTimeout(3_000);
      const perSec = (bytes() - loaded) / 3;

      assert.ok(loaded < 100_000, `${loaded} bytes are loaded`);
      assert.ok(perSec < 20_000, `${perSec} bytes a second`);
      const moved = await shifted();
      assert.ok(moved < 0.1, `layout shift ${moved}`);
      await page.getByRole("link", { name: "160 pools are well" }).click();
      await page.getByRole("link", { name: "Next" }).click();
      await page.getByText("Page 2 of 4").waitFor();
      assert.equal(await page.locator("tbody").count(), 50);
    }, { viewport: { width: 1440, height: 900 } });
  },
);

browserTest(
  "Every figure is on the screen of a small laptop, and readable on a phone",
  async () => {
    await using system = await startSystem({ pools: { ...pools(2), [LONG]: pools(1)["pool-0"]! } });
    await system.pool(LONG).enqueueAll(failing(20));
    await system.pool("pool-1").pause();
    await until(() => system.pool(LONG).diagnosis().length > 0);

    await visit(system.url, async ({ page }) => {
      await page.goto("/?well=shown");
      await page.locator(trouble).first().waitFor();
      for (const [width, scheme] of [[1024, "light"], [390, "dark"]] as const) {
        await page.setViewportSize({ width, height: 800 });
        await page.emulateMedia({ colorScheme: scheme });
        assert.equal(await overflowOf(page), 0, `${width} px`);
        const hidden = await page.locator(".card.scroll").evaluate((card) =>
          card.scrollWidth - card.clientWidth
        );
        assert.equal(hidden, 0, `${width} px`);
        assert.deepEqual(await violationsOn(page), [], `${width} px`);
      }
    });
  },
);

function pools(count: number): NonNullable<ConfigInput["pools"]> {
  const handler = ({ payload }: { payload: unknown }): string => {
    if (payload !== 1) throw new Error(String(payload));
    return "sent";
  };
  const names = Array.from({ length: count }, (_, index) => `pool-${index}`);
  return Object.fromEntries(
    names.map((name) => [name, {
      handler,
      size: { min: 1, max: 4 },
      lanes: [{ name: "urgent", attempts: 1 }, { name: "batch", targetWaitMs: null }],
    }]),
  );
}

function failing(count: number): { lane: string; payload: string }[] {
  return Array.from({ length: count }, () => ({ lane: "urgent", payload: "550 no such user" }));
}

/** Counts what comes over the wire, compressed as it is. */
async function weigh(page: Page): Promise<() => number> {
  const session = await page.context().newCDPSession(page);
  let bytes = 0;
  session.on("Network.loadingFinished", ({ encodedDataLength }) => bytes += encodedDataLength);
  await session.send("Network.enable");
  return () => bytes;
}

/** Layout shift from the beginning of the page until it is asked for. */
async function shiftOf(page: Page): Promise<() => Promise<number>> {
  await page.evaluate(() => {
    const seen = { sum: 0 };
    Object.assign(globalThis, { shift: seen });
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) {
        seen.sum += (entry as unknown as { value: number }).value;
      }
    }).observe({ type: "layout-shift", buffered: true });
  });
  return () => page.evaluate(() => (globalThis as unknown as { shift: { sum: number } }).shift.sum);
}

/// <reference lib="dom" />
import assert from "node:assert/strict";
import { overflowOf } from "./_axe.ts";
import { browserTest, visit } from "./_chromium.ts";
import { startSystem } from "./_system.ts";

const BUSY = Array.from({ length: 9 }, () => ({ lane: "urgent", payload: { hold: true } }));

browserTest("Pages fit a phone, and lead past the navigation with the keyboard", async () => {
  await using system = await startSystem();
  await system.pool("mail").enqueueAll(BUSY);

  await visit(system.url, async ({ page }) => {
    for (const path of ["/", "/pools/mail", "/docs"]) {
      await page.goto(path);
      await page.locator("h1").waitFor();
      const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      assert.equal(over <= 0, true, `${path} is ${over} px too wide`);
    }
    await page.keyboard.press("Tab");
    await page.getByRole("link", { name: "Skip to the content" }).press("Enter");
    assert.equal(await page.evaluate(() => document.activeElement?.id), "main");
  }, { viewport: { width: 375, height: 700 } });
});

browserTest("Pages fit a phone, whatever lanes and errors are called", async () => {
  const name = "deliveries to receivers that answer slowly & <b>late</b>";
  const handler = (): never => {
    throw new Error("E".repeat(3_000));
  };
  const lanes = [{ name, attempts: 1 }];
  await using system = await startSystem({
    pools: { mail: { handler, size: { min: 1, max: 1 }, lanes } },
  });
  await system.pool("mail").enqueue({ lane: name, payload: 1 });

  await visit(system.url, async ({ page }) => {
    await page.goto("/pools/mail");
    await page.locator("#charts strong").getByText(name).waitFor();
    assert.equal(await overflowOf(page), 0);
    await page.goto("/dead");
    const error = page.getByRole("region", { name: "Dead jobs" }).getByText("EEEE");
    await error.waitFor();
    assert.ok((await error.boundingBox())!.height < 120, "the list shows how an error begins");
    assert.equal(await overflowOf(page), 0);
  }, { viewport: { width: 375, height: 700 } });
});

browserTest(
  "The overview fits the narrowest phone, its sentences even where a table does not",
  async () => {
    await using system = await startSystem();
    await system.pool("mail").enqueueAll(BUSY);

    await visit(system.url, async ({ page }) => {
      await page.goto("/");
      await page.getByText("over target", { exact: true }).waitFor();
      // At one go: the next event draws the table again.
      const seen = await page.locator(".card.scroll").evaluate((card) => {
        const look = (): { readonly hidden: number; readonly past: number } => {
          const { left, right } = card.getBoundingClientRect();
          const sentences = [...card.querySelectorAll(".why p")].map((p) =>
            p.getBoundingClientRect()
          );
          return {
            hidden: card.scrollWidth - card.clientWidth,
            past: sentences.filter((p) => p.left < left || p.right > right).length,
          };
        };
        const fits = look();
        // As figures of many digits would make it.
        card.querySelector<HTMLElement>("table.pools")!.style.minWidth = "600px";
        const wide = look();
        card.scrollLeft = 1_000;
        return { fits, wide, scrolled: look() };
      });

      assert.deepEqual(seen.fits, { hidden: 0, past: 0 });
      assert.ok(seen.wide.hidden > 200);
      assert.deepEqual([seen.wide.past, seen.scrolled.past], [0, 0]);
    }, { viewport: { width: 320, height: 700 } });
  },
);

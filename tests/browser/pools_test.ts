/// <reference lib="dom" />
import assert from "node:assert/strict";
import { violationsOn } from "./_axe.ts";
import { browserTest, visit } from "./_chromium.ts";
import { ADMIN, startSystem, until, VIEWER } from "./_system.ts";

/** A page whose server is gone tries again after 15 s at the latest: three times that. */
const AFTER_A_RETRY = { timeout: 45_000 };

browserTest(
  "The overview leads to a pool, and the pool to what each strategy asked for",
  async () => {
    await using system = await startSystem();
    await system.pool("mail").enqueueAll(jobs(9));

    await visit(system.url, async ({ page }) => {
      await page.goto("/");
      await page.getByRole("link", { name: "mail" }).click();
      await page.getByRole("heading", { level: 1, name: "mail" }).waitFor();
      await page.locator(".log").getByText("bound by size.max").first().click();

      const table = page.getByRole("table").filter({ hasText: "Asked by" }).first();
      await table.getByRole("rowheader", { name: "age-scaler controller" }).waitFor();
    });
  },
);

browserTest("The overview follows what happens, without being loaded anew", async () => {
  await using system = await startSystem();

  await visit(system.url, async ({ page }) => {
    await page.goto("/");
    await page.evaluate(() => document.body.dataset.mine = "kept");
    await page.getByRole("link", { name: "mail" }).focus();
    await system.pool("mail").enqueueAll(jobs(9));

    await page.getByRole("row", { name: /^mail/ }).getByText("4 / 4").waitFor();
    await page.getByRole("row", { name: /^urgent/ }).getByText("over").waitFor();
    assert.equal(await page.evaluate(() => document.body.dataset.mine), "kept");
    assert.equal(await page.evaluate(() => document.activeElement?.textContent), "mail");
  });
});

browserTest("The overview sorts by a column, with a script and without", async () => {
  await using system = await startSystem();
  const names = "tbody th[scope=rowgroup] a";

  for (const javaScriptEnabled of [true, false]) {
    await visit(system.url, async ({ page }) => {
      await page.goto("/");
      await page.getByRole("link", { name: "Pool and lanes" }).click();
      await page.locator('th[aria-sort="ascending"]').waitFor();
      await page.getByRole("link", { name: "Pool and lanes" }).click();

      await page.locator('th[aria-sort="descending"]').waitFor();
      assert.deepEqual(await page.locator(names).allTextContents(), ["reports", "mail"]);
    }, { javaScriptEnabled });
  }
});

browserTest(
  "A lane is paused and resumed with the keyboard, asked before and said after",
  async () => {
    await using system = await startSystem();
    const isPaused = (): boolean =>
      system.pool("mail").snapshot().lanes.find(({ name }) => name === "batch")?.paused === true;

    await visit(system.url, async ({ page }) => {
      await page.goto("/pools/mail");
      await page.getByRole("button", { name: "Pause lane batch" }).press("Enter");
      const dialog = page.getByRole("dialog", { name: 'Pause lane "batch" of pool "mail"?' });
      await dialog.getByText(`sluice pools pause mail --lane batch --url ${system.url}`).waitFor();
      assert.equal(isPaused(), false);
      await page.keyboard.press("Escape");
      await dialog.waitFor({ state: "detached" });
      assert.equal(isPaused(), false);

      await page.getByRole("button", { name: "Pause lane batch" }).press("Enter");
      await page.keyboard.press("Enter");
      await page.getByRole("status").getByText('Lane "batch" is paused').waitFor();
      await until(isPaused);

      await page.getByRole("button", { name: "Resume lane batch" }).click();
      await dialogButton(page, "Resume").click();
      await until(() => !isPaused());
      await page.getByRole("button", { name: "Pause lane batch" }).waitFor();
    });
  },
);

browserTest(
  "An override says what it will do, shows what is refused, holds, and ends by itself",
  async () => {
    await using system = await startSystem();

    await visit(system.url, async ({ page, allow }) => {
      allow(/status of 400/);
      await page.goto("/pools/mail");
      await page.getByRole("button", { name: "Override…" }).click();
      const dialog = page.getByRole("dialog", { name: 'Override the bounds of pool "mail"?' });
      await dialog.getByRole("button", { name: "Override" }).click();
      await dialog.getByRole("alert").getByText("min, max or target").waitFor();
      assert.deepEqual(await violationsOn(page), []);

      await dialog.getByLabel("min, now 1").fill("3");
      await dialog.getByLabel("For").selectOption("1 hour");
      await dialog.getByText("sluice pools scale mail --min 3 --for 1h").waitFor();
      await dialog.getByRole("button", { name: "Override" }).click();
      await page.getByText("overridden: min 3 until").waitFor();
      await until(() => system.pool("mail").snapshot().live === 3);

      system.pool("mail").override({ min: 2 }, 1_500);
      await page.getByText("overridden: min 2 until").waitFor();
      await page.getByText("overridden: min 2 until").waitFor({ state: "detached" });
      assert.equal(system.pool("mail").snapshot().override, undefined);
    });
  },
);

browserTest(
  "Draining asks with the harmless answer in focus, and then the page offers nothing more",
  async () => {
    await using system = await startSystem();

    await visit(system.url, async ({ page }) => {
      await page.goto("/pools/reports");
      await page.getByRole("button", { name: "Drain…" }).click();
      assert.equal(await page.evaluate(() => document.activeElement?.textContent), "Cancel");
      await dialogButton(page, "Drain").click();

      await page.getByText("stopped: It was drained").waitFor();
      await page.getByRole("button", { name: "Drain…" }).waitFor({ state: "detached" });
    });
  },
);

browserTest(
  "A viewer logs in, sees all, is offered nothing that changes anything, and logs out",
  async () => {
    await using system = await startSystem({ tokens: true });

    await visit(system.url, async ({ page, allow }) => {
      allow(/status of 403/);
      await page.goto("/");
      await page.getByLabel("Token").fill(VIEWER);
      await page.getByRole("button", { name: "Log in" }).click();
      await page.getByText("read-only").waitFor();
      await page.getByRole("link", { name: "mail" }).click();
      await page.getByRole("heading", { level: 1, name: "mail" }).waitFor();

      assert.equal(await page.locator("[data-act], [data-override]").count(), 0);
      const status = await page.evaluate(async () =>
        (await fetch("/api/pools/mail/pause", { method: "POST", body: "{}" })).status
      );
      assert.equal(status, 403);
      await page.getByRole("button", { name: "Log out" }).click();
      await page.getByLabel("Token").waitFor();
    });
  },
);

browserTest(
  "Charts draw demand and supply on the same time, say the latest figures, and follow",
  async () => {
    await using system = await startSystem();
    await system.pool("mail").enqueueAll(jobs(9));

    await visit(system.url, async ({ page }) => {
      await page.goto("/pools/mail");
      const strips = page.locator("#charts .strip");
      await strips.filter({ hasText: "workers" }).getByText(/^(\d to )?4 of 4, /).waitFor();
      const boxes = await page.locator("#charts svg").evaluateAll((parts) =>
        parts.map((part) => part.getBoundingClientRect()).map(({ left, width }) => [left, width])
      );

      assert.equal(boxes.length, 7); // three lanes, workers, rates, events, times
      for (const box of boxes) assert.deepEqual(box, boxes[0]);
      await page.getByText(/Last change: .*→ 4\./).waitFor();
      await page.getByText(/Size 1 → 4.*, by size.max/).waitFor();
      await strips.first().getByText(/×.*, over since/).waitFor();
      assert.deepEqual(await violationsOn(page), []);
      system.release();
      await strips.filter({ hasText: "workers" }).getByText(/, 0\.0 busy/).waitFor();
    });
  },
);

browserTest(
  "Charts keep their span in the address, and say what was where the reader points",
  async () => {
    await using system = await startSystem();
    const mail = system.pool("mail");
    await mail.enqueueAll(jobs(9));
    await until(() => mail.history().samples.length > 2);

    await visit(system.url, async ({ page }) => {
      await page.goto("/pools/mail?span=10m");
      await page.getByRole("link", { name: "10m", exact: true }).and(page.locator("[aria-current]"))
        .waitFor();
      await page.getByRole("link", { name: "1h", exact: true }).click();
      await page.getByRole("link", { name: "1h", exact: true }).and(page.locator("[aria-current]"))
        .waitFor();
      assert.equal(new URL(page.url()).search, "?span=1h");
      await page.getByRole("link", { name: "2m", exact: true }).click();

      const plot = page.locator("#charts .plot").first();
      const before = await page.locator("#charts").boundingBox();
      const { x = 0, y = 0, width = 0 } = await plot.boundingBox() ?? {};
      await page.mouse.move(x + width - 50, y + 10);
      await page.getByText(/^In effect then: /).waitFor();
      assert.equal(await page.locator("#charts .cursor").isVisible(), true);
      assert.deepEqual(await page.locator("#charts").boundingBox(), before);

      await page.mouse.move(0, 0);
      await system.pool("mail").pause();
      await page.locator(".happened").getByText("Paused").waitFor();
    });
  },
);

browserTest(
  "A page says that the server is gone and from when its figures are, and goes on when it is back",
  async () => {
    await using system = await startSystem();

    await visit(system.url, async ({ page, allow }) => {
      allow(/ERR_CONNECTION_REFUSED|ERR_INCOMPLETE_CHUNKED_ENCODING|ERR_CONNECTION_RESET/);
      await page.goto("/");
      await page.getByText("Live", { exact: true }).waitFor();
      await system.stopServing();
      await page.getByRole("status").getByText(/^The server does not answer: what you see is from/)
        .waitFor();
      await page.getByRole("button", { name: "Try now" }).click();
      await system.pool("mail").pause();
      await system.serveAgain();

      await page.getByRole("row", { name: /^mail paused/ }).waitFor(AFTER_A_RETRY);
      await page.getByText("Live", { exact: true }).waitFor(AFTER_A_RETRY);
      assert.equal(await page.locator("#banner").textContent(), "");
    });
  },
);

browserTest(
  "A page says that a session has ended with its server, and is there again after the login",
  async () => {
    await using system = await startSystem({ tokens: true });

    await visit(system.url, async ({ page, allow }) => {
      allow(/ERR_CONNECTION_REFUSED|ERR_INCOMPLETE_CHUNKED_ENCODING|status of 401|503/);
      await page.goto("/pools/mail");
      await page.getByLabel("Token").fill(ADMIN);
      await page.getByRole("button", { name: "Log in" }).click();
      await page.getByText("Live", { exact: true }).waitFor();
      await system.stopServing();
      await system.serveAgain();

      await page.getByText("Logged out", { exact: true }).waitFor(AFTER_A_RETRY);
      await page.getByRole("link", { name: "Log in again" }).click();
      await page.getByLabel("Token").fill(ADMIN);
      await page.getByRole("button", { name: "Log in" }).click();
      await page.getByRole("heading", { name: "mail", level: 1 }).waitFor();
      assert.equal(new URL(page.url()).pathname, "/pools/mail");
    });
  },
);

browserTest(
  "The theme follows the system until a reader chooses one, before anything is painted",
  async () => {
    await using system = await startSystem();
    const ground = (): string => getComputedStyle(document.body).backgroundColor;

    await visit(system.url, async ({ page }) => {
      await page.goto("/");
      const dark = await page.evaluate(ground);
      await page.emulateMedia({ colorScheme: "light" });
      const light = await page.evaluate(ground);
      await page.getByLabel("Theme").selectOption("Dark");
      const chosen = await page.evaluate(ground);
      await page.goto("/", { waitUntil: "commit" });
      await page.locator("body").waitFor({ state: "attached" });
      const first = await page.evaluate(ground);

      assert.notEqual(dark, light);
      assert.deepEqual([chosen, first], [dark, dark]);
      await page.waitForLoadState(); // from then on the choice is heard
      await page.getByLabel("Theme").selectOption("System");
      assert.equal(await page.evaluate(ground), light);
    }, { colorScheme: "dark" });
  },
);

browserTest(
  "A page asks for nothing while a reader holds it still or its tab is hidden, and then goes on",
  async () => {
    await using system = await startSystem();

    await visit(system.url, async ({ page }) => {
      let asked = 0;
      page.on("request", () => asked++);
      const look = async (): Promise<number> => {
        asked = 0;
        await page.clock.runFor(10_000);
        return asked;
      };
      const hide = (isHidden: boolean): Promise<void> =>
        page.evaluate((hidden) => {
          Object.defineProperty(document, "hidden", { value: hidden, configurable: true });
          document.dispatchEvent(new Event("visibilitychange"));
        }, isHidden);
      await page.clock.install();
      await page.goto("/pools/mail");
      await page.locator("#charts svg").first().waitFor();
      assert.ok(await look() > 0);

      await page.getByRole("button", { name: "Pause updates" }).click();
      await page.getByText("Updates paused").waitFor();
      await system.pool("mail").pause();
      assert.equal(await look(), 0);
      await page.getByRole("button", { name: "Pause updates", pressed: true }).click();
      await page.getByText("paused: No job starts").waitFor();

      await hide(true);
      await system.pool("mail").resume();
      assert.equal(await look(), 0);
      await hide(false);
      await page.getByText("paused: No job starts").waitFor({ state: "detached" });
    });
  },
);

browserTest("A page that is held still shows what its reader has done", async () => {
  await using system = await startSystem();

  await visit(system.url, async ({ page }) => {
    await page.goto("/pools/mail");
    await page.getByRole("button", { name: "Pause updates" }).click();
    await page.getByRole("button", { name: "Pause", exact: true }).click();
    await dialogButton(page, "Pause").click();

    await page.getByText("paused: No job starts").waitFor();
    await page.getByText("Updates paused").waitFor();
  });
});

browserTest("Pages work below a path of another app, log in and actions included", async () => {
  await using system = await startSystem({ base: "/ops/queue", tokens: true });

  await visit(system.url, async ({ page }) => {
    await page.goto(`${system.url}/login`);
    await page.getByLabel("Token").fill(ADMIN);
    await page.getByRole("button", { name: "Log in" }).click();
    await page.getByRole("link", { name: "mail" }).click();
    await page.getByRole("button", { name: "Pause", exact: true }).click();
    await dialogButton(page, "Pause").click();
    await page.getByText("paused: No job starts").waitFor();
    assert.equal(new URL(page.url()).pathname, "/ops/queue/pools/mail");
    await page.locator("#charts svg").first().waitFor();
  });
});

function jobs(count: number): { lane: string; payload: { hold: true } }[] {
  return Array.from({ length: count }, () => ({ lane: "urgent", payload: { hold: true } }));
}

function dialogButton(
  page: import("playwright-core").Page,
  name: string,
): import("playwright-core").Locator {
  return page.getByRole("dialog").getByRole("button", { name, exact: true });
}

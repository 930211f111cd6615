/// <reference lib="dom" />

/**
 * Accessibility of pages, as axe-core finds it.
 *
 * @module
 */

import axe from "axe-core/axe.min.js" with { type: "text" };
import type { Page } from "playwright-core";

/** What axe-core finds wrong with a page as it is, a line each. */
export async function violationsOn(page: Page): Promise<readonly string[]> {
  if (!await page.evaluate(() => "axe" in globalThis)) await page.evaluate(axe);
  return await page.evaluate(async () => {
    // It is there since the line above.
    const { axe } = globalThis as unknown as { axe: typeof import("axe-core") };
    const { violations } = await axe.run(document, { resultTypes: ["violations"] });
    return violations.flatMap(({ id, help, nodes }) =>
      nodes.map(({ html, failureSummary }) => `${id}: ${help}: ${html}: ${failureSummary ?? ""}`)
    );
  });
}

/** How far a page is wider than its window, CSS px. 0: it does not scroll sideways. */
export async function overflowOf(page: Page): Promise<number> {
  return await page.evaluate(async () => {
    const painted = () => new Promise((resolve) => requestAnimationFrame(resolve));
    for (let frame = 0; frame < 2; frame++) await painted(); // a window that was just resized
    return document.documentElement.scrollWidth - innerWidth;
  });
}

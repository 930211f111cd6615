/// <reference lib="dom" />

import assert from "node:assert/strict";
import * as v from "valibot";
import { defineHandler } from "../../mod.ts";
import { violationsOn } from "./_axe.ts";
import { browserTest, visit } from "./_chromium.ts";
import { startSystem } from "./_system.ts";

const handler = defineHandler({
  payload: v.looseObject({ to: v.string() }),
  run: (job) => ({ sent: job.payload.to }),
});

browserTest(
  "A job is enqueued from the page of its pool, once its payload fits the handler",
  async () => {
    const lanes = [{ name: "urgent" }, { name: "batch" }];
    await using system = await startSystem({
      pools: { mail: { handler, size: { min: 1, max: 2 }, lanes } },
    });

    await visit(system.url, async ({ page, allow }) => {
      allow(/status of 400/);
      await page.goto("/pools/mail");
      await page.getByRole("link", { name: "Enqueue…" }).click();
      await page.getByLabel("Lane").selectOption("batch");
      const payload = page.getByLabel("Payload, as JSON");
      await payload.fill('{"to": ');
      await page.getByRole("button", { name: "Enqueue" }).click();
      await page.getByText("The payload is no JSON").waitFor();
      await payload.fill('{"to": 7}');
      await page.getByRole("button", { name: "Enqueue" }).click();
      await page.getByText("/payload/to: ").waitFor();
      assert.equal(await payload.getAttribute("aria-invalid"), "true");
      assert.deepEqual(await violationsOn(page), []);
      await payload.fill('{"to": "ann", "password": "hunter22"}');
      await page.getByLabel("Key (none: empty)").fill("tenant-1");
      await page.getByRole("button", { name: "Enqueue" }).click();

      await page.getByRole("heading", { level: 2, name: "Result" }).waitFor();
      await page.getByRole("link", { name: "Edit and enqueue again…" }).click();
      const again = page.getByLabel("Payload, as JSON");
      assert.match(await again.inputValue(), /"password": "\[redacted\]"/);
      await again.fill('{"to": "bob", "password": "[redacted]"}');
      await page.getByRole("button", { name: "Enqueue" }).click();
      await page.getByText('"sent": "bob"').waitFor();
    });

    const { jobs } = await system.pool("mail").list({ limit: 9 });
    assert.deepEqual(jobs.map(({ lane, key, payload }) => [lane, key, payload]), [
      ["batch", "tenant-1", { to: "ann", password: "hunter22" }],
      ["batch", "tenant-1", { to: "bob", password: "hunter22" }],
    ]);
  },
);

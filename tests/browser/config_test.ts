import assert from "node:assert/strict";
import { start } from "../../mod.ts";
import { serveAdmin } from "../../src/admin/server/serve.ts";
import { browserTest, visit } from "./_chromium.ts";

const SETTINGS = {
  hostname: "127.0.0.1",
  port: 0,
  adminToken: undefined,
  viewerToken: undefined,
  allowedHosts: [],
};

/** A config with one pool of up to this many workers. */
function configOf(max: unknown): string {
  return JSON.stringify({
    pools: {
      mail: { handler: "sleep", size: { min: 1, max }, lanes: [{ name: "urgent" }] },
    },
  });
}

browserTest(
  "A reload says what it would change before it does, and the page shows it after",
  async () => {
    const file = await Deno.makeTempFile({ suffix: ".json" });
    await Deno.writeTextFile(file, configOf(4));
    await using sluice = await start(file);
    const server = await serveAdmin(sluice, SETTINGS);
    const max = (): number => sluice.pool("mail").settings.size.max;
    try {
      await visit(server.url, async ({ page, allow }) => {
        await page.goto("/config");
        const reload = page.getByRole("button", { name: "Reload…" });
        const dialog = page.getByRole("dialog");
        await reload.click();
        await dialog.getByText("Nothing would change: the running config is the same.")
          .waitFor();
        await page.keyboard.press("Escape");

        await Deno.writeTextFile(file, configOf(9));
        await reload.click();
        await dialog.getByText("/pools/mail/size/max").waitFor();
        assert.match(await dialog.innerText(), /from 4 to 9/);
        assert.match(await dialog.innerText(), /sluice reload --url http/);
        assert.equal(max(), 4);
        await dialog.getByRole("button", { name: "Reload", exact: true }).click();
        await page.getByText("1 to 9").waitFor();
        assert.equal(max(), 9);

        allow(/status of 400/);
        await Deno.writeTextFile(file, configOf("many"));
        await reload.click();
        await page.getByRole("dialog", { name: "The config cannot be loaded" }).waitFor();
        await dialog.getByText(/\/pools\/mail\/size\/max/).waitFor();
        assert.equal(max(), 9);
      });
    } finally {
      await server.stop();
      await Deno.remove(file);
    }
  },
);

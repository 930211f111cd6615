import { checkStore } from "../../../src/testing/store.ts";
import { openStore, withFolder } from "./_store.ts";

Deno.test("denoKv does what pools need, in memory", async (context) => {
  await checkStore(() => openStore({ path: ":memory:" }), {
    test: (name, check) => context.step(name, check),
  });
});

Deno.test("denoKv does what pools need, on a file", async (context) => {
  await withFolder(async (folder) => {
    let files = 0;
    await checkStore(() => openStore({ path: `${folder}/${files++}/queue.db` }), {
      test: (name, check) => context.step(name, check),
    });
  });
});

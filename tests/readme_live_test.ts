/**
 * Every config of the pages starts, runs a job in each lane and stops. Addresses of receivers become
 * those of one on loopback, the port a free one, and a file of jobs lies in a temporary folder.
 *
 * @module
 */

import assert from "node:assert/strict";
import { join } from "node:path";
import { parse } from "jsonc-parser";
import { start } from "../mod.ts";
import { builtins, defaults } from "../plugins/mod.ts";
import { ConfigError } from "../src/contract/errors.ts";
import type { ScenarioInput } from "../src/simulate/scenario.ts";
import { simulate } from "../src/simulate/mod.ts";
import { resolveConfig } from "../src/config/resolve.ts";
import { startReceiver } from "../examples/receiver.ts";
import { blocksIn, PAGES } from "./_readme.ts";
import { ROOT } from "./_source.ts";
import { sluice, temporaryFolder } from "./cli/_io.ts";

/** A config of a page, or one that a shell block makes of another. */
interface Live {
  /** Where it is. */
  readonly name: string;
  /** The config. */
  readonly text: string;
}

const EXAMPLE = await Deno.readTextFile(new URL("pools.example.json", ROOT));

const BLOCKS = PAGES.flatMap(({ path, text }) =>
  blocksIn(text).map((block) => ({ path, ...block }))
);

const WRITTEN: readonly Live[] = BLOCKS
  .filter(({ info, text }) => /^jsonc?\b(?! scenario)/.test(info) && text.includes('"pools": {'))
  .map(({ path, text }, index) => ({ name: `${path}, config ${index}`, text }));

/** What `sed` of the shell blocks makes of the example. */
const EDITED: readonly Live[] = BLOCKS.filter(({ info }) => info === "sh").flatMap((
  { path, text },
) =>
  [...text.matchAll(/^sed 's\/(.+)\/(.+)\/' pools\.example\.json > (\S+)$/gm)].map(
    ([, from = "", to = "", file = ""]) => ({
      name: `${path}, ${file}`,
      text: EXAMPLE.replace(from, to),
    }),
  )
);

const FILES: readonly Live[] = [
  { name: "pools.example.json", text: EXAMPLE },
  {
    name: "examples/steady.json",
    text: await Deno.readTextFile(new URL("examples/steady.json", ROOT)),
  },
];

/** Faults of the page that shows them: that one does not start. */
const SHOWS_FAULTS = '"targetWait": 50';

const ENV: Readonly<Record<string, string>> = {
  WEBHOOK_SECRET: "whsec_c2VjcmV0",
  SLUICE_TOKEN: "token-0123456789",
  ALERT_TOKEN: "alert-0123456789",
  HOOK_AUTHORIZATION: "Bearer hook",
};

/** The folder that a config of the pages is in, with the modules that they name. */
async function pageFolder() {
  const folder = await temporaryFolder();
  await sluice(["init", folder.path]);
  await Deno.copyFile(new URL("examples/steady.ts", ROOT), join(folder.path, "steady.ts"));
  return folder;
}

/** Writes a config so that nothing of it leaves this machine. */
async function localCopy(text: string, { folder, url }: { folder: string; url: string }) {
  const file = join(folder, "live.json");
  const local = text.replaceAll(/"https?:\/\/[^"]*"/g, JSON.stringify(url))
    .replaceAll('"from": "payload.url",', '$& "privateAddresses": true,'); // the receiver is on loopback
  const config = parse(local, [], { allowTrailingComma: true });
  if (config.admin !== undefined) config.admin.port = 0;
  await Deno.writeTextFile(file, JSON.stringify(config));
  return file;
}

for (const { name, text } of [...WRITTEN, ...EDITED, ...FILES]) {
  Deno.test(`A config of the pages starts, runs a job in each lane and stops: ${name}`, async () => {
    await using folder = await pageFolder();
    const receiver = startReceiver({ port: 0, ratePerSec: 1000, serviceMs: 0 });
    try {
      const file = await localCopy(text, { folder: folder.path, url: receiver.url });
      const starting = start(file, { env: (name) => ENV[name] });
      if (text.includes(SHOWS_FAULTS)) return await assert.rejects(starting, ConfigError);
      await using system = await starting;
      for (const pool of system.pools) {
        for (const { name: lane, paused } of pool.settings.lanes) {
          if (paused) await pool.resume(lane);
          for (const type of pool.settings.handlers.keys()) {
            const job = await pool.enqueue({ lane, type, payload: { ms: 1, url: receiver.url } });
            assert.equal((await job.done).state, "done", `${pool.name} ${lane}`);
          }
        }
      }
      const { handedBack, stuck } = await system.stop();
      assert.deepEqual([...handedBack, ...stuck], []);
    } finally {
      await receiver.stop();
    }
  });
}

Deno.test("The pages hold configs, scenarios and edits to be tried", () => {
  assert.ok(WRITTEN.length > 7, `${WRITTEN.length}`);
  assert.equal(WRITTEN.filter(({ text }) => text.includes(SHOWS_FAULTS)).length, 1);
  assert.ok(EDITED.length > 1, `${EDITED.length}`);
  assert.ok(EDITED.every(({ text }) => text !== EXAMPLE));
});

Deno.test("A scenario of the pages is played on the config that it is for", async () => {
  const scenarios = BLOCKS.filter(({ info }) => info === "jsonc scenario");
  const settings = await resolveConfig(new URL("pools.example.json", ROOT), { builtins, defaults });

  for (const { text } of scenarios) {
    const scenario: ScenarioInput = { ...parse(text), durationMs: 500 };
    const { pools } = await simulate(new URL("pools.example.json", ROOT), scenario);
    for (const pool of Object.keys(scenario.pools)) {
      assert.ok(settings.pools.some(({ name }) => name === pool));
      assert.ok(Object.values(pools[pool]?.lanes ?? {}).every(({ done }) => done > 0));
    }
  }
  assert.ok(scenarios.length > 0);
});

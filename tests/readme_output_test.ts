/**
 * What the pages show as the output of a command is what the command writes today.
 *
 * @module
 */

import assert from "node:assert/strict";
import { join } from "node:path";
import { start } from "../mod.ts";
import { blocksIn, section } from "./_readme.ts";
import { ROOT } from "./_source.ts";
import { sluice, temporaryFolder } from "./cli/_io.ts";

const CONFIG = "pools.example.json";
const SCENARIO = "examples/spike.scenario.json";

/** Output blocks below a heading. */
function outputsIn(page: string, heading: string): readonly string[] {
  return blocksIn(section(page, heading)).filter(({ info }) => info === "text")
    .map(({ text }) => text);
}

async function example(): Promise<string> {
  return await Deno.readTextFile(new URL(CONFIG, ROOT));
}

/** A system of a config file, on a free port. */
async function served(file: string) {
  const text = await Deno.readTextFile(file);
  await Deno.writeTextFile(file, text.replace('"pools": {', '"admin": { "port": 0 }, "pools": {'));
  return await start(file);
}

/** Lines of `explain` without their figures: which plugins were asked. */
function askedIn(output: string): readonly string[] {
  return [...output.matchAll(/^ {4}([a-z-]+ [a-z-]+):/gm)].map(([, asked = ""]) => asked);
}

Deno.test("the README shows what init and check write", async () => {
  await using folder = await temporaryFolder();

  const init = await sluice(["init", join(folder.path, "my")]);
  const check = await sluice(["check", join(folder.path, "my/pools.json")]);

  const [shown] = outputsIn("README.md", "Your own pools");
  assert.equal((init.out + check.out).replaceAll(`${folder.path}/`, ""), shown);
});

Deno.test("the README shows what explain writes of the pool that init makes", async () => {
  await using folder = await temporaryFolder();
  await sluice(["init", folder.path]);
  await using system = await served(join(folder.path, "pools.json"));

  const { out } = await sluice(["explain", "main", "--url", system.adminUrl ?? ""]);

  const shown = outputsIn("README.md", "Your own pools").at(-1) ?? "";
  const [, written = ""] = out.split("Z  ");
  assert.match(written, /^stays at 1, /);
  assert.equal(shown.split("Z  ")[1], written);
});

Deno.test("docs/strategies.md shows of each decision all plugins that were asked", async () => {
  await using folder = await temporaryFolder();
  const config = await Deno.readTextFile(new URL("examples/steady.json", ROOT));
  await Deno.copyFile(new URL("examples/steady.ts", ROOT), join(folder.path, "steady.ts"));
  await Deno.writeTextFile(join(folder.path, "steady.json"), config);
  await using system = await served(join(folder.path, "steady.json"));

  const { out } = await sluice(["explain", "trial", "--url", system.adminUrl ?? "", "--limit=1"]);

  const [shown = ""] = outputsIn("docs/strategies.md", "From JSON");
  assert.ok(askedIn(out).includes("controller steady"));
  for (const decision of shown.split(/^(?=\d{4}-)/m)) {
    assert.deepEqual(askedIn(decision), askedIn(out), decision);
  }
});

Deno.test("docs/simulate.md shows what simulate writes", async () => {
  await using folder = await temporaryFolder();
  const picture = join(folder.path, "spike.html");

  const { out } = await sluice(["simulate", CONFIG, SCENARIO, "--html", picture]);

  const [shown] = outputsIn("docs/simulate.md", "Simulate before you deploy");
  assert.equal(out.replace(picture, "my/spike.html"), shown);
});

Deno.test("docs/simulate.md shows what simulate writes of two configs", async () => {
  await using folder = await temporaryFolder();
  const half = join(folder.path, "half.json");
  const text = (await example()).replace('"callsPerSec": 1000', '"callsPerSec": 500');
  await Deno.writeTextFile(half, text);

  const { out } = await sluice(["simulate", CONFIG, SCENARIO, "--compare", half]);

  const [, shown] = outputsIn("docs/simulate.md", "Simulate before you deploy");
  assert.equal(out.replaceAll(half, "my/half.json").split("\n\n").at(-1), shown);
});

Deno.test("docs/scaling.md shows what simulate writes of a shadow", async () => {
  await using folder = await temporaryFolder();
  const file = join(folder.path, "shadow.json");
  const shadow = '"shadow": { "controller": "littles-law" }, "size"';
  await Deno.writeTextFile(file, (await example()).replace('"size"', shadow));

  const { out } = await sluice(["simulate", file, SCENARIO]);

  const [shown = ""] = outputsIn("docs/scaling.md", "A candidate beside the controller");
  assert.ok(shown.startsWith("Shadow littles-law"));
  assert.ok(out.includes(shown), out);
});

Deno.test("docs/check.md shows what check writes", async () => {
  await using folder = await temporaryFolder();
  const file = join(folder.path, "load.json");
  const [config, shown] = blocksIn(section("docs/check.md", "Check before you deploy"));
  await Deno.writeTextFile(file, config?.text ?? "");

  const { out } = await sluice(["check", file]);

  assert.equal(out.replaceAll(file, "my/load.json"), shown?.text);
});

Deno.test("docs/reload.md shows what a reload writes", async () => {
  await using folder = await temporaryFolder();
  await sluice(["init", folder.path]);
  const file = join(folder.path, "pools.json");
  await using system = await served(file);
  const text = (await Deno.readTextFile(file)).replace('"targetWaitMs": 50 ', '"targetWaitMs": 20 ')
    .replace(
      '"size"',
      '"controller": { "use": "depth-scaler", "with": { "growAbove": 5 } }, "size"',
    );
  await Deno.writeTextFile(file, text);

  const { out } = await sluice(["reload", "--url", system.adminUrl ?? ""]);

  assert.equal(out, outputsIn("docs/reload.md", "Change a config that runs")[0]);
});

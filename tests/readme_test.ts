/**
 * Holds the README and the pages of `docs/` to the code: what they list exists, and what exists is
 * listed.
 *
 * @module
 */

import assert from "node:assert/strict";
import { join } from "node:path";
import { start } from "../mod.ts";
import { builtins, defaults } from "../plugins/mod.ts";
import { admin } from "../src/admin/mod.ts";
import { renderMetrics } from "../src/admin/api/metrics.ts";
import { USUAL_REDACT } from "../src/config/redaction.ts";
import { resolveConfig } from "../src/config/resolve.ts";
import { configSchema } from "../src/config/schema.ts";
import { scenarioSchema } from "../src/simulate/json_schema.ts";
import { blocksIn, codesIn, PAGES, README, rowsIn, section } from "./_readme.ts";
import { findIn, ROOT, sourceFiles } from "./_source.ts";
import { faultsOfQuery } from "./admin/_prometheus.ts";
import { sluice, temporaryFolder } from "./cli/_io.ts";

/** As much of JSON Schema as ours uses. */
interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly anyOf?: readonly Schema[];
  readonly definitions?: Readonly<Record<string, Schema>>;
  readonly const?: unknown;
  readonly default?: unknown;
}

const SCHEMA = configSchema(builtins) as Schema; // draft-07

/** Keys below a schema with their defaults, as the pages write them. `undefined`: left open. */
function keysOf(schema: Schema, above = ""): readonly (readonly [string, string | undefined])[] {
  return Object.entries(schema.properties ?? {}).flatMap(([key, own]) => {
    const here = `${above}${key}`;
    const below = key === "admin" && above === "tokens." ? [] : keysOf(own, `${here}.`);
    const isReference = below.length === 1 && below[0]?.[0] === `${here}.env`;
    return [[here, defaultOf(own, schema, key)] as const, ...isReference ? [] : below];
  });
}

function defaultOf(own: Schema, above: Schema, key: string): string | undefined {
  if (above.required?.includes(key)) return "required";
  const value = own.default ?? own.anyOf?.find((one) => one.default !== undefined)?.default;
  return value === undefined ? undefined : JSON.stringify(value);
}

/** What a table says of keys and defaults; a default that the schema leaves open is left out. */
function listed(
  rows: readonly (readonly string[])[],
  known: readonly (readonly [string, string | undefined])[],
): readonly (readonly [string, string | undefined])[] {
  return rows.map((row) => {
    const key = codesIn(row[0] ?? "")[0] ?? "";
    const isOpen = known.some(([name, value]) => name === key && value === undefined);
    return [key, isOpen ? undefined : (row.at(-1) ?? "").replaceAll("`", "")];
  });
}

function sorted(
  keys: readonly (readonly [string, string | undefined])[],
): readonly (readonly [string, string | undefined])[] {
  return keys.toSorted(([a], [b]) => a < b ? -1 : 1);
}

/** Defaults that the table has in words: the page lists them below. */
const WORDED: ReadonlyMap<string, string> = new Map([["redact", "those of usual secrets"]]);

Deno.test("docs/config.md lists every name of a field that is hidden by default", () => {
  const text = section("docs/config.md", "What is never shown");

  assert.deepEqual(USUAL_REDACT.filter((name) => !text.includes(`\`${name}\``)), []);
});

for (
  const [heading, schema, choice] of [
    ["The top", SCHEMA, []],
    ["A pool", SCHEMA.definitions?.["pool"], ["handler"]],
    ["A lane", SCHEMA.definitions?.["lane"], []],
  ] as const
) {
  Deno.test(`docs/config.md lists every key of the config with its default: ${heading}`, () => {
    assert.ok(schema !== undefined);
    const known = keysOf(schema).map(([key, value]) =>
      [key, choice.some((one) => one === key) ? "required" : WORDED.get(key) ?? value] as const
    );

    assert.deepEqual(
      sorted(listed(rowsIn(section("docs/config.md", heading)), known)),
      sorted(known),
    );
  });
}

Deno.test("docs/simulate.md lists every key of scenarios with its default", () => {
  const schema = scenarioSchema() as Schema; // draft-07
  const known = [...keysOf(schema), ...keysOf(schema.definitions?.["lane"] ?? {})];

  assert.deepEqual(
    sorted(listed(rowsIn(section("docs/simulate.md", "Scenarios")), known)),
    sorted(known),
  );
});

Deno.test("docs/simulate.md shows examples/spike.scenario.json word for word", async () => {
  const example = await Deno.readTextFile(new URL("examples/spike.scenario.json", ROOT));

  const [block] = blocksIn(section("docs/simulate.md", "Simulate before you deploy"));

  assert.equal(block?.text, example);
});

const KINDS = {
  "controller": ["docs/scaling.md", "controller: how many workers?"],
  "lane-policy": ["docs/lanes.md", "lane-policy: which lane does the next free worker serve?"],
  "cap": ["docs/caps.md", "cap: how far may it grow, how fast may jobs start?"],
  "retirement": ["docs/scaling.md", "retirement: which workers stop now?"],
  "admission": ["docs/caps.md", "admission: take this job?"],
  "store": ["docs/durable.md", "store: where do jobs live?"],
  "handler": ["docs/handlers.md", "handler: what does a worker do?"],
} as const;

for (const [kind, [page, heading]] of Object.entries(KINDS)) {
  Deno.test(`${page} lists every ${kind} with its options and their defaults`, () => {
    const slots = SCHEMA.definitions?.[kind]?.anyOf ?? [];
    const known = slots.flatMap(({ properties = {} }) => {
      const name = properties["use"]?.const;
      if (typeof name !== "string") return [];
      const options = keysOf(properties["with"] ?? {});
      return [
        [name, undefined] as const,
        ...options.map(([key, value]) => [`${name}.${key}`, value] as const),
      ];
    });
    let plugin = "";
    const rows = rowsIn(section(page, heading)).map(([name = "", option = "", ...rest]) => {
      plugin = codesIn(name)[0] ?? plugin;
      const key = codesIn(option)[0];
      return [`\`${key === undefined ? plugin : `${plugin}.${key}`}\``, ...rest];
    });

    assert.deepEqual(sorted(listed(rows, known)), sorted(known));
  });
}

Deno.test("the README lists every kind and its built-ins, the default first", () => {
  const known = Object.entries(KINDS).map(([kind, [page]]) => {
    const names = (SCHEMA.definitions?.[kind]?.anyOf ?? [])
      .map(({ properties = {} }) => properties["use"]?.const)
      .filter((name) => typeof name === "string");
    return [kind, page, names.toSorted()];
  });

  const rows = rowsIn(section("README.md", "Kinds and built-ins"));

  const shown = rows.map(([kind = "", , names = "", link = ""]) => [
    codesIn(kind)[0],
    /\((docs\/[a-z-]+\.md)#/.exec(link)?.[1],
    codesIn(names).toSorted(),
  ]);
  assert.deepEqual(shown, known);
  const { adaptive, downstream: _, ...named } = defaults;
  for (const [kind, name] of Object.entries({ ...named, cap: adaptive?.cap })) {
    const row = rows.find(([cell]) => cell === `\`${kind}\``);
    assert.equal(codesIn(row?.[2] ?? "")[0], name, kind);
  }
});

Deno.test("docs/commands.md lists every command", async () => {
  const commands: string[] = [];
  for (const verb of await verbsOf([])) {
    const below = await verbsOf([verb]);
    commands.push(...below.length === 0 ? [verb] : below.map((name) => `${verb} ${name}`));
  }
  const rows = rowsIn(section("docs/commands.md", "Commands")).map(([command = ""]) =>
    (codesIn(command)[0] ?? "").replace(/ (\[|-|[A-Z]).*/, "")
  );

  assert.deepEqual(rows.toSorted(), commands.toSorted());
});

async function verbsOf(path: readonly string[]): Promise<readonly string[]> {
  const { out } = await sluice([...path, "--help"]);
  const [, list = ""] = out.split("\nCommands:\n");
  return [...list.matchAll(/^ {2}([a-z-]+)/gm)].map(([, verb = ""]) => verb)
    .filter((verb) => verb !== "help");
}

Deno.test("docs/api.md lists every route of the admin API", async () => {
  await using system = await start({
    pools: { main: { handler: () => "", size: { min: 0, max: 1 }, lanes: [{ name: "all" }] } },
  });
  const routes = admin(system).routes.filter(({ method }) => method !== "ALL")
    .map(({ method, path }) => `${method} ${path}`);

  const rows = rowsIn(section("docs/api.md", "API")).flatMap(([route = ""]) => codesIn(route));

  assert.deepEqual(rows.toSorted(), [...new Set(routes)].toSorted());
});

Deno.test("docs/metrics.md lists every metric", () => {
  const metrics = [...renderMetrics([]).matchAll(/^# TYPE (\w+)/gm)].map(([, name]) => name);

  const names = codesIn(section("docs/metrics.md", "Metrics"))
    .filter((code) => code.startsWith("sluice_"));

  assert.deepEqual([...new Set(names)].toSorted(), metrics.toSorted());
});

Deno.test("the panels of docs/metrics.md are queries that Prometheus reads, of metrics that there are", () => {
  const metrics = [...renderMetrics([]).matchAll(/^# TYPE (\w+)/gm)].map(([, name]) => name);
  const queries = rowsIn(section("docs/metrics.md", "Grafana")).flatMap(([, cell = ""]) =>
    codesIn(cell)
  );

  assert.ok(queries.length > 12);
  for (const query of queries) {
    assert.deepEqual(faultsOfQuery(query.replaceAll("$__rate_interval", "5m")), []);
    const used = [...query.matchAll(/\bsluice_\w+/g)].map(([name]) =>
      name.replace(/(_seconds)_(bucket|sum|count)$/, "$1")
    );
    assert.ok(used.length > 0, query);
    assert.deepEqual(used.filter((name) => !metrics.includes(name)), []);
  }
});

Deno.test("every message that docs/messages.md explains is one of the code", async () => {
  const texts = (await sourceFiles("mod.ts", "src", "plugins", "stores")).flatMap((file) =>
    findIn(file, (report) => ({
      Literal: (node) => typeof node.value === "string" && report(node, node.value),
      TemplateLiteral: (node) => report(node, node.quasis.map((part) => part.cooked).join("…")),
    })).map((found) => found.replace(/^\d+: /, ""))
  );
  const headings = ["Of a config", "Of a job", "Of strategies"];
  const messages = [...headings, "Of the admin API and the command line"]
    .flatMap((heading) => rowsIn(section("docs/messages.md", heading)))
    .map(([message = ""]) => message.replace(/^`|`$/g, ""));

  const unknown = messages.filter((message) => !texts.some((text) => text.includes(message)));

  assert.ok(messages.length > 30);
  assert.deepEqual(unknown, []);
});

Deno.test("the README shows the config that init writes", async () => {
  await using folder = await temporaryFolder();
  await sluice(["init", folder.path]);
  const written = await Deno.readTextFile(join(folder.path, "pools.json"));

  const config = blocksIn(section("README.md", "Your own pools")).find(({ info }) =>
    info === "jsonc"
  );

  assert.equal(config?.text, written.replace(/^\/\/.*\n/, ""));
});

Deno.test("the configs of all pages have no faults, but for the one that shows them", async () => {
  await using folder = await temporaryFolder();
  await sluice(["init", folder.path]);
  await Deno.copyFile(new URL("examples/steady.ts", ROOT), join(folder.path, "steady.ts"));
  const configs = PAGES.flatMap(({ text }) => blocksIn(text)).filter(({ info, text }) =>
    /^jsonc?$/.test(info) && text.includes('"pools": {')
  );
  const env = (name: string): string => `${name}-0123456789`;

  const faults: number[] = [];
  for (const [index, { text }] of configs.entries()) {
    const file = join(folder.path, `${index}.json`);
    await Deno.writeTextFile(file, text);
    await resolveConfig(file, { builtins, defaults, env }).then(
      () => faults.push(0),
      (error) => faults.push(error.faults.length),
    );
  }

  assert.ok(faults.length > 3);
  assert.deepEqual(faults.filter((count) => count > 0), [8]);
});

Deno.test("the faults of docs/config.md are those that check finds", async () => {
  const [config, output] = blocksIn(section("docs/config.md", "Faults"));
  await using folder = await temporaryFolder();
  const file = join(folder.path, "bad.json");
  await Deno.writeTextFile(file, config?.text ?? "");

  const { code, err } = await sluice(["check", file]);

  assert.equal(code, 2);
  assert.equal(err.replaceAll(file, "my/bad.json"), output?.text);
});

for (
  const [heading, file] of [
    ["Your own strategy", "steady.ts"],
    ["From JSON", "steady.json"],
    ["Its test", "steady_test.ts"],
  ] as const
) {
  Deno.test(`docs/strategies.md shows examples/${file} word for word`, async () => {
    const example = await Deno.readTextFile(new URL(`examples/${file}`, ROOT));

    const [block] = blocksIn(section("docs/strategies.md", heading));

    assert.equal(block?.text, example.replace("../pools.schema.json", "./pools.schema.json"));
  });
}

Deno.test("the README's first page says at-least-once and idempotency", () => {
  const first = README.slice(0, README.indexOf("\n## ")).replaceAll(/\s+/g, " ");

  assert.match(
    first,
    /At least once\.\*\* A job runs until it is done or dead, and it may run more/,
  );
  assert.match(
    first,
    /`context\.idempotencyKey` is the same for every attempt .*`idempotency-key`/,
  );
});

Deno.test("CONTRIBUTING.md has every file of the runtime on its map", async () => {
  const map = await Deno.readTextFile(new URL("CONTRIBUTING.md", ROOT));

  const missing = (await sourceFiles("src/runtime")).filter(({ path }) => !map.includes(path));

  assert.deepEqual(missing.map(({ path }) => path), []);
});

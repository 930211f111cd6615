/**
 * Writes what comes of the comments in `src/config/input.ts`: the words of the config's keys, which
 * schema and messages have, and the tables of docs/config.md. `deno task schema` runs it first.
 *
 * @module
 */

import { builtins } from "../plugins/mod.ts";
import { configSchema } from "../src/config/schema.ts";
import {
  type Declarations,
  declarationsOf,
  defaultOf,
  propertiesOf,
  type Property,
  textOf,
  type TsType,
} from "./_doc.ts";

/** Where the words are. */
export const WORDS: URL = new URL("../src/config/words.json", import.meta.url);

/** Where the tables are. */
export const PAGE: URL = new URL("../docs/config.md", import.meta.url);

/** Parts of a config, by the type that has their comments. */
const PARTS: Readonly<Record<string, string>> = {
  config: "ConfigInput",
  downstream: "DownstreamInput",
  rate: "RateInput",
  keyRate: "KeyRateInput",
  pool: "PoolInput",
  lane: "LaneInput",
  route: "RouteInput",
  schedule: "ScheduleInput",
  sizes: "SizeInput",
};

/** Headings of the page, each with the part whose keys stand below it. */
const TABLES: Readonly<Record<string, string>> = {
  "The top": "config",
  "A downstream": "downstream",
  "A rate": "rate",
  "A pool": "pool",
  "A lane": "lane",
  "A rate of a key": "keyRate",
};

/** Where a page tells more of a key. */
const MORE: Readonly<Record<string, string>> = {
  "config.admin.alerts": "See [Alerts](metrics.md#alerts).",
  "config.downstreams": "See [below](#a-downstream).",
  "downstream.rates": "See [below](#a-rate).",
  "downstream.cooldown": "See [Caps](caps.md#named-downstreams).",
  "config.redact": "See [below](#what-is-never-shown).",
  "pool.adaptive": "See [Caps](caps.md).",
  "pool.cooldown": "See [Handlers](handlers.md#when-the-receiver-says-not-now).",
  "pool.uses": "See [Named downstreams](caps.md#named-downstreams).",
  "pool.routes": "See [Routes](lanes.md#routes).",
  "pool.sizes": "See [Sizes by time](schedules.md#sizes-by-time).",
  "pool.schedules": "See [Schedules](schedules.md).",
  "pool.shadow": "See [A candidate](scaling.md#a-candidate-beside-the-controller).",
  "lane.maxRunningPerKey": "See [handlers that ignore their abort](operate.md).",
  "lane.ratesPerKey": "See [below](#a-rate-of-a-key).",
  "lane.dedupe": "See [Jobs with the same `dedupeKey`](lanes.md#jobs-with-the-same-dedupekey).",
  "lane.onDead": "See [What an end leads to](handlers.md#what-an-end-leads-to).",
  "lane.then": "See [What an end leads to](handlers.md#what-an-end-leads-to).",
  "pool.onDead": "See [What an end leads to](handlers.md#what-an-end-leads-to).",
  "pool.then": "See [What an end leads to](handlers.md#what-an-end-leads-to).",
  "lane.paused": "See [What outlives a restart](operate.md#what-outlives-a-restart).",
};

/** Keys with a default that is too long for a table: its comment says it. */
const LONG_DEFAULTS: readonly string[] = ["config.redact"];

/** One key. */
interface Key {
  /** Path below its part: `backoff.baseMs`. */
  readonly path: string;
  /** What its comment says. */
  readonly text: string;
  /** What it is unless it is given; `undefined`: it must be given. */
  readonly usual: string | undefined;
  /** True: a plugin goes there. */
  readonly isSlot: boolean;
}

/** The words, and the page with its tables written again. */
export async function configDocs(): Promise<{ readonly words: string; readonly page: string }> {
  const types = await declarationsOf("src/config/input.ts", "src/config/time_input.ts");
  const keys = new Map(
    Object.entries(PARTS).map(([part, type]) => [part, keysOf(propertiesOf(type, types), types)]),
  );
  const words = [...keys].flatMap(([part, all]) =>
    all.map(({ path, text }) => [`${part}.${path}`, text])
  );
  let page = await Deno.readTextFile(PAGE);
  for (const [heading, part] of Object.entries(TABLES)) {
    const table = await formatted(tableOf(part, keys.get(part) ?? []));
    page = page.replace(
      new RegExp(`(## ${heading}\n\n)(?:\\|.*\n)+`),
      (_, before) => `${before}${table}`,
    );
  }
  return { words: `${JSON.stringify(Object.fromEntries(words), null, 2)}\n`, page };
}

function keysOf(properties: readonly Property[], types: Declarations, above = ""): readonly Key[] {
  return properties.flatMap((property) => {
    const path = `${above}${property.name}`;
    const own = {
      path,
      text: textOf(property.jsDoc) ?? "",
      usual: usualOf(property),
      isSlot: /^(Slot|Handler)Input$/.test(nameOf(property.tsType) ?? ""),
    };
    return [own, ...keysOf(fieldsOf(property.tsType, types), types, `${path}.`)];
  });
}

/** What may stand below a key. */
function fieldsOf(type: TsType, types: Declarations): readonly Property[] {
  if (type.kind === "typeLiteral") return type.value.properties ?? [];
  if (type.kind === "union") return type.value.flatMap((part) => fieldsOf(part, types));
  const name = nameOf(type) ?? "";
  const hasTable = Object.values(PARTS).includes(name);
  return types.get(name)?.kind === "interface" && !hasTable ? propertiesOf(name, types) : [];
}

/** The type that is named, where one is. */
function nameOf(type: TsType): string | undefined {
  if (type.kind === "union") return type.value.map(nameOf).find((name) => name !== undefined);
  return type.kind === "typeRef" ? type.value.typeName : undefined;
}

function usualOf({ jsDoc, optional }: Property): string | undefined {
  return defaultOf(jsDoc) ?? (optional === true ? "none" : undefined);
}

/** What the checks of a config fill in for a key. `undefined`: nothing. */
function filledIn(part: string, path: string): string | undefined {
  const schema = configSchema(builtins);
  const start: unknown = part === "config" ? schema : Object(schema).definitions[part];
  const found = path.split(".").reduce(
    (at: unknown, key) => Object(Object(at).properties)[key],
    start,
  );
  return JSON.stringify(Object(found).default);
}

function tableOf(part: string, keys: readonly Key[]): string {
  const rows = keys.filter(({ path }) => !path.startsWith("cooldown.")).map((key) => {
    const what = key.isSlot
      ? `Slot: ${key.text.slice(0, 1).toLowerCase()}${key.text.slice(1)}`
      : key.text;
    const more = MORE[`${part}.${key.path}`];
    return `| \`${key.path}\` | ${more === undefined ? what : `${what} ${more}`} | ${
      shownUsual(part, key)
    } |`;
  });
  return ["| key | what | default |", "| --- | --- | --- |", ...rows, ""].join("\n");
}

/** A value as code, words as they are. Who is to do without a key has to have another. */
function shownUsual(part: string, { path, usual, isSlot }: Key): string {
  if (path === "handler" || usual === undefined) return "required";
  if (isSlot) return usual === "none" ? usual : `\`${usual.replaceAll('"', "")}\``;
  const value = LONG_DEFAULTS.includes(`${part}.${path}`) ? undefined : filledIn(part, path);
  return value === undefined ? usual : `\`${value}\``;
}

/** Markdown as `deno fmt` has it. */
async function formatted(text: string): Promise<string> {
  const child = new Deno.Command(Deno.execPath(), {
    args: ["fmt", "--ext", "md", "-"],
    cwd: new URL("../", import.meta.url),
    stdin: "piped",
    stdout: "piped",
  }).spawn();
  const writer = child.stdin.getWriter();
  await writer.write(new TextEncoder().encode(text));
  await writer.close();
  const { stdout } = await child.output();
  return new TextDecoder().decode(stdout);
}

if (import.meta.main) {
  const { words, page } = await configDocs();
  await Deno.writeTextFile(WORDS, words);
  await Deno.writeTextFile(PAGE, page);
}

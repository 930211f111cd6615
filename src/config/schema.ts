/**
 * The JSON Schema (draft-07) of a config, with the options of each built-in: what editors complete from.
 *
 * @module
 */

import { type JsonSchema, toJsonSchema } from "@valibot/to-json-schema";
import type { GenericSchema } from "valibot";
import { isRecord } from "./faults.ts";
import {
  configShape,
  downstreamShape,
  envRefShape,
  laneShape,
  poolShape,
  routeShape,
  scheduleShape,
  sizeShape,
  slotKinds,
} from "./shape.ts";
import type { Kind, Plugin } from "../contract/plugin.ts";

/** The JSON Schema of a config whose slots may name `builtins`. Other names and modules are allowed too. */
export function configSchema(builtins: readonly Plugin[]): object {
  const config = convert(configShape);
  const pool = convert(poolShape);
  const shadow = pool.properties?.shadow;
  return {
    $schema: "http://json-schema.org/draft-07/schema#",
    title: "Sluice pools",
    ...withProperties(config, {
      store: ref("store"),
      downstreams: byName(ref("downstream")),
      pools: { ...byName(ref("pool")), minProperties: 1 },
    }),
    definitions: {
      env: convert(envRefShape),
      downstream: convert(downstreamShape),
      lane: convert(laneShape),
      pool: {
        ...withProperties(pool, {
          handler: ref("handler"),
          handlers: { ...byName(ref("handler")), minProperties: 1 },
          lanes: { type: "array", items: ref("lane"), minItems: 1 },
          sizes: { type: "array", items: ref("sizes") },
          routes: { type: "array", items: ref("route") },
          caps: { type: "array", items: ref("cap") },
          uses: byName({ type: "integer", minimum: 1 }),
          schedules: { type: "array", items: ref("schedule") },
          shadow: typeof shadow === "object"
            ? withProperties(shadow, { controller: ref("controller") })
            : {},
          signals: byName(ref("signal")),
          ...Object.fromEntries(Object.entries(slotKinds).map(([key, kind]) => [key, ref(kind)])),
        }),
        oneOf: [{ required: ["handler"] }, { required: ["handlers"] }],
      },
      sizes: convert(sizeShape),
      route: convert(routeShape),
      schedule: {
        ...convert(scheduleShape),
        oneOf: [{ required: ["cron"] }, { required: ["everyMs"] }],
      },
      signal: signalSchema,
      ...Object.fromEntries(kinds.map((kind) => [kind, slotSchema(kind, builtins)])),
    },
  };
}

/** The same as the text of a file, as `pools.schema.json` holds it. */
export function schemaText(builtins: readonly Plugin[]): string {
  return `${JSON.stringify(configSchema(builtins), null, 2)}\n`;
}

const kinds: readonly Kind[] = [
  "store",
  "handler",
  "controller",
  "lane-policy",
  "cap",
  "retirement",
  "admission",
];

const envSchema = {
  type: "object",
  properties: { env: { type: "string", minLength: 1, description: "Name of the variable." } },
  required: ["env"],
  additionalProperties: false,
  description: "An environment variable that has the value: for secrets.",
} as const satisfies JsonSchema;

const signalSchema = {
  anyOf: [
    { type: "string", description: "Name of a function given in code, or a module." },
    {
      type: "object",
      properties: {
        use: {
          type: "string",
          description: "Name of a function given in code, or a module: ./file.ts#name.",
        },
      },
      required: ["use"],
      additionalProperties: false,
    },
  ],
} as const;

/** What a file may hold: defaults make keys optional, checks that JSON Schema cannot say are left out. */
function convert(schema: GenericSchema): JsonSchema {
  const { $schema: _, ...converted } = toJsonSchema(schema, {
    target: "draft-07",
    typeMode: "input",
    errorMode: "ignore",
    overrideSchema: ({ valibotSchema, jsonSchema }) => {
      if (valibotSchema === envRefShape) return envSchema;
      // draft-07 has no use for `propertyNames` that allow any text.
      const { propertyNames: names, ...rest } = jsonSchema;
      return isRecord(names) && Object.keys(names).length === 1 ? rest : undefined;
    },
  });
  return converted;
}

/** Beside a `$ref` draft-07 ignores all other keys, the description too. */
function ref(name: string): JsonSchema {
  return { allOf: [{ $ref: `#/definitions/${name}` }] };
}

function byName(schema: JsonSchema): JsonSchema {
  return { type: "object", additionalProperties: schema };
}

/** Fills in what the shape leaves open; its descriptions stay. */
function withProperties(
  schema: JsonSchema,
  properties: Readonly<Record<string, JsonSchema>>,
): JsonSchema {
  const merged = Object.entries(schema.properties ?? {}).map(([key, own]) => {
    const filled = properties[key];
    return [key, filled !== undefined && typeof own === "object" ? { ...own, ...filled } : own];
  });
  return { ...schema, properties: Object.fromEntries(merged) };
}

function slotSchema(kind: Kind, builtins: readonly Plugin[]): object {
  const plugins = builtins.filter((plugin) => plugin.kind === kind);
  const bare = plugins.filter((plugin) => !needsOptions(plugin)).map(({ name }) => name);
  const scope = kind === "cap" ? { scope: scopeSchema, reportMs: reportSchema } : {};
  const other = otherName(plugins.map(({ name }) => name));
  return {
    anyOf: [
      ...(bare.length === 0 ? [] : [{ enum: bare }]), // draft-07 wants no empty `enum`
      other,
      ...plugins.map((plugin) => pluginSchema(plugin, scope)),
      {
        type: "object",
        properties: { use: other, with: { description: "Options of the plugin." }, ...scope },
        required: ["use"],
        additionalProperties: false,
      },
    ],
  };
}

/** A name of something else: what a built-in is called says what its options are. */
function otherName(names: readonly string[]): object {
  return {
    type: "string",
    minLength: 1,
    ...(names.length === 0 ? {} : { not: { enum: names } }),
    description: "Name of a plugin given in code, or a module: ./file.ts, ./file.ts#name.",
  };
}

const scopeSchema = {
  enum: ["cluster", "process"],
  description: "cluster: holds over all processes of the store together; process: in each.",
};

const reportSchema = {
  type: "number",
  minimum: 1,
  description: "Least time between two reports about this process's part of a cluster cap, ms.",
};

function pluginSchema(plugin: Plugin, scope: object): object {
  const needed = needsOptions(plugin);
  return {
    type: "object",
    properties: { use: { const: plugin.name }, with: optionsSchema(plugin), ...scope },
    required: needed ? ["use", "with"] : ["use"],
    additionalProperties: false,
  };
}

function needsOptions(plugin: Plugin): boolean {
  return (optionsSchema(plugin).required ?? []).length > 0;
}

/** Options of valibot's make; any other validator says nothing of its shape. */
export function optionsSchema({ options }: Pick<Plugin, "options">): JsonSchema {
  if (options === undefined) return { type: "object", additionalProperties: false };
  if (options["~standard"].vendor !== "valibot") return { type: "object" };
  // Only valibot's schemas name it as their vendor.
  return allowEnv(convert(options as unknown as GenericSchema));
}

/** `schema` with `{ "env": "NAME" }` allowed wherever it wants a text. */
function allowEnv(schema: JsonSchema): JsonSchema {
  const below = Object.fromEntries(
    Object.entries(schema).map(([key, value]) => [key, allowBelow(key, value)]),
  );
  if (schema.type !== "string") return below;
  const { description, ...text } = schema;
  const either = { anyOf: [text, { $ref: "#/definitions/env" }] };
  return description === undefined ? either : { ...either, description };
}

function allowBelow(key: string, value: unknown): unknown {
  if (key === "properties" && isRecord(value)) {
    return Object.fromEntries(Object.entries(value).map(([name, own]) => [name, allowIn(own)]));
  }
  return ["items", "additionalProperties", "anyOf", "oneOf", "allOf"].includes(key)
    ? allowIn(value)
    : value;
}

function allowIn(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(allowIn);
  return isRecord(value) ? allowEnv(value) : value;
}

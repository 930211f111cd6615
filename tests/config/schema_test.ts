import assert from "node:assert/strict";
import * as v from "valibot";
import { builtins as shipped } from "../../plugins/mod.ts";
import { defineHandler } from "../../src/contract/plugin.ts";
import { configSchema, schemaText } from "../../src/config/schema.ts";
import { configDocs, PAGE, WORDS } from "../../tools/config_docs.ts";
import { builtins, connections, post, steady } from "./_bench.ts";

/** What is at a JSON Pointer of a schema. */
function at(schema: unknown, pointer: string): unknown {
  return pointer.split("/").slice(1).reduce(
    (here: unknown, key) => Object(here)[key.replaceAll("~1", "/")],
    schema,
  );
}

Deno.test("words.json and docs/config.md are current: `deno task schema` writes them", async () => {
  const { words, page } = await configDocs();

  assert.equal(await Deno.readTextFile(WORDS), words);
  assert.equal(await Deno.readTextFile(PAGE), page);
});

Deno.test("pools.schema.json is current: `deno task schema` writes it", async () => {
  const written = await Deno.readTextFile(new URL("../../pools.schema.json", import.meta.url));

  assert.equal(written, schemaText(shipped));
});

Deno.test("configSchema() is draft-07 and strict", () => {
  const schema = configSchema(builtins);

  assert.equal(at(schema, "/$schema"), "http://json-schema.org/draft-07/schema#");
  assert.deepEqual(at(schema, "/required"), ["pools"]);
  assert.deepEqual(at(schema, "/definitions/pool/required"), ["size", "lanes"]);
  assert.deepEqual(at(schema, "/definitions/lane/required"), ["name"]);
  for (const pointer of ["", "/definitions/pool", "/definitions/lane", "/properties/admin"]) {
    assert.equal(at(schema, `${pointer}/additionalProperties`), false);
  }
});

Deno.test("configSchema() describes every key, and none that comes later", () => {
  const schema = configSchema(builtins);
  const properties = [
    "",
    "/definitions/downstream",
    "/definitions/pool",
    "/definitions/lane",
    "/properties/admin",
  ]
    .flatMap(
      (pointer) => Object.entries(Object(at(schema, `${pointer}/properties`))),
    );

  const keys = properties.map(([key]) => key);
  for (const [key, { description }] of properties as [string, { description?: string }][]) {
    assert.match(description ?? "", /\S{2}.*[.?]$/, key);
  }
  for (
    const key of [
      "downstreams",
      "pools",
      "uses",
      "lanes",
      "lanePolicy",
      "handlers",
      "targetWaitMs",
      "tokens",
      "keep",
    ]
  ) {
    assert.ok(keys.includes(key), key);
  }
  for (
    const key of [
      "isolation",
      "maxPauseMs",
      "minShare",
      "fairness",
      "preemptible",
      "order",
    ]
  ) assert.ok(!keys.includes(key), key);
});

Deno.test("configSchema() gives ranges and defaults", () => {
  const schema = configSchema(builtins);

  assert.deepEqual(at(schema, "/definitions/lane/properties/attempts"), {
    type: "integer",
    minimum: 1,

    description: "How often a job may be started before it is dead. A whole number >= 1.",
  });
  assert.equal(at(schema, "/definitions/pool/properties/size/properties/max/minimum"), 1);
  assert.equal(at(schema, "/definitions/pool/properties/lanes/minItems"), 1);
  assert.equal(at(schema, "/properties/pools/minProperties"), 1);
});

Deno.test("configSchema() has each built-in's options under its name", () => {
  const slots = at(configSchema([steady, connections]), "/definitions/cap/anyOf");

  assert.deepEqual(at(slots, "/1/properties/use"), { const: "connections" });
  assert.deepEqual(at(slots, "/1/properties/with"), {
    type: "object",
    properties: { count: { type: "integer", minimum: 1 } },
    required: ["count"],
    additionalProperties: false,
  });
  assert.deepEqual(at(slots, "/1/required"), ["use", "with"]);
  assert.deepEqual(at(slots, "/1/properties/scope/enum"), ["cluster", "process"]);
  assert.equal(
    at(configSchema([steady]), "/definitions/controller/anyOf/2/properties/scope"),
    undefined,
  );
});

Deno.test("configSchema() lists alone only names whose options may be left out", () => {
  const schema = configSchema([steady, connections]);

  assert.deepEqual(at(schema, "/definitions/controller/anyOf/0"), { enum: ["steady"] });
  assert.deepEqual(at(schema, "/definitions/cap/anyOf/0/not"), { enum: ["connections"] });
  assert.equal(at(schema, "/definitions/store/anyOf/0/not"), undefined);
});

Deno.test("configSchema() allows references to the environment where options are texts", () => {
  const options = at(configSchema([post]), "/definitions/handler/anyOf/1/properties/with");
  const env = { $ref: "#/definitions/env" };

  assert.deepEqual(at(options, "/properties/url"), {
    anyOf: [{ type: "string", pattern: "^https:" }, env],
  });
  assert.deepEqual(at(options, "/properties/headers/additionalProperties"), {
    anyOf: [{ type: "string" }, env],
  });
});

Deno.test("configSchema() wants tokens by reference", () => {
  const token = at(configSchema([]), "/properties/admin/properties/tokens/properties/admin");

  assert.deepEqual(at(token, "/required"), ["env"]);
  assert.equal(at(token, "/additionalProperties"), false);
});

Deno.test("configSchema() reaches texts in lists, choices and options of any name", () => {
  const options = v.strictObject({
    default: v.pipe(v.string(), v.description("Who gets it.")),
    list: v.array(v.union([v.string(), v.number()])),
    type: v.exactOptional(v.string(), "a"),
  });
  const odd = defineHandler({ name: "odd", options, create: () => ({ run: () => 1 }) });
  const text = { anyOf: [{ type: "string" }, { $ref: "#/definitions/env" }] };

  const shape = at(configSchema([odd]), "/definitions/handler/anyOf/1/properties/with/properties");

  assert.deepEqual(at(shape, "/default"), { ...text, description: "Who gets it." });
  assert.deepEqual(at(shape, "/list/items"), { anyOf: [text, { type: "number" }] });
  assert.deepEqual(at(shape, "/type/anyOf/1"), { $ref: "#/definitions/env" });
});

Deno.test("configSchema() says nothing of options that are not of valibot's make", () => {
  const options = {
    "~standard": { version: 1, vendor: "mine", validate: (value: unknown) => ({ value }) },
  } as const;
  const other = defineHandler({ name: "other", options, create: () => ({ run: () => 1 }) });

  const slot = at(configSchema([other]), "/definitions/handler/anyOf/2/properties/with");

  assert.deepEqual(slot, { type: "object" });
});

Deno.test("schemaText() ends with a line break, as a file does", () => {
  assert.deepEqual(
    JSON.parse(schemaText(builtins)),
    JSON.parse(JSON.stringify(configSchema(builtins))),
  );
  assert.ok(schemaText(builtins).endsWith("}\n"));
});

import assert from "node:assert/strict";
import { scenarioSchema, scenarioSchemaText } from "../../src/simulate/json_schema.ts";

Deno.test("scenario.schema.json is current: `deno task sluice schema --scenario` writes it", async () => {
  const written = await Deno.readTextFile(new URL("../../scenario.schema.json", import.meta.url));

  assert.equal(written, scenarioSchemaText());
});

Deno.test("scenarioSchema() describes every key, and none that comes later", () => {
  const schema = Object(scenarioSchema());
  const { lane, pool } = schema.definitions;

  for (const part of [schema, lane, pool]) {
    assert.equal(part.additionalProperties, false);
    for (
      const [key, { description }] of Object.entries<{ description?: string }>(part.properties)
    ) {
      assert.match(description ?? "", /\S{2}.*\.$/, key);
    }
  }
  assert.deepEqual(schema.required, ["durationMs", "pools"]);
  assert.deepEqual(lane.required, ["serviceMs"]);
  assert(!("checkpointMs" in lane.properties));
});

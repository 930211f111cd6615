/**
 * Writes the OpenAPI document of the admin API: endpoints and answers as their types and comments say
 * them, bodies as far as they are checked as their checks say them. `deno task openapi` runs it.
 *
 * @module
 */

import { toJsonSchema } from "@valibot/to-json-schema";
import type { GenericSchema } from "valibot";
import { MAX_JOBS } from "../src/admin/api/enqueue.ts";
import { drainShape, operationShape, overrideShape, pauseShape } from "../src/admin/api/shape.ts";
import { OPEN_ROUTES } from "../src/admin/access/open_routes.ts";
import {
  type Declarations,
  declarationsOf,
  literalsIn,
  propertiesIn,
  propertiesOf,
  type Property,
  textOf,
  type TsType,
} from "./_doc.ts";
import { jobShape } from "./_job_shape.ts";
import { described, type JsonSchema, SchemaMaker } from "./_json_schema.ts";

/** Where the document is. */
export const DOCUMENT: URL = new URL("../src/admin/openapi/openapi.json", import.meta.url);

/** Parts of the table of endpoints, each with what it is called in the document. */
const TAGS: Readonly<Record<string, string>> = {
  PoolEndpoints: "Pools",
  JobEndpoints: "Jobs",
  ScheduleEndpoints: "Schedules",
  OperationEndpoints: "Operations",
  SystemEndpoints: "System",
  SessionEndpoints: "Session",
};

/** Files whose types go over the wire. */
const FILES = [
  "src/admin/http/endpoints.ts",
  "src/admin/http/schedule_endpoints.ts",
  "src/admin/http/wire.ts",
  "src/admin/http/wire_failures.ts",
  "src/admin/http/wire_lists.ts",
  "src/admin/http/wire_what_if.ts",
  "src/contract/decision.ts",
  "src/contract/event.ts",
  "src/contract/job.ts",
  "src/contract/view.ts",
  "src/explain/diagnose/finding.ts",
  "src/explain/waiting.ts",
  "src/admin/http/happening.ts",
  "src/planning/history.ts",
  "src/planning/load_record.ts",
  "src/planning/sample.ts",
  "src/runtime/handles.ts",
  "src/simulate/happened.ts",
];

/** Names on the outside, where they are not the type's own without `Json`. */
const NAMES: Readonly<Record<string, string>> = {
  DrainBody: "Drain",
  JobRecord: "Job",
  LoginBody: "LogIn",
  OperationRequest: "StartOperation",
  OverrideBody: "SetOverride",
  PauseBody: "Pause",
  ReloadBody: "Reload",
  ReloadReport: "Reloaded",
  StopReport: "Stopped",
  WaitingJson: "WhyItWaits",
};

/** What checks bodies, by the name of their type. */
const SHAPES: Readonly<Record<string, GenericSchema>> = {
  DrainBody: drainShape,
  NewJob: jobShape,
  OperationRequest: operationShape,
  OverrideBody: overrideShape,
  PauseBody: pauseShape,
};

const GUARD_PROBLEMS = [401, 403, 421];

/** The document, as it is written. */
export async function documentText(): Promise<string> {
  return `${JSON.stringify(documentOf(await declarationsOf(...FILES)), null, 2)}\n`;
}

function documentOf(types: Declarations): object {
  const maker = new SchemaMaker(types, (name) => NAMES[name] ?? name.replace(/Json$/, ""));
  for (const [type, shape] of Object.entries(SHAPES)) {
    maker.named[NAMES[type] ?? type] = bodySchema(type, shape, types);
  }
  const paths: Record<string, Record<string, object>> = {};
  for (const [table, tag] of Object.entries(TAGS)) {
    for (const endpoint of propertiesOf(table, types)) {
      const [method = "", path = ""] = endpoint.name.split(" ");
      const shown = path.replaceAll(/:(\w+)/g, "{$1}");
      (paths[shown] ??= {})[method.toLowerCase()] = operationOf(endpoint, tag, { maker, types });
    }
  }
  maker.ref("Problem");
  return {
    openapi: "3.1.0",
    info: {
      title: "Sluice admin API",
      version: "1",
      description: "Looks at and steers autoscaling worker pools.",
    },
    security: [{ token: [] }, { session: [] }, {}],
    paths,
    components: {
      schemas: maker.named,
      responses: {
        Refused: {
          description: "Refused.",
          content: {
            "application/problem+json": { schema: { $ref: "#/components/schemas/Problem" } },
          },
        },
      },
      securitySchemes: {
        token: { type: "http", scheme: "bearer", description: "The admin or the viewer token." },
        session: { type: "apiKey", in: "cookie", name: "sluice_session" },
      },
    },
  };
}

/** What a body is checked by, with what its type says of each field. */
function bodySchema(type: string, shape: GenericSchema, types: Declarations): JsonSchema {
  const { $schema: _, properties = {}, ...rest } = toJsonSchema(shape, {
    target: "draft-2020-12",
    typeMode: "input",
    errorMode: "ignore",
  });
  const said = propertiesOf(type, types);
  return described({
    ...rest,
    properties: Object.fromEntries(
      Object.entries(properties).map(([name, schema]) => [
        name,
        described({ ...Object(schema) }, textOf(said.find((each) => each.name === name)?.jsDoc)),
      ]),
    ),
  }, textOf(types.get(type)?.jsDoc));
}

interface Making {
  readonly maker: SchemaMaker;
  readonly types: Declarations;
}

function operationOf(endpoint: Property, tag: string, { maker, types }: Making): object {
  const [method = "", path = ""] = endpoint.name.split(" ");
  const parts = new Map(
    propertiesIn(endpoint.tsType, types).map((part) => [part.name, part.tsType]),
  );
  const fieldsOf = (part: string): readonly Property[] =>
    parts.has(part) ? propertiesIn(parts.get(part)!, types) : [];
  const [, summary = "", description = ""] =
    /^(.*?)\.(?: (.*))?$/.exec(textOf(endpoint.jsDoc) ?? "") ??
      [];
  const parameters = [
    ...[...path.matchAll(/:(\w+)/g)].map(([, name = ""]) => parameter("path", name, undefined)),
    ...fieldsOf("query").map(({ name, jsDoc }) => parameter("query", name, textOf(jsDoc))),
    ...fieldsOf("headers").map(({ name, jsDoc }) => parameter("header", name, textOf(jsDoc))),
  ];
  const body = parts.get("body");
  const isOpen = OPEN_ROUTES.some((route) => route === endpoint.name);
  const problems = parts.has("problems") ? literalsIn(parts.get("problems")!) : [];
  return {
    operationId: `${method.toLowerCase()}${
      path.replaceAll(/[/:]+(\w?)/g, (_, next) => next.toUpperCase())
    }`,
    tags: [tag],
    summary,
    ...(description === "" ? {} : { description }),
    ...(isOpen ? { security: [] } : {}),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(body === undefined ? {} : { requestBody: json(bodyOf(maker.of(body))) }),
    responses: {
      ...Object.fromEntries(
        fieldsOf("answers").map(({ name, tsType }) => [name, answerOf(tsType, maker)]),
      ),
      ...problemsOf([...(isOpen ? [] : GUARD_PROBLEMS), ...problems, 500]),
    },
  };
}

/** One, or a list of them, of which a request takes this many. */
function bodyOf(schema: JsonSchema): JsonSchema {
  const { anyOf } = schema;
  if (!Array.isArray(anyOf)) return schema;
  return { oneOf: anyOf.map((one) => one.type === "array" ? { ...one, maxItems: MAX_JOBS } : one) };
}

function answerOf(type: TsType, maker: SchemaMaker): object {
  if (type.kind === "typeRef" && type.value.typeName === "Media") {
    const [media] = (type.value.typeParams ?? []).flatMap(literalsIn);
    return { description: "Text.", content: { [String(media)]: { schema: { type: "string" } } } };
  }
  return { description: "Done.", ...json(maker.of(type)) };
}

function problemsOf(statuses: readonly unknown[]): object {
  const refused = { $ref: "#/components/responses/Refused" };
  return Object.fromEntries([...statuses].sort().map((status) => [status, refused]));
}

function parameter(place: "path" | "query" | "header", name: string, text?: string): object {
  return {
    name,
    in: place,
    ...(place === "path" ? { required: true } : {}),
    ...(text === undefined ? {} : { description: text }),
    schema: { type: "string" },
  };
}

function json(schema: object): object {
  return { content: { "application/json": { schema } } };
}

if (import.meta.main) await Deno.writeTextFile(DOCUMENT, await documentText());

/**
 * The OpenAPI 3.1 document, from the schemas that check requests.
 *
 * @module
 */

import { type JsonSchema, toJsonSchemaDefs } from "@valibot/to-json-schema";
import { answerShapes } from "./answers.ts";
import { bodyShapes, type Endpoint, endpoints } from "./endpoints.ts";

/** A document of OpenAPI 3.1, as far as it is looked at here. */
export interface OpenApi {
  /** Version of the standard. */
  readonly openapi: "3.1.0";
  /** What the API is. */
  readonly info: Readonly<Record<string, string>>;
  /** Where it answers. */
  readonly servers: readonly { readonly url: string }[];
  /** How clients are let in: one of these. */
  readonly security: readonly Readonly<Record<string, readonly string[]>>[];
  /** Routes by path, then method. */
  readonly paths: Readonly<Record<string, Readonly<Record<string, object>>>>;
  /** Shapes, by name. */
  readonly components: {
    readonly schemas: Readonly<Record<string, JsonSchema>>;
    readonly securitySchemes: Readonly<Record<string, object>>;
  };
}

const GUARD_PROBLEMS = [401, 403, 421];

/** Makes the document. `base` is the path that the app is mounted at. */
export function openApi(base: string): OpenApi {
  const paths: Record<string, Record<string, object>> = {};
  for (const endpoint of endpoints) {
    const path = endpoint.path.replaceAll(/:(\w+)/g, "{$1}");
    (paths[path] ??= {})[endpoint.method] = operationOf(endpoint);
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "Sluice admin API",
      version: "1",
      description: "Looks at and steers autoscaling worker pools.",
    },
    servers: [{ url: base === "" ? "/" : base }],
    security: [{ token: [] }, { session: [] }, {}],
    paths,
    components: {
      schemas: schemas(),
      securitySchemes: {
        token: { type: "http", scheme: "bearer", description: "The admin or the viewer token." },
        session: { type: "apiKey", in: "cookie", name: "sluice_session" },
      },
    },
  };
}

function schemas(): Readonly<Record<string, JsonSchema>> {
  return toJsonSchemaDefs({ ...bodyShapes, ...answerShapes }, {
    target: "draft-2020-12",
    typeMode: "input",
    errorMode: "ignore",
    overrideRef: ({ referenceId }) => `#/components/schemas/${referenceId}`,
  });
}

function operationOf(endpoint: Endpoint): object {
  const { method, path, tag, summary, description, body, many, open } = endpoint;
  const parameters = [
    ...[...path.matchAll(/:(\w+)/g)].map(([, name = ""]) => parameter("path", name, undefined)),
    ...Object.entries(endpoint.query ?? {}).map(([name, text]) => parameter("query", name, text)),
    ...Object.entries(endpoint.headers ?? {}).map(([name, text]) =>
      parameter("header", name, text)
    ),
  ];
  return {
    operationId: `${method}${path.replaceAll(/[/:]+(\w?)/g, (_, next) => next.toUpperCase())}`,
    tags: [tag],
    summary,
    ...(description === undefined ? {} : { description }),
    ...(open === true ? { security: [] } : {}),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(body === undefined ? {} : { requestBody: json(bodyOf(body, many === true)) }),
    responses: { ...answersOf(endpoint), ...problemsOf(endpoint) },
  };
}

function bodyOf(name: string, many: boolean): object {
  return many
    ? { oneOf: [ref(name), { type: "array", items: ref(name), maxItems: 1_000 }] }
    : ref(name);
}

function answersOf({ answers, many }: Endpoint): object {
  return Object.fromEntries(
    Object.entries(answers).map(([status, name]) => {
      if (name.includes("/")) {
        return [status, {
          description: "Text.",
          content: { [name]: { schema: { type: "string" } } },
        }];
      }
      const schema = many === true && status === "200"
        ? { anyOf: [ref(name), ref(`Bulk${name}`)] }
        : ref(name);
      return [status, { description: `${name}.`, ...json(schema) }];
    }),
  );
}

function problemsOf({ problems = [], open }: Endpoint): object {
  const statuses = open === true ? problems : [...GUARD_PROBLEMS, ...problems];
  const content = { "application/problem+json": { schema: ref("Problem") } };
  return Object.fromEntries(
    [...statuses, 500].sort().map((status) => [status, { description: "Refused.", content }]),
  );
}

function parameter(
  place: "path" | "query" | "header",
  name: string,
  text: string | undefined,
): object {
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

function ref(name: string): { readonly $ref: string } {
  return { $ref: `#/components/schemas/${name}` };
}

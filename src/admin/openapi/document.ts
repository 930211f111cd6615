/**
 * The OpenAPI 3.1 document. `deno task openapi` writes it from the table of endpoints, the types that
 * it names and their comments.
 *
 * @module
 */

import written from "./openapi.json" with { type: "json" };

/** A JSON Schema, as far as it is looked at here. */
export interface Schema {
  /** Where the schema is that this one refers to. */
  readonly $ref?: string;
  /** Schema of what a list has. */
  readonly items?: Schema;
  /** It is one of these. */
  readonly oneOf?: readonly Schema[];
  /** It is any of these. */
  readonly anyOf?: readonly Schema[];
}

/** What goes over the wire. */
export interface Message {
  /** Where it is said. Only of a problem: all have the same shape. */
  readonly $ref?: string;
  /** By media type. */
  readonly content?: Readonly<Record<string, { readonly schema: Schema }>>;
}

/** One endpoint. */
export interface OperationDoc {
  /** Its group in the documentation. */
  readonly tags: readonly string[];
  /** What it does, as a sentence without a period. */
  readonly summary: string;
  /** More about it. */
  readonly description?: string;
  /** Empty: no token is needed. */
  readonly security?: readonly object[];
  /** What its path, query and headers may hold. */
  readonly parameters?: readonly {
    readonly name: string;
    readonly in: string;
    readonly description?: string;
  }[];
  /** Its body. */
  readonly requestBody?: Message;
  /** What it answers, by status. */
  readonly responses: Readonly<Record<string, Message>>;
}

/** A document of OpenAPI 3.1, as far as it is looked at here. */
export interface OpenApi {
  /** Where it answers. */
  readonly servers: readonly { readonly url: string }[];
  /** Endpoints by path, then method. */
  readonly paths: Readonly<Record<string, Readonly<Record<string, OperationDoc>>>>;
  /** Shapes, by name. */
  readonly components: { readonly schemas: Readonly<Record<string, object>> };
}

/** Makes the document. `base` is the path that the app is mounted at. */
export function openApi(base: string): OpenApi {
  const document = written as unknown as Omit<OpenApi, "servers">; // a test holds it to the standard
  return { ...document, servers: [{ url: base === "" ? "/" : base }] };
}

/** An endpoint with its route. */
export interface RouteDoc extends OperationDoc {
  /** HTTP method, upper case. */
  readonly method: string;
  /** Path as Hono has it: `/api/pools/:pool`. */
  readonly path: string;
}

/** All endpoints of the document, in the order of the table. */
export function routeDocs(): readonly RouteDoc[] {
  return Object.entries(openApi("").paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      ...operation,
      method: method.toUpperCase(),
      path: path.replaceAll(/\{(\w+)\}/g, ":$1"),
    }))
  );
}

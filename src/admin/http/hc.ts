/**
 * The table of endpoints as `hc` reads it.
 *
 * @module
 */

import type { OPEN_ROUTES } from "../access/open_routes.ts";
import type { Media, Problem } from "./wire.ts";

/**
 * What each endpoint of a table takes and answers, by path, then method.
 *
 * @internal
 */
export type RoutesOf<Table> = {
  [Path in PathOf<keyof Table>]: {
    [Method in MethodOf<keyof Table, Path> as `$${Lowercase<Method>}`]: Exchanges<
      Table[`${Method} ${Path}` & keyof Table],
      `${Method} ${Path}`
    >;
  };
};

type PathOf<Route> = Route extends `${string} ${infer Path}` ? Path : never;

type MethodOf<Route, Path extends string> = Route extends `${infer Method} ${Path}` ? Method
  : never;

/** All answers of an endpoint, each with what it is an answer to. */
type Exchanges<Endpoint, Route extends string> =
  | (Endpoint extends { answers: infer Answers } ? {
      [Status in keyof Answers]: Exchange<Endpoint, Route, Answers[Status], Status>;
    }[keyof Answers]
    : never)
  | Exchange<Endpoint, Route, Problem, ProblemsOf<Endpoint, Route>>;

type Exchange<Endpoint, Route extends string, Output, Status> = {
  input: InputOf<Endpoint, Route>;
  output: Output extends Media<"text/event-stream"> ? ReadableStream<Uint8Array>
    : Output extends Media<string> ? string
    : Output;
  outputFormat: Output extends Media<"text/event-stream"> ? "body"
    : Output extends Media<string> ? "text"
    : "json";
  status: Status;
};

/** What every endpoint behind the guard may answer, and its own problems. */
type ProblemsOf<Endpoint, Route extends string> =
  | 500
  | (Route extends typeof OPEN_ROUTES[number] ? never : 401 | 403 | 421)
  | (Endpoint extends { problems: infer Problems } ? Problems : never);

/** Parameters in the path of a route. */
export type PathParts<Route extends string> =
  & (Route extends `${string}/:pool${string}` ? { pool: string } : unknown)
  & (Route extends `${string}/:id${string}` ? { id: string } : unknown);

type InputOf<Endpoint, Route extends string> =
  & Record<never, never> // nothing else
  & (unknown extends PathParts<Route> ? unknown : { param: PathParts<Route> })
  & (Endpoint extends { query: infer Query } ? { query: Sent<Query> } : unknown)
  & (Endpoint extends { body: infer Body } ? { json: Body } : unknown);

/** A query as it is sent: in text. */
type Sent<Query> = {
  [Name in keyof Query]: Query[Name] extends readonly string[] | undefined ? string | string[]
    : string;
};

/**
 * Speaks to the admin API of a running system.
 *
 * @module
 */

import type { Endpoints } from "../admin/http/endpoints.ts";
import type { PathParts } from "../admin/http/hc.ts";
import { NO_ROUTE, type Problem } from "../admin/http/wire.ts";
import { shellWord } from "../base/shell_word.ts";
import { isRecord } from "../config/faults.ts";
import { formatFault, messageOf } from "../contract/errors.ts";
import { CliError, UnansweredError } from "./failure.ts";
import type { Io } from "./io.ts";

/** Where a running system is, and how to be let in, as given. */
export interface RemoteOptions {
  /** Address of its admin API. @default {the variable SLUICE_URL, or http://127.0.0.1:8787} */
  readonly url?: string | undefined;
  /** Option that the address was given by. @default {"--url"} */
  readonly urlOption?: string | undefined;
  /** Variable of the environment that holds the token. @default {"SLUICE_TOKEN", where it is set} */
  readonly tokenEnv?: string | undefined;
  /** Print JSON. */
  readonly json?: boolean | undefined;
}

/** An endpoint of the admin API: method and path. */
export type Route = keyof Endpoints;

/** What a request says to an endpoint. */
export type Call<To extends Route = Route> =
  & {
    /** Query parameters; `undefined` ones are left out. */
    readonly query?: Endpoints[To] extends { query: infer Query } ? {
        readonly [Name in keyof Query]?: Query[Name] extends readonly string[] | undefined
          ? readonly string[] | undefined
          : string | number | undefined;
      }
      : undefined;
    /** Body, sent as JSON. */
    readonly body?: Endpoints[To] extends { body: infer Body } ? Body : undefined;
    /** Headers besides those that every request has. */
    readonly headers?: Readonly<Record<string, string>>;
    /** Gives up on the answer. */
    readonly signal?: AbortSignal | undefined;
  }
  & (unknown extends PathParts<To> ? { readonly at?: undefined }
    : { readonly at: PathParts<To> }); // what is in the path

/** A request to any endpoint. */
interface AnyCall {
  readonly at?: Readonly<Record<string, string>> | undefined;
  readonly query?:
    | Readonly<Record<string, string | number | readonly string[] | undefined>>
    | undefined;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | undefined;
}

/** Address used unless an option or the environment says otherwise. */
export const DEFAULT_URL = "http://127.0.0.1:8787";

/** Variables of the environment that hold the address and the token, where no option says otherwise. */
export const URL_VARIABLE = "SLUICE_URL";
export const TOKEN_VARIABLE = "SLUICE_TOKEN";

/** What a command that a message tells takes after it to mean the same system: what was given by options. */
export function there({ url, tokenEnv }: RemoteOptions): string {
  const address = url === undefined ? "" : ` --url ${shellWord(url)}`;
  return tokenEnv === undefined ? address : `${address} --token-env ${shellWord(tokenEnv)}`;
}

/** Where a running system is. */
export interface Remote extends RemoteOptions {
  readonly url: string;
  /** Option or variable that the address came from, or is to be given by. */
  readonly urlOption: string;
}

/** Where a running system is: what an option says, or else the environment, or else the default. */
export function remoteOf(io: Io, options: RemoteOptions): Remote {
  const { url, urlOption = "--url" } = options;
  if (url !== undefined) return { ...options, url, urlOption };
  const known = variable(io, URL_VARIABLE);
  return known === undefined
    ? { ...options, url: DEFAULT_URL, urlOption }
    : { ...options, url: known, urlOption: URL_VARIABLE };
}

/** What an endpoint answers. */
type AnswerOf<To extends Route> = Endpoints[To]["answers"][
  & keyof Endpoints[To]["answers"]
  & (200 | 202)
];

/** What tells an answer from that of another program: that it is a list, or a field that it always has. */
export type Sign<T> = T extends readonly unknown[] ? "list"
  : { [Name in keyof T & string]-?: undefined extends T[Name] ? never : Name }[keyof T & string];

/** Those answers that have the sign. */
type Signed<T, By> = T extends unknown ? By extends Sign<T> ? T : never : never;

/**
 * Makes one request to an endpoint of the table, and checks that what answers is one.
 *
 * @throws {CliError} If nothing answers, another program does, or it answers with a problem.
 */
export async function call<To extends Route, By extends Sign<AnswerOf<To>>>(
  io: Io,
  given: RemoteOptions,
  route: To,
  sign: By,
  request: Call<To>,
): Promise<Signed<AnswerOf<To>, By>> {
  const options = remoteOf(io, given);
  const response = await send(io, options, route, request as AnyCall); // the table has held it to its route
  const answer = await readAnswer(response, options, route);
  const isOurs = sign === "list" ? Array.isArray(answer) : isRecord(answer) && sign in answer;
  if (isOurs) return answer as Signed<AnswerOf<To>, By>; // what the table says of the endpoint
  const what = sign === "list" ? "no list" : `no "${sign}" in its answer`;
  throw foreign(response, what, options);
}

/**
 * Makes one request and leaves the body of its answer to be read.
 *
 * @throws {CliError} If nothing answers, or it answers with a problem.
 */
export async function send(
  io: Io,
  given: RemoteOptions,
  route: Route,
  request: AnyCall,
): Promise<Response> {
  const options = remoteOf(io, given);
  const [method = "", path = ""] = route.split(" ");
  const headers: Record<string, string> = { accept: "application/json", ...request.headers };
  const token = tokenOf(io, options);
  if (token !== undefined) headers["authorization"] = `Bearer ${token}`;
  if (request.body !== undefined) headers["content-type"] = "application/json";
  const url = urlOf(options, pathTo(path, request.at ?? {}), request.query ?? {});
  let response: Response;
  try {
    response = await fetch(url, {
      method,
      headers,
      body: request.body === undefined ? null : JSON.stringify(request.body),
      redirect: "manual", // one that is followed makes a GET of a POST
      signal: request.signal ?? null,
    });
  } catch (thrown) {
    if (hasBroken(thrown)) throw broken(options, route, thrown);
    throw new CliError(
      `Nothing answers at ${options.url}: start a system with "sluice run FILE", or pass its address by ${options.urlOption}`,
      1,
      { cause: thrown },
    );
  }
  if (response.ok) return response;
  if (response.status >= 300 && response.status < 400) {
    await response.body?.cancel();
    throw new CliError(
      `${options.url} redirects elsewhere (${response.status}): pass the address that it redirects to by ${options.urlOption}`,
      1,
    );
  }
  throw failureOf(io, response, await readAnswer(response, options, route), options);
}

/** A variable that nobody named. `undefined`: it is empty, not set, or this process may not read it. */
function variable(io: Io, name: string): string | undefined {
  try {
    return io.env(name) || undefined;
  } catch (thrown) {
    if (thrown instanceof Deno.errors.NotCapable) return undefined;
    throw thrown;
  }
}

/** A path of the table with what is in it, escaped. */
function pathTo(path: string, at: Readonly<Record<string, string>>): string {
  return path.replaceAll(/:(\w+)/g, (_, name) => encodeURIComponent(at[name] ?? ""));
}

function tokenOf(io: Io, { tokenEnv }: RemoteOptions): string | undefined {
  if (tokenEnv === undefined) return variable(io, TOKEN_VARIABLE);
  const token = io.env(tokenEnv);
  if (token !== undefined && token !== "") return token;
  throw new CliError(
    `The variable "${tokenEnv}" is not set: set it to the token; --token-env takes the name of a variable`,
    2,
  );
}

function urlOf(options: Remote, path: string, query: NonNullable<AnyCall["query"]>): URL {
  const base = options.url.replace(/\/+$/, "");
  // "localhost:8787" can be read too, as an address of the scheme "localhost".
  if (!/^https?:\/\//i.test(base) || !URL.canParse(base)) {
    throw new CliError(
      `Expected ${options.urlOption} to begin with http:// or https://, such as ${DEFAULT_URL}, but received "${options.url}"`,
      2,
    );
  }
  if (/[?#]/.test(base)) {
    const given = `but received "${options.url}"`;
    throw new CliError(`Expected ${options.urlOption} without "?" and "#" ${given}`, 2);
  }
  const url = new URL(`${base}${path}`);
  for (const [name, value] of Object.entries(query)) {
    for (const one of [value ?? []].flat()) url.searchParams.append(name, String(one));
  }
  return url;
}

async function readAnswer(
  response: Response,
  options: Remote,
  route: Route,
): Promise<unknown> {
  let text: string;
  try {
    text = await response.text();
  } catch (thrown) {
    throw broken(options, route, thrown);
  }
  try {
    return JSON.parse(text);
  } catch (thrown) {
    throw foreign(response, typeOf(response), options, thrown);
  }
}

/** What it says to be. */
function typeOf({ headers }: Response): string {
  return headers.get("content-type") ?? "no Content-Type";
}

/** What to say of an answer that no route of ours has given. */
function foreign(
  { status }: Response,
  why: string,
  options: Remote,
  cause?: unknown,
): CliError {
  return new CliError(
    `What answers at ${options.url} is not a Sluice admin API (${status}, ${why}): check ${options.urlOption}`,
    1,
    { cause },
  );
}

/** True if the request was on its way when the connection broke. Deno says so in words only. */
function hasBroken(thrown: unknown): boolean {
  return thrown instanceof TypeError && messageOf(thrown.cause).includes("(SendRequest)");
}

function broken({ url }: Remote, route: Route, cause: unknown): CliError {
  const what = `The connection to ${url} broke before the answer was there`;
  if (route.startsWith("GET ")) return new CliError(`${what}: try again`, 1, { cause });
  return new UnansweredError(
    `${what}: it may have taken effect, so check before you try again`,
    1,
    { cause },
  );
}

function failureOf(
  io: Io,
  response: Response,
  answer: unknown,
  options: Remote,
): CliError {
  const { status } = response;
  if (status === 401) {
    const hasOwn = variable(io, TOKEN_VARIABLE) !== undefined;
    const name = options.tokenEnv ?? (hasOwn ? TOKEN_VARIABLE : undefined);
    const known = name === undefined
      ? `set ${TOKEN_VARIABLE} to it, or name the variable that holds it by --token-env NAME`
      : `the token in "${name}" is not valid there`;
    return new CliError(`The system at ${options.url} needs a token: ${known}`);
  }
  if (!isProblem(response, answer)) {
    return foreign(response, typeOf(response), options);
  }
  const { detail, errors: all = [] } = answer;
  // The path of --url is wrong: what is asked for below it is there.
  if (status === 404 && detail.startsWith(NO_ROUTE)) return foreign(response, detail, options);
  const isConfig = all[0]?.file !== undefined;
  const errors = all.length > 1 || isConfig ? all : [];
  const lines = errors.map((error) => `  ${formatFault({ ...error, message: error.detail })}`);
  return new CliError(
    [errors.length > 0 ? `The ${isConfig ? "config" : "request"} has faults:` : detail, ...lines]
      .join("\n"),
    isFaulty(status, answer) ? 2 : 1,
  );
}

/** True if it is a problem as our routes answer it. Others have types of their own, or leave parts out. */
function isProblem(response: Response, answer: unknown): answer is Problem {
  return typeOf(response).startsWith("application/problem+json") && isRecord(answer) &&
    answer["type"] === "about:blank" && typeof answer["detail"] === "string";
}

/** True if what was given would be refused again: a name that is not there, a value that does not fit. */
function isFaulty(status: number, { pools }: Problem): boolean {
  return status === 400 || status === 413 || (status === 404 && pools !== undefined);
}

/**
 * Reads JSON bodies, never more of them than is allowed.
 *
 * @module
 */

import type { Context } from "hono";
import { type GenericSchema, type InferOutput, safeParse } from "valibot";
import { display, isRecord, toPointer } from "../../config/faults.ts";
import { messageOf } from "../../contract/errors.ts";
import { badRequest, breakingOff, problem, type ProblemExtra, refuseQuery } from "./problem.ts";
import { type BodyReads, UnreadError } from "./reads.ts";
import { repeatedField } from "./repeated.ts";

/** Longest body of a request that is not an enqueue, bytes. */
const MAX_SHAPE_BYTES = 16_384;

/** What came of reading a body. */
export type Body =
  | { readonly ok: true; readonly value: unknown; readonly bytes: number }
  | { readonly ok: false; readonly refusal: ReturnType<typeof problem<400 | 413 | 415>> };

/** How a body is read. */
export interface ReadOptions {
  /** Bounds its time. */
  readonly reads: BodyReads;
  /** Longest body that is read, bytes. */
  readonly maxBytes: number;
  /** Value of an empty body. `undefined`: there must be one. */
  readonly fallback?: unknown;
}

/**
 * Reads a JSON body.
 *
 * @throws {UnreadError} If it does not come in time.
 */
export async function readJson(request: Request, options: ReadOptions): Promise<Body> {
  const { reads, maxBytes, fallback } = options;
  const { headers } = request;
  const length = headers.get("content-length");
  // Hint: `request.body` is costly to look at, so a body that announces its length goes without.
  if (length === "0" || (length === null && request.body === null)) return nothing(fallback);
  const fault = typeFault(headers.get("content-type"));
  if (fault !== undefined) {
    // A proxy may send an empty body in no chunks, so without a length.
    if (length === null && fallback !== undefined) {
      const read = await reads.of(readText(request.body, maxBytes));
      if (read?.text === "") return { ok: true, value: fallback, bytes: 0 };
    }
    return refuse(415, fault);
  }
  const bytes = length === null ? 0 : Number(length);
  if (bytes > maxBytes) return refuse(413, tooLarge(maxBytes));
  try {
    // A length that was announced is held by the server: only a chunked body must be counted.
    if (length !== null) return parsed(await reads.of(request.text()), bytes);
    const read = await reads.of(readText(request.body, maxBytes));
    if (read === undefined) return refuse(413, tooLarge(maxBytes));
    if (read.text === "") return nothing(fallback);
    return parsed(read.text, read.bytes);
  } catch (thrown) {
    if (thrown instanceof UnreadError) throw thrown;
    // A client that hung up within the body reads no answer, and it is no fault of ours to log.
    if (!(thrown instanceof SyntaxError)) {
      const detail = `The body could not be read: ${messageOf(thrown)}`;
      return { ok: false, refusal: breakingOff(problem(400, detail, atWhole(detail))) };
    }
    const encoding = headers.get("content-encoding") ?? "identity";
    if (encoding !== "identity") return refuse(415, encodingFault(encoding));
    return refuse(400, `The body is not JSON: ${messageOf(thrown)}`);
  }
}

/** @throws {SyntaxError} If the text is no JSON. */
function parsed(text: string, bytes: number): Body {
  const value: unknown = JSON.parse(text);
  const twice = repeatedField(text, value);
  if (twice === undefined) return { ok: true, value, bytes };
  return refuse(400, `The field ${display(twice)} is given twice: give it once`);
}

/** What an empty body comes to. */
function nothing(fallback: unknown): Body {
  return fallback === undefined
    ? refuse(400, "The body is empty: expected JSON")
    : { ok: true, value: fallback, bytes: 0 };
}

/** Reads a body of a known shape; an empty one has no fields. */
export async function readShape<Shape extends GenericSchema>(
  c: Context,
  shape: Shape,
  reads: BodyReads,
): Promise<
  | { readonly ok: true; readonly value: InferOutput<Shape> }
  | { readonly ok: false; readonly refusal: Response }
> {
  const refusal = refuseQuery(c, "send it in the body"); // else a pause of one lane is a pause of all
  if (refusal !== undefined) return { ok: false, refusal };
  const body = await readJson(c.req.raw, { reads, maxBytes: MAX_SHAPE_BYTES, fallback: {} });
  if (!body.ok) return body;
  if (!isRecord(body.value)) { // for valibot a list is an object
    const detail = `Expected an object but received ${display(body.value)}`;
    return { ok: false, refusal: badRequest([{ pointer: "", detail }]) };
  }
  const { success, output, issues } = safeParse(shape, body.value);
  if (success) return { ok: true, value: output };
  const errors = issues.map(({ path, message }) => ({
    pointer: toPointer(path?.map(({ key }) => typeof key === "number" ? key : String(key)) ?? []),
    detail: message,
  }));
  return { ok: false, refusal: badRequest(errors) };
}

/** The sentence for what is too large. */
export function tooLarge(maxBytes: number): string {
  return `The body is too large: expected at most ${maxBytes} bytes, send fewer jobs at once or a reference instead of the data`;
}

/** The sentence for one job that is too large. */
export function jobTooLarge(maxBytes: number): string {
  return `The job is too large: expected at most ${maxBytes} bytes of JSON, store the data elsewhere and send its address or key`;
}

/** What is wrong with a body of that `Content-Type`. `undefined`: it is JSON in UTF-8. */
function typeFault(type: string | null): string | undefined {
  if (type === "application/json") return undefined;
  const plain = type?.split(";", 1)[0]?.trim().toLowerCase();
  if (plain !== "application/json" && plain?.endsWith("+json") !== true) {
    return 'Expected a JSON body: send it with "Content-Type: application/json"';
  }
  const [, charset = "utf-8"] = /;\s*charset\s*=\s*"?([^";\s]+)/i.exec(type ?? "") ?? [];
  if (/^(utf-?8|us-ascii)$/i.test(charset)) return undefined; // ASCII is UTF-8 too
  return `Expected a body in UTF-8 but received the charset ${display(charset)}: send it in UTF-8`;
}

/** The sentence for a body that was packed: only what is not JSON is looked at for that. */
function encodingFault(encoding: string): string {
  return `Expected a body without Content-Encoding but received ${
    display(encoding)
  }: send it as it is`;
}

/** Reads a body as text. `undefined`: it is longer than is allowed. */
export async function readText(
  body: ReadableStream<Uint8Array> | null,
  maxBytes: number,
): Promise<{ readonly text: string; readonly bytes: number } | undefined> {
  const decoder = new TextDecoder();
  let text = "";
  let bytes = 0;
  for await (const chunk of body ?? []) {
    bytes += chunk.byteLength;
    if (bytes > maxBytes) return undefined; // leaving the loop cancels the stream
    text += decoder.decode(chunk, { stream: true });
  }
  return { text: text + decoder.decode(), bytes };
}

function refuse(status: 400 | 413 | 415, detail: string): Body {
  return { ok: false, refusal: problem(status, detail, status === 400 ? atWhole(detail) : {}) };
}

function atWhole(detail: string): ProblemExtra {
  return { errors: [{ pointer: "", detail }] };
}

/**
 * Compresses answers for clients that take gzip: pages, lists and assets, which shrink to a sixth.
 *
 * @module
 */

/** Shorter answers fit one packet as they are, bytes. */
const LEAST_BYTES = 1_400;

const COMPRESSIBLE = /^(?:text\/(?!event-stream)|application\/(?:problem\+)?json|image\/svg)/;

/**
 * An answer as a client takes it. Event streams and short answers stay as they are: a stream sends a
 * line at a time.
 */
export async function compressed<Answer extends Response | undefined>(
  request: Request,
  answer: Answer | Promise<Answer>,
): Promise<Answer | Response> {
  const response = await answer;
  if (response === undefined) return response; // of a middleware: what follows it answers
  const type = response.headers.get("content-type") ?? "";
  if (response.body === null || !COMPRESSIBLE.test(type)) return response;
  if (response.headers.has("content-encoding")) return response;
  response.headers.append("vary", "accept-encoding");
  if (!takesGzip(request.headers.get("accept-encoding"))) return response;
  const { status, headers } = response;
  const bytes = await response.bytes();
  if (bytes.length < LEAST_BYTES) return new Response(bytes, { status, headers });
  const packed = new Blob([bytes]).stream().pipeThrough(new CompressionStream("gzip"));
  headers.set("content-encoding", "gzip");
  headers.delete("content-length");
  return new Response(await new Response(packed).bytes(), { status, headers });
}

/** True if gzip is named, or everything is, and not with `q=0`. */
function takesGzip(accepted: string | null): boolean {
  const named = new Map(
    (accepted ?? "").split(",").map((part) => {
      const [name = "", weight = ""] = part.split(";");
      return [name.trim().toLowerCase(), !/^\s*q=0(?:\.0*)?\s*$/i.test(weight)];
    }),
  );
  return named.get("gzip") ?? named.get("*") ?? false;
}

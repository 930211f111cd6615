/**
 * Requests whose body does not come. The server of this package closes their connections. In an app
 * of someone else's they would hold its server, as long as their client likes, once that shuts down.
 *
 * @module
 */

import type { Context } from "hono";
import { type ReadOptions, readText } from "../http/body.ts";
import type { Peer } from "./connection.ts";
import { breakingOff, problem } from "../http/problem.ts";
import { UnreadError } from "../http/reads.ts";

/** Answers a request whose body is not there, and sees that its connection is closed. */
export function unread({ message, why }: UnreadError, c: Context): Response {
  const answer = problem(why === "late" ? 408 : 503, message, { headers: { connection: "close" } });
  const peer = peerIn(c);
  if (peer.hangUp === undefined) return breakingOff(answer);
  peer.hangUp();
  return answer;
}

/** Answers once the body is there, where that is needed, though nothing of it is used. */
export function withBody(
  c: Context,
  options: ReadOptions,
  answer: Response | Promise<Response>,
): Response | Promise<Response> {
  const { method } = c.req;
  if (method === "GET" || method === "HEAD" || peerIn(c).hangUp !== undefined) return answer;
  return afterBody(c, options, answer);
}

async function afterBody(
  c: Context,
  { reads, maxBytes }: ReadOptions,
  answer: Response | Promise<Response>,
): Promise<Response> {
  const given = await answer;
  const request = c.req.raw;
  if (request.bodyUsed || request.body === null) return given;
  try {
    const isWhole = await reads.of(readText(request.body, maxBytes)) !== undefined;
    return isWhole ? given : breakingOff(given);
  } catch (thrown) {
    return thrown instanceof UnreadError ? unread(thrown, c) : breakingOff(given);
  }
}

function peerIn(c: Context): Partial<Peer> {
  return c.env ?? {}; // of `Deno.serve`, or of a test
}

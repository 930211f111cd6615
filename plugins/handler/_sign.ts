/**
 * Signatures of requests as Standard Webhooks has them (standardwebhooks.com, version 1): HMAC by SHA-256
 * over id, time and body.
 *
 * @module
 */

import { type Endpoint, endpointOf } from "./_endpoint.ts";
import type { HttpSettings } from "./_http_options.ts";

/** Begins a secret that is written in Base64. Others are taken as they are. */
const BASE64 = "whsec_";

/** True if a secret can be read. */
export function isSecret(secret: string): boolean {
  try {
    return keyOf(secret).length > 0;
  } catch {
    return false;
  }
}

/** Knows the secret for a URL: the first whose pattern allows it, else the one for all. `undefined`: none. */
export function secretsFor(
  sign: HttpSettings["sign"] & object,
): (url: string) => string | undefined {
  const by = Object.entries(sign.secrets ?? {}).map(([pattern, secret]) =>
    [endpointOf(pattern), secret] as const
  ).filter((entry): entry is readonly [Endpoint, string] => entry[0] !== undefined);
  return (url) => {
    const place = new URL(url);
    return by.find(([allows]) => allows(place))?.[1] ?? sign.secret;
  };
}

/** What is signed. */
export interface Signed {
  /** The same for each attempt. */
  readonly id: string;
  /** When it is sent, ms. */
  readonly atMs: number;
  /** The body as it is sent. */
  readonly body: string;
}

/** The headers that prove who sent a request, and when. */
export async function signatureHeaders(
  secret: string,
  { id, atMs, body }: Signed,
): Promise<Readonly<Record<string, string>>> {
  const seconds = String(Math.floor(atMs / 1000));
  const hmac = { name: "HMAC", hash: "SHA-256" };
  const key = await crypto.subtle.importKey("raw", keyOf(secret), hmac, false, ["sign"]);
  const signature = await crypto.subtle.sign("HMAC", key, bytesOf(`${id}.${seconds}.${body}`));
  return {
    "webhook-id": id,
    "webhook-timestamp": seconds,
    "webhook-signature": `v1,${new Uint8Array(signature).toBase64()}`,
  };
}

/** @throws {SyntaxError} If it says that it is Base64, and is not. */
function keyOf(secret: string): Uint8Array<ArrayBuffer> {
  return secret.startsWith(BASE64)
    ? Uint8Array.fromBase64(secret.slice(BASE64.length))
    : bytesOf(secret);
}

function bytesOf(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(text);
}

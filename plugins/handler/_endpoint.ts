/**
 * Which URLs the jobs of a pool may name.
 *
 * @module
 */

/** True for URLs that are allowed: scheme, host and port count, not the path. */
export type Endpoint = (url: URL) => boolean;

/** A scheme, then any host (`*`), those below a name (`*.`), or one; then a port, unless it is the usual one. */
const PATTERN = /^https?:\/\/(?:\*(?::\d+)?|(?:\*\.)?[^\s*/@?#\\]+)$/;

/** Takes the place of the `*`. */
const ANY = "any";

/**
 * Reads a pattern such as `https://hooks.example.com`, `https://*.example.com`, `https://*:8443`.
 *
 * @returns `undefined` if it is none.
 */
export function endpointOf(pattern: string): Endpoint | undefined {
  const example = PATTERN.test(pattern) ? URL.parse(pattern.replace("*", ANY)) : null;
  if (example === null) return undefined;
  const { protocol, hostname, port } = example;
  const suffix = pattern.includes("*") ? hostname.slice(ANY.length) : undefined; // empty: any host
  return (url) =>
    url.protocol === protocol && url.port === port &&
    (suffix === undefined ? url.hostname === hostname : url.hostname.endsWith(suffix));
}

/**
 * Which routes need no token.
 *
 * @module
 */

/** Routes that answer the caller. The guard is before every other one. */
export const OPEN_ROUTES = [
  "GET /healthz",
  "GET /readyz",
  "GET /assets/:name",
  "GET /login",
  "POST /login",
  "POST /logout",
] as const;

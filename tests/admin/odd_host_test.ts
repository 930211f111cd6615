import assert from "node:assert/strict";
import { serveAdmin } from "../../src/admin/mod.ts";
import { silentLogger } from "../../src/runtime/log.ts";
import { running } from "./_app.ts";
import { connect } from "./_clients.ts";

const TOKEN = "admin-token-0123456789";

const HOSTS = [
  "a b",
  "[",
  "%",
  "",
  "a/b",
  "//evil.example",
  "x".repeat(10_240),
  "127.0.0.1:x",
  "\u00fc",
];

const PATHS = [
  "/",
  "/?sort=ready",
  "/jobs",
  "/dead",
  "/pools/mail",
  "/pools/none",
  "/jobs/x",
  "/config",
]
  .concat([
    "/api/pools",
    "/api/config",
    "/api/none",
    "/metrics",
    "/openapi.json",
    "/docs",
    "/login",
  ])
  .concat(["/healthz", "/readyz", "/nowhere"]);

// Case B8: what Deno makes of such a request has no URL that can be parsed.
for (const adminToken of [undefined, TOKEN]) {
  Deno.test(`No route fails at an odd Host ${adminToken === undefined ? "without" : "with"} a token`, async () => {
    await using system = await running();
    const errors: unknown[] = [];
    const log = { ...silentLogger(), error: (...line: unknown[]) => void errors.push(line) };
    const server = await serveAdmin(system.sluice, {
      hostname: "127.0.0.1",
      port: 0,
      adminToken,
      viewerToken: undefined,
      allowedHosts: [],
    }, { log });
    const port = Number(new URL(server.url).port);

    for (const host of HOSTS) {
      for (
        const [path, headers] of PATHS.flatMap((path) => [
          [path, ["accept: text/html"]] as const,
          [path, ["accept: text/html", `authorization: Bearer ${TOKEN}`]] as const,
          [path, ["origin: http://[", "sec-fetch-site: cross-site"]] as const,
        ])
      ) {
        const lines = [`GET ${path} HTTP/1.1`, `host: ${host}`, "connection: close", ...headers];
        using client = await connect(port, `${lines.join("\r\n")}\r\n\r\n`);
        const answer = await client.closed();
        assert.doesNotMatch(
          answer,
          /^HTTP\/1\.1 500|\bat file:/,
          `${path} of ${host.slice(0, 20)}`,
        );
      }
    }
    await server.stop();

    assert.deepEqual(errors, []);
  });
}

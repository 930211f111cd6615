import assert from "node:assert/strict";
import { request } from "node:http";
import { compressed } from "../../../src/admin/http/compressed.ts";
import { serveAdmin } from "../../../src/admin/server/serve.ts";
import { running } from "../_app.ts";

const LONG = "waits ".repeat(1000);

/** How an answer comes to a client with this header. */
async function answered(
  accept: string | undefined,
  body: string,
  headers: Record<string, string> = { "content-type": "text/html; charset=utf-8" },
): Promise<Response> {
  const asked = new Request(
    "http://a/",
    accept === undefined ? {} : {
      headers: { "accept-encoding": accept },
    },
  );
  return await compressed(asked, new Response(body, { status: 203, headers }));
}

async function unpacked(response: Response): Promise<string> {
  return await new Response(response.body!.pipeThrough(new DecompressionStream("gzip"))).text();
}

Deno.test("an answer is compressed for those who take gzip", async () => {
  const taken = ["gzip", "br, gzip", "GZIP;q=0.5", "*", "deflate, *;q=0.1"];
  for (const accept of taken) {
    const answer = await answered(accept, LONG);
    assert.equal(answer.headers.get("content-encoding"), "gzip", accept);
    assert.equal(answer.headers.get("vary"), "accept-encoding");
    assert.equal(answer.status, 203);
    assert.equal(await unpacked(answer), LONG);
  }
});

Deno.test("an answer stays as it is for others, and where that helps nobody", async () => {
  const html = { "content-type": "text/html" };
  const cases: readonly (readonly [string | undefined, string, Record<string, string>])[] = [
    [undefined, LONG, html],
    ["br", LONG, html],
    ["gzip;q=0", LONG, html],
    ["gzip; q=0.0, *", LONG, html],
    ["gzip", "short", html],
    ["gzip", "", html],
    ["gzip", LONG, { "content-type": "text/event-stream" }],
    ["gzip", LONG, { "content-type": "image/png" }],
    ["gzip", LONG, { ...html, "content-encoding": "br" }],
  ];
  for (const [accept, body, headers] of cases) {
    const answer = await answered(accept, body, headers);
    assert.equal(answer.headers.get("content-encoding"), headers["content-encoding"] ?? null);
    assert.equal(await answer.text(), body);
  }
});

Deno.test("pages, lists and assets come compressed over a connection, event streams do not", async () => {
  await using system = await running();
  const server = await serveAdmin(system.sluice, {
    hostname: "127.0.0.1",
    port: 0,
    adminToken: undefined,
    viewerToken: undefined,
    allowedHosts: [],
  });
  const encodingOf = (path: string): Promise<string | undefined> => {
    const { promise, resolve, reject } = Promise.withResolvers<string | undefined>();
    const asked = request(new URL(path, server.url), { headers: { "accept-encoding": "gzip" } });
    asked.on("response", (response) => {
      resolve(response.headers["content-encoding"]);
      response.destroy();
    }).on("error", reject).end();
    return promise;
  };

  const encodings = [];
  for (const path of ["/pools/mail", "/assets/pool_charts.js", "/openapi.json", "/api/events"]) {
    encodings.push(await encodingOf(path));
  }

  await server.stop();
  assert.deepEqual(encodings, ["gzip", "gzip", "gzip", undefined]);
});

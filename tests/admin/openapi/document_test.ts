import assert from "node:assert/strict";
import fc from "fast-check";
import { Validator } from "@seriousme/openapi-schema-validator";
import * as v from "valibot";
import { Hono } from "hono";
import { type AnswerName, answerShapes } from "../../../src/admin/openapi/answers.ts";
import { openApi } from "../../../src/admin/openapi/document.ts";
import { endpoints } from "../../../src/admin/openapi/endpoints.ts";
import { jobShape } from "../../../src/admin/api/shape.ts";
import { LONGEST_DELAY_MS } from "../../../src/contract/job.ts";
import { isSubmitted } from "../../../src/admin/api/submitted.ts";
import { type Running, running } from "../_app.ts";

const ADMIN = "admin-token-0123456789";

/** Routes that are pages or files. */
const PAGES = [
  "/",
  "/pools/:pool",
  "/jobs",
  "/jobs/:id",
  "/dead",
  "/config",
  "/login",
  "/assets/:name",
  "/docs",
  "/openapi.json",
];

Deno.test("openApi() is a document that another's parser takes for OpenAPI 3.1", async () => {
  const validator = new Validator();

  const { valid, errors } = await validator.validate({ ...openApi("") });

  assert.deepEqual(errors, undefined);
  assert.deepEqual([valid, validator.version], [true, "3.1"]);
  assert.ok(validator.resolveRefs() !== undefined); // throws where a $ref leads nowhere
});

Deno.test("openApi() refers to no shape that is not there", () => {
  const document = openApi("");

  const names = Object.keys(document.components.schemas);
  const wanted = JSON.stringify(document).match(/(?<=#\/components\/schemas\/)\w+/g) ?? [];

  assert.deepEqual(wanted.filter((name) => !names.includes(name)), []);
  assert.doesNotMatch(JSON.stringify(document), /\$defs/);
});

Deno.test("openApi() gives each route an id of its own", () => {
  const ids = Object.values(openApi("").paths).flatMap((path) =>
    Object.values(path).map((operation) => "operationId" in operation && operation.operationId)
  );

  assert.equal(new Set(ids).size, ids.length);
  assert.ok(ids.includes("postApiPoolsPoolJobs"));
});

Deno.test("openApi() describes each route that there is, and no other", async () => {
  await using system = await running({ adminToken: ADMIN });

  const there = system.app.routes
    .filter(({ method, path }) => method !== "ALL" && !(method === "GET" && PAGES.includes(path)))
    .map(({ method, path }) => `${method} ${path}`);
  const described = endpoints.map(({ method, path }) => `${method.toUpperCase()} ${path}`);

  assert.deepEqual([...new Set(there)].sort(), [...described].sort());
});

Deno.test("GET /openapi.json says where the app is mounted", async () => {
  await using system = await running();
  const outer = new Hono().route("/ops/queue", system.app);

  const root = await (await system.app.request("/openapi.json")).json();
  const mounted = await (await outer.request("/ops/queue/openapi.json")).json();

  assert.deepEqual(root.servers, [{ url: "/" }]);
  assert.deepEqual(mounted.servers, [{ url: "/ops/queue" }]);
});

Deno.test("Answers have the shapes that the document gives them, field by field", async () => {
  await using system = await running({ adminToken: ADMIN });
  const job = { lane: "urgent", payload: { fail: "no" }, key: "k", dedupeKey: "d" };
  const { id } = await answered(system, "POST /api/pools/mail/jobs", "Accepted", job);
  await system.clock.advance(200);
  await answered(system, "POST /api/pools/mail/jobs", "BulkAccepted", [job, { lane: "none" }]);
  await system.clock.advance(200);
  const operation = { retry: true, lane: "urgent", match: "x" };
  await answered(system, "PUT /api/pools/mail/override", "Override", {
    max: 2,
    expiresInMs: 9_999,
  });
  const started = await answered(
    system,
    "POST /api/pools/mail/operations",
    "Operation",
    operation,
  );

  await answered(system, "GET /api/pools", "Pools");
  await answered(system, "GET /api/pools/mail", "Pool");
  await answered(system, "GET /api/pools/mail/decisions", "Decisions");
  await answered(system, "GET /api/pools/mail/history", "History");
  await answered(system, "GET /api/pools/mail/jobs?limit=1", "JobPage");
  await answered(system, `GET /api/jobs/${id}`, "Job");
  await answered(system, `GET /api/jobs/${id}/waiting`, "WhyItWaits");
  const waits = { lane: "batch", payload: 1, delayMs: 9_999 };
  const { id: later } = await answered(system, "POST /api/pools/mail/jobs", "Accepted", waits);
  await answered(system, `GET /api/jobs/${later}/waiting`, "WhyItWaits");
  await answered(system, `POST /api/jobs/${id}/retry`, "Changed");
  await answered(system, `DELETE /api/operations/${started.id}`, "Operation");
  await answered(system, "GET /api/operations", "Operations");
  await answered(system, "POST /api/pools/mail/pause", "Paused", { lane: "batch" });
  await answered(system, "DELETE /api/pools/mail/override", "Override");
  await answered(system, "GET /api/config", "Config");
  await answered(system, "GET /api/plugins", "Plugins");
  await answered(system, "GET /healthz", "Health");
  await answered(system, "GET /readyz", "Readiness");
  await answered(system, "GET /api/pools/none", "Problem");
  await answered(system, "POST /api/pools/mail/jobs", "Problem", { lane: "none" });
  await answered(system, "POST /login", "Login", { token: ADMIN });
  await answered(system, "POST /logout", "Logout");
  await answered(system, "POST /api/pools/mail/drain", "Stopped", { deadlineMs: 1 });
});

Deno.test("isSubmitted() takes what the shape of a job takes, as far as lane and type exist", () => {
  const takes = { lanes: new Set(["urgent", "batch"]), types: new Set(["", "send"]) };
  const key = fc.oneof(
    fc.string({ maxLength: 3 }),
    fc.constantFrom("x".repeat(1_024), "x".repeat(1_025)),
    fc.constant(5),
  );
  const number = fc.oneof(
    fc.integer({ min: -2, max: 2 }),
    fc.integer({ min: LONGEST_DELAY_MS - 1, max: LONGEST_DELAY_MS + 1 }),
    fc.double(),
    fc.constant("1"),
  );
  const job = fc.record({
    lane: fc.constantFrom<unknown>("urgent", "batch", "none", "", 1, null),
    type: fc.constantFrom<unknown>("", "send", "none", 1),
    payload: fc.jsonValue(),
    key,
    dedupeKey: key,
    delayMs: number,
    ttlMs: number,
    other: fc.constant(1),
  }, { requiredKeys: [] });

  fc.assert(
    fc.property(fc.oneof(job, fc.jsonValue()), (value) => {
      const parsed = v.safeParse(jobShape, value);
      const isList = Array.isArray(value); // for valibot a list is an object
      const known = parsed.success && !isList && takes.lanes.has(parsed.output.lane) &&
        takes.types.has(parsed.output.type ?? "");

      assert.equal(isSubmitted(value, takes, []), known);
    }),
    { numRuns: 2_000 },
  );
});

Deno.test("GET /docs shows every route, with nothing inline and nothing from elsewhere", async () => {
  await using system = await running();

  const response = await system.app.request("/docs");
  const text = await response.text();

  assert.equal(response.status, 200);
  for (const { method, path } of endpoints) {
    assert.ok(text.includes(`<code>${method.toUpperCase()} ${path}</code>`), path);
  }
  assert.doesNotMatch(
    text,
    /<script(?! [^>]*src="\/assets\/)| style="| on\w+="|https?:\/\/(?!json-schema)/,
  );
  const links = [...text.matchAll(/href="#([\w-]+)"/g)].map(([, id = ""]) => id);
  assert.deepEqual(links.filter((id) => !text.includes(`id="${id}"`)), []);
  assert.match(response.headers.get("content-security-policy") ?? "", /default-src 'none'/);
});

/** Sends a request and checks the answer against its shape. */
async function answered(
  system: Running,
  route: string,
  name: AnswerName,
  body?: unknown,
): Promise<{ readonly id: string }> {
  const [method = "", path = ""] = route.split(" ");
  const response = await system.app.request(path, {
    method,
    headers: { "content-type": "application/json", authorization: `Bearer ${ADMIN}` },
    body: body === undefined ? null : JSON.stringify(body),
  });
  const value = await response.json();
  const { issues } = v.safeParse(answerShapes[name], value);
  const faults = issues?.map((issue) => `${v.getDotPath(issue)}: ${issue.message}`);
  assert.deepEqual(faults, undefined, `${route}: mend ${name} in src/admin/openapi/answers.ts`);
  return value;
}

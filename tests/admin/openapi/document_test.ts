import assert from "node:assert/strict";
import fc from "fast-check";
import { Validator } from "@seriousme/openapi-schema-validator";
import * as v from "valibot";
import { Hono } from "hono";
import { openApi, routeDocs } from "../../../src/admin/openapi/document.ts";
import { LONGEST_DELAY_MS } from "../../../src/contract/job.ts";
import { isSubmitted } from "../../../src/admin/api/submitted.ts";
import { Routes } from "../../../src/config/routes.ts";
import { jobShape } from "../../../tools/_job_shape.ts";
import { DOCUMENT, documentText } from "../../../tools/openapi.ts";
import { type Running, running } from "../_app.ts";
import { misfitsOf } from "./_schema.ts";

const ADMIN = "admin-token-0123456789";

/** Endpoints that gave `answered` what they are for. */
const ASKED = new Set<string>();

/** Routes that are pages or files. */
const PAGES = [
  "/",
  "/pools/:pool",
  "/jobs",
  "/jobs/:id",
  "/dead",
  "/jobs/:id/again",
  "/pools/:pool/enqueue",
  "/schedules",
  "/audit",
  "/config",
  "/login",
  "/assets/:name",
  "/docs",
  "/openapi.json",
];

/** A job whose receiver refuses it, so that the circuit breaker of its key opens. */
const REFUSED = { lane: "only", type: "send", key: "acme", payload: { refuse: 20_000 } };

Deno.test("openApi() is a document that another's parser takes for OpenAPI 3.1", async () => {
  const validator = new Validator();

  const { valid, errors } = await validator.validate({ ...structuredClone(openApi("")) }); // it puts shapes in place of references

  assert.deepEqual(errors, undefined);
  assert.deepEqual([valid, validator.version], [true, "3.1"]);
  assert.ok(validator.resolveRefs() !== undefined); // throws where a $ref leads nowhere
});

Deno.test("openapi.json is current: `deno task openapi` writes it", async () => {
  assert.equal(await Deno.readTextFile(DOCUMENT), await documentText());
});

Deno.test("openApi() says of every endpoint, parameter and field what it is", () => {
  const { components: { schemas } } = openApi("");
  const silent = [
    ...routeDocs().flatMap(({ method, path, summary, parameters = [] }) => [
      ...(/^[A-Z].*[^.]$/.test(summary) ? [] : [`${method} ${path}`]),
      ...parameters.filter((parameter) => parameter.in !== "path" && !parameter.description)
        .map(({ name }) => `${method} ${path} ${name}`),
    ]),
    ...Object.entries(schemas).flatMap(([name, schema]) =>
      Object.entries(Object(schema).properties ?? {})
        .filter(([, field]) => !Object(field).description && Object(field).$ref === undefined)
        .map(([field]) => `${name}.${field}`)
    ),
  ];

  assert.deepEqual(silent, []);
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
  const described = routeDocs().map(({ method, path }) => `${method} ${path}`);

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
  const { id } = await answered(system, "POST /api/pools/mail/jobs", job);
  await system.clock.advance(200);
  await answered(system, "POST /api/pools/mail/jobs", [job, { lane: "none" }]);
  await system.clock.advance(200);
  const operation = { retry: true, lane: "urgent", match: "x" };
  await answered(system, "PUT /api/pools/mail/override", {
    max: 2,
    expiresInMs: 9_999,
  });
  const started = await answered(
    system,
    "POST /api/pools/mail/operations",
    operation,
  );

  await answered(system, "GET /api/pools");
  await answered(system, "GET /api/pools/mail");
  await answered(system, "GET /api/pools/mail/decisions");
  await answered(system, "GET /api/pools/mail/history");
  await answered(system, "GET /api/pools/mail/jobs?limit=1");
  await answered(system, "GET /api/jobs?limit=1");
  await answered(system, "GET /api/failures?pool=mail");
  await answered(system, "GET /api/pools/mail/jobs/count?match=a");
  await answered(system, `GET /api/jobs/${id}`);
  await answered(system, `GET /api/jobs/${id}/waiting`);
  const waits = { lane: "batch", payload: 1, delayMs: 9_999 };
  const { id: later } = await answered(system, "POST /api/pools/mail/jobs", waits);
  await answered(system, `GET /api/jobs/${later}/waiting`);
  await answered(system, `POST /api/jobs/${later}/cancel`);
  await answered(system, `DELETE /api/jobs/${later}`);
  await answered(system, `POST /api/jobs/${id}/again`, { key: null });
  await answered(system, `POST /api/jobs/${id}/retry`);
  await answered(system, `GET /api/operations/${started.id}`);
  await answered(system, `DELETE /api/operations/${started.id}`);
  await answered(system, "GET /api/operations");
  await answered(system, "POST /api/pools/mail/pause", { lane: "batch" });
  await answered(system, "POST /api/pools/mail/resume", { lane: "batch" });
  await answered(system, "POST /api/pools/typed/jobs", REFUSED);
  await system.clock.advance(10);
  await answered(system, "GET /api/pools/typed");
  await answered(system, "POST /api/pools/typed/close-breaker", { key: "acme" });
  await answered(system, "DELETE /api/pools/mail/override");
  const changed = { handler: "sleep", size: { min: 1, max: 2 }, lanes: [{ name: "urgent" }] };
  await answered(system, "POST /api/reload?dryRun=1", { config: { pools: { mail: changed } } });
  await answered(system, "GET /api/schedules");
  const schedule = system.sluice.pool("typed").snapshot().schedules[0]?.id;
  await answered(system, `POST /api/pools/typed/schedules/${schedule}/pause`);
  await answered(system, `POST /api/pools/typed/schedules/${schedule}/resume`);
  await answered(system, `POST /api/pools/typed/schedules/${schedule}/run`);
  await system.clock.advance(100_000);
  await answered(system, "POST /api/pools/mail/jobs", { lane: "urgent", payload: 1 });
  await system.clock.advance(3000);
  await answered(system, "GET /api/pools/mail/load");
  await answered(system, "POST /api/pools/mail/whatif", { changes: { "size.max": 2 } });
  await answered(system, "GET /api/schedules?pool=typed");
  await answered(system, "GET /api/events/past");
  await answered(system, "GET /api/config");
  await answered(system, "GET /api/plugins");
  await answered(system, "GET /healthz");
  await answered(system, "GET /readyz");
  await answered(system, "GET /api/pools/none");
  await answered(system, "POST /api/pools/mail/jobs", { lane: "none" });
  await answered(system, "POST /login", { token: ADMIN });
  await answered(system, "POST /logout");
  for (let second = 0; second < 5; second++) { // a load of less than two seconds is not known
    await system.sluice.enqueue("mail", { lane: "urgent", payload: 1 });
    await system.clock.advance(1_000);
  }
  await answered(system, "GET /api/pools/mail/load");
  await answered(system, "POST /api/pools/mail/drain", { deadlineMs: 1 });

  // What a new endpoint answers is looked at too.
  const routes = routeDocs().filter(({ responses }) =>
    Object.values(responses).some(({ content }) => content?.["application/json"] !== undefined)
  ).map(({ method, path }) => `${method} ${path}`);
  assert.deepEqual(routes.filter((route) => !ASKED.has(route)), []);
});

Deno.test("isSubmitted() takes what the shape of a job takes, as far as lane and type exist", () => {
  const takes = {
    lanes: new Set(["urgent", "batch"]),
    types: new Set(["", "send"]),
    routes: new Routes([]),
  };
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
    lane: fc.constantFrom<unknown>("urgent", "batch", "none", "", 1, null, undefined),
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
      const known = parsed.success && !isList && takes.lanes.has(parsed.output.lane ?? "") &&
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
  for (const { method, path } of routeDocs()) {
    assert.ok(text.includes(`<code>${method} ${path}</code>`), path);
  }
  assert.doesNotMatch(
    text,
    /<script(?! [^>]*src="\/assets\/)| style="| on\w+="|https?:\/\/(?!json-schema)/,
  );
  const links = [...text.matchAll(/href="#([\w-]+)"/g)].map(([, id = ""]) => id);
  assert.deepEqual(links.filter((id) => !text.includes(`id="${id}"`)), []);
  assert.match(response.headers.get("content-security-policy") ?? "", /default-src 'none'/);
});

/** Sends a request and checks the answer against the shape that its endpoint has for it. */
async function answered(
  system: Running,
  route: string,
  body?: unknown,
): Promise<{ readonly id: string }> {
  const [method = "", path = ""] = route.split(" ");
  const response = await system.app.request(path, {
    method,
    headers: { "content-type": "application/json", authorization: `Bearer ${ADMIN}` },
    body: body === undefined ? null : JSON.stringify(body),
  });
  const value = await response.json();
  const { pathname } = new URL(path, "http://localhost");
  const operation = routeDocs().find((doc) =>
    doc.method === method &&
    new RegExp(`^${doc.path.replaceAll(/:\w+/g, "[^/]+")}$`).test(pathname)
  );
  const { content, $ref } = operation?.responses[response.status] ?? {};
  const schema = $ref === undefined
    ? content?.["application/json"]?.schema
    : { $ref: "#/components/schemas/Problem" };
  if (response.ok) ASKED.add(`${method} ${operation?.path}`);
  assert.ok(schema !== undefined, `${route} answers ${response.status}, which is not told`);
  assert.deepEqual(misfitsOf(value, schema), [], route);
  return value;
}

import assert from "node:assert/strict";

const SYSTEM = new URL("./_short.ts", import.meta.url).pathname;

/** What an OTLP receiver gets, by path. */
interface Got {
  readonly path: string;
  readonly body: string;
}

/** A receiver on loopback, and a system that exports to it and ends. */
async function exported(env: Readonly<Record<string, string>> = {}): Promise<readonly Got[]> {
  const got: Got[] = [];
  await using server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => {} },
    async (request) => {
      got.push({ path: new URL(request.url).pathname, body: await request.text() });
      return Response.json({});
    },
  );
  const { code, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "--no-prompt", "--no-check", SYSTEM],
    env: {
      OTEL_DENO: "true",
      OTEL_EXPORTER_OTLP_PROTOCOL: "http/json",
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${server.addr.port}`,
      ...env,
    },
    stdout: "piped",
    stderr: "piped",
    signal: AbortSignal.timeout(30_000), // only what is broken takes so long
  }).output();
  assert.equal(code, 0, new TextDecoder().decode(stderr));
  return got;
}

/** All objects of a name in what was received, however deep. */
function named(value: unknown, name: string): Record<string, unknown>[] {
  if (typeof value !== "object" || value === null) return [];
  const own = "name" in value && value.name === name ? [value as Record<string, unknown>] : [];
  return [...own, ...Object.values(value).flatMap((item) => named(item, name))];
}

const bodies = (got: readonly Got[], path: string): unknown[] =>
  got.filter((one) => one.path === path).map(({ body }) => JSON.parse(body));

for (
  const [life, env] of [["shorter than", {}], ["longer than", {
    OTEL_METRIC_EXPORT_INTERVAL: "20",
  }]] as const
) {
  Deno.test(`A process whose life is ${life} the export interval exports its last figures`, async () => {
    const got = bodies(await exported(env), "/v1/metrics");

    const done = JSON.stringify(named(got, "sluice.jobs.done").at(-1));
    assert.match(done, /"asDouble":2|"asInt":"?2/);
    assert.match(done, /"isMonotonic":true/);
    assert.match(done, /urgent/);
    const dead = named(got, "sluice.jobs.dead").at(-1);
    assert.match(JSON.stringify(dead), /fatal/);
    assert.ok(named(got, "sluice.pool.workers").length > 0);
  });
}

Deno.test("A span tells a job that is tried again from one that is dead, and errors are bounded", async () => {
  const got = await exported();

  const spans = named(bodies(got, "/v1/traces"), "process mail");
  const outcomes = spans.map((span) =>
    /"sluice\.job\.outcome","value":\{"stringValue":"(\w+)"/.exec(JSON.stringify(span))?.[1]
  );
  assert.deepEqual(outcomes.toSorted(), [
    ...["dead", "dead", "dead", "done", "done", "retried", "retried"],
  ]);
  const longest = Math.max(...spans.map((span) => JSON.stringify(span).length));
  assert.ok(longest < 12_000, `a span of ${longest} characters`);
  assert.match(JSON.stringify(spans), /no such address/);
});

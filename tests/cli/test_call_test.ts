import assert from "node:assert/strict";
import { join } from "node:path";
import { type Ran, sluice, temporaryFolder } from "./_io.ts";

/** Runs `test-call` on a pool with these handlers, and says what came of it. */
async function called(
  handlers: Readonly<Record<string, unknown>>,
  args: readonly string[],
  more: Readonly<Record<string, unknown>> = {},
): Promise<Ran> {
  await using folder = await temporaryFolder();
  const file = join(folder.path, "pools.json");
  const { "": handler, ...named } = handlers;
  const pool = {
    ...(handler === undefined ? { handlers: named } : { handler }),
    size: { min: 0, max: 1 },
    lanes: [{ name: "urgent" }, { name: "bulk" }, { name: "brief", timeoutMs: 20 }],
    ...more,
  };
  await Deno.writeTextFile(file, JSON.stringify({ pools: { mail: pool } }));
  return await sluice(["test-call", file, ...args]);
}

/** Serves `answer` on loopback meanwhile. */
async function withAnswer(
  answer: (request: Request) => Response | Promise<Response>,
  body: (url: string) => Promise<void>,
): Promise<void> {
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, answer);
  try {
    await body(`http://127.0.0.1:${server.addr.port}/hook`);
  } finally {
    await server.shutdown();
  }
}

const http = (url: string, more: object = {}): Readonly<Record<string, unknown>> => ({
  "": { use: "http", with: { url, ...more } },
});

Deno.test("test-call calls once, and prints the result that would be kept", async () => {
  const seen: unknown[] = [];
  const receive = async (request: Request): Promise<Response> => {
    seen.push(await request.json(), request.headers.get("sluice-lane"));
    return Response.json({ id: 7 });
  };
  await withAnswer(receive, async (url) => {
    const args = ["mail", "--payload", '{"to":"ada"}', "--lane", "bulk"];
    const { code, out, err } = await called(http(url, { keep: "body" }), args);

    assert.match(out, /^Done in [\d.]+ ms: \{"status":200,"body":\{"id":7\}\}\n$/);
    assert.deepEqual([code, err], [0, ""]);
    const { out: text } = await called(http(url), ["mail", "--json"]);
    const { end, result } = JSON.parse(text);
    assert.deepEqual([end, result], ["done", { status: 200 }]);
  });
  assert.deepEqual(seen, [{ to: "ada" }, "bulk", null, "urgent"]);
});

Deno.test("test-call says what would become of a job that is not done, and exits 1", async () => {
  const cases = [
    [
      429,
      /^Deferred by 7 s, as the receiver says "not now": http\S+ answered 429: s\n$/,
      "deferred",
    ],
    [500, /^Deferred by 7 s: http\S+ answered 500: s\n$/, "deferred"],
    [502, /^Failed in [\d.]+ ms: http\S+ answered 502: s\n$/, "tried again"],
    [404, /^Fatal in [\d.]+ ms: http\S+ answered 404: s\n$/, "dead at once"],
  ] as const;
  for (const [status, said, would] of cases) {
    const headers = { "retry-after": status === 429 || status === 500 ? "7" : "x" };
    await withAnswer(() => new Response("s", { status, headers }), async (url) => {
      const { code, out, err } = await called(http(url), ["mail"]);

      assert.match(out, said);
      assert.ok(err.startsWith(`The job would be ${would}`), err);
      assert.equal(code, 1);
    });
  }
});

Deno.test("test-call shows no secret that the receiver repeats, and no field that is hidden", async () => {
  const receive = async (request: Request): Promise<Response> =>
    new Response(`${request.headers.get("authorization")} ${await request.text()}`, {
      status: 400,
    });
  await withAnswer(receive, async (url) => {
    const options = http(url, { headers: { authorization: "Bearer token-0123" } });
    const ran = await called(options, ["mail", "--payload", '{"password":"hunter22"}', "--json"]);

    assert.doesNotMatch(ran.out + ran.err, /0123|hunter22/);
    assert.match(ran.out, /"error": "http\S+ answered 400: \[redacted\]/);
  });
});

Deno.test("test-call keeps the time limits of lane, type and pool", async () => {
  const handlers = { nap: { use: "sleep", with: { ms: 60_000 } }, other: "sleep" };
  const limit = { timeoutMsByType: { nap: 10 }, timeoutMs: 30 };
  const nap = await called(handlers, ["mail", "--type", "nap", "--lane", "brief"], limit);
  assert.match(nap.out, /^Failed in \d+ ms: The job ran longer than timeoutMs \(10\)\n$/);

  const payload = ["--payload", '{"ms":60000}', "--type", "other"];
  const brief = await called(handlers, ["mail", "--lane", "brief", ...payload], limit);
  assert.match(brief.out, /timeoutMs \(20\)/);
  const urgent = await called(handlers, ["mail", ...payload], limit);
  assert.match(urgent.out, /timeoutMs \(30\)/);
});

Deno.test("test-call exits 2 for what the config has not, or does not take", async () => {
  const two = { nap: "sleep", other: "sleep" };
  const url = { from: "payload.url", allow: ["https://*.example.com"] };
  const cases:
    readonly (readonly [Readonly<Record<string, unknown>>, readonly string[], RegExp])[] = [
      [two, ["mial"], /No pool is named "mial": did you mean "mail"\?/],
      [two, ["mail"], /Expected --type: expected one of "nap", "other"/],
      [two, ["mail", "--type", "nup"], /No type is named "nup"/],
      [{ "": "sleep" }, ["mail", "--lane", "urgnt"], /No lane is named "urgnt"/],
      [{ "": "sleep" }, ["mail", "--payload", "{"], /Expected JSON from --payload/],
      [
        { "": "sleep" },
        ["mail", "--payload", '{"ms":-1}'],
        /The payload does not fit its handler: ms/,
      ],
      [
        { "": { use: "http", with: { url } } },
        ["mail", "--payload", '{"url":"https://x"}'],
        /payload\.url/,
      ],
      [{ "": { use: "http" } }, ["mail"], /"http" needs the option "url"/],
    ];
  for (const [handlers, args, said] of cases) {
    const { code, out, err } = await called(handlers, args);

    assert.match(err, said);
    assert.deepEqual([code, out], [2, ""]);
  }
});

Deno.test("test-call ends at a signal", async () => {
  let signal: (() => void) | undefined;
  await using folder = await temporaryFolder();
  const file = join(folder.path, "pools.json");
  const pool = { handler: "sleep", size: { min: 0, max: 1 }, lanes: [{ name: "all" }] };
  await Deno.writeTextFile(file, JSON.stringify({ pools: { mail: pool } }));
  const running = sluice(["test-call", file, "mail", "--payload", '{"ms":60000}'], {
    onSignal: (handler) => {
      signal = handler;
      queueMicrotask(handler);
      return () => {};
    },
  });

  const { code, err } = await running;
  assert.ok(signal !== undefined);
  assert.deepEqual([code, err], [130, "Interrupted\n"]);
});

/**
 * The curl lines of docs/api.md, word for word, against the example that they are written for.
 *
 * @module
 */

import assert from "node:assert/strict";
import { start } from "../mod.ts";
import { MOST_STREAMS } from "../src/admin/api/event_feed.ts";
import { MOST_LOOKED_AT } from "../src/admin/api/job_list.ts";
import { BURST, REFILL_MS } from "../src/admin/access/login_limit.ts";
import { routeDocs } from "../src/admin/openapi/document.ts";
import { ACTIONS, MAX_RUNNING } from "../src/admin/api/operations.ts";
import { startReceiver } from "../examples/receiver.ts";
import { blocksIn, rowsIn, section } from "./_readme.ts";
import { ROOT } from "./_source.ts";

/** The example's config, on free ports. */
async function example() {
  const receivers = [
    startReceiver({ port: 0, ratePerSec: 1000, serviceMs: 1 }),
    startReceiver({ port: 0, ratePerSec: 1000, serviceMs: 1 }),
  ];
  const folder = await Deno.makeTempDir();
  let text = await Deno.readTextFile(new URL("pools.example.json", ROOT));
  text = text.replace('"port": 8787', '"port": 0');
  for (const [index, { url }] of receivers.entries()) {
    text = text.replace(`http://127.0.0.1:878${8 + index}`, url);
  }
  await Deno.writeTextFile(`${folder}/pools.json`, text);
  const sluice = await start(`${folder}/pools.json`);
  return {
    url: sluice.adminUrl!,
    async [Symbol.asyncDispose]() {
      await sluice.stop();
      await Promise.all(receivers.map((receiver) => receiver.stop()));
      await Deno.remove(folder, { recursive: true });
    },
  };
}

const [script] = blocksIn(section("docs/api.md", "API")).filter(({ info }) => info === "sh");

/** False on a machine that has Node and npm, and nothing else. */
async function hasCurl(): Promise<boolean> {
  try {
    return (await new Deno.Command("curl", { args: ["--version"] }).output()).success;
  } catch {
    return false; // there is none
  }
}

const HAS_CURL = await hasCurl();
const DOES_WHAT = "the curl lines of docs/api.md do what they say, each against the example";
Deno.test({ name: DOES_WHAT, ignore: !HAS_CURL }, async () => {
  await using system = await example();
  assert.ok(script !== undefined);
  // Each line fails for an answer that is a fault. The stream is the only one that is left, by its time.
  const text = script.text
    .replace("S=http://127.0.0.1:8787", `S=${system.url}`)
    .replaceAll("curl -s", "curl -fs")
    .replace(/^(curl .* \$S\/api\/events)$/m, "$1 || test $? = 28");

  const { code, stdout, stderr } = await new Deno.Command("sh", { args: ["-exc", text] }).output();

  const out = new TextDecoder().decode(stdout);
  const trace = new TextDecoder().decode(stderr);
  assert.equal(code, 0, `${trace}\n${out}`);
  for (
    const expected of [
      /"outcome":\{"state":"done","result":\{"status":200\}\}/,
      /"state":"dead"/,
      /"reason":"expired"/,
      /"state":"removed"/,
      /"holds":\[\{"code":"delayed"/,
      /"status":"(running|done)"/,
      /^sluice_pool_workers\{/m,
      /"openapi":"3\.1/,
      /event: beat/,
      /"handedBack":\[\]/,
    ]
  ) assert.ok(expected.test(out), `${expected} in\n${trace}\n${out}`);
});

Deno.test("docs/api.md has a curl line for every route of the API", () => {
  const lines = (script?.text ?? "").split("\n").filter((line) => line.includes("curl"));
  const shown = lines.map((line) => {
    const [, path = ""] = /\$S([^ ?"]*)/.exec(line) ?? [];
    const [, method = / -d /.test(line) ? "POST" : "GET"] = / -X ([A-Z]+)/.exec(line) ?? [];
    const [pool, id] = [path.includes("/api/pools/"), /\$(ID|OP)/.test(path)];
    const route = pool ? path.replace(/pools\/[^/]+/, "pools/:pool") : path;
    return `${method} ${id ? route.replace(/\$(ID|OP)/, ":id") : route}`;
  });

  const routes = rowsIn(section("docs/api.md", "API")).flatMap(([cell = ""]) =>
    [...cell.matchAll(/`([A-Z]+ [^`]+)`/g)].map(([, route = ""]) => route)
  ).filter((route) => /\/(api|healthz|readyz|metrics|openapi|docs)/.test(route));

  assert.deepEqual(routes.filter((route) => !shown.includes(route)), []);
});

Deno.test("docs/api.md tells of every query parameter, where it tells of its route", () => {
  const rows = rowsIn(section("docs/api.md", "API"));

  for (const { method, path, parameters = [] } of routeDocs()) {
    const row = rows.find(([cell = ""]) => cell.includes(`\`${method} ${path}\``));
    const query = parameters.filter((parameter) => parameter.in === "query");
    const missing = query.filter(({ name }) => !row?.[1]?.includes(`\`?${name}=`));
    assert.deepEqual(missing, [], `${method} ${path}`);
  }
});

Deno.test("the pages and the OpenAPI document tell the limits that the admin API has", () => {
  const api = section("docs/api.md", "API").replaceAll(/\s+/g, " ");
  const operate = section("docs/operate.md", "Operate").replaceAll(/\s+/g, " ");

  assert.ok(api.includes(`${MOST_STREAMS} event streams (\`maxStreams\` of \`admin\`)`));
  assert.ok(api.includes(`${MAX_RUNNING} bulk operations: 429 beyond`));
  assert.ok(api.includes('`{ "purge": true }` alone cancels every job of the pool that waits'));
  assert.ok(api.includes(`${new Intl.NumberFormat("en").format(MOST_LOOKED_AT)} jobs`));
  const textOf = (route: string) =>
    routeDocs().find(({ method, path }) => `${method} ${path}` === route)?.description ?? "";

  assert.ok(textOf("GET /api/events").includes(`At most ${MOST_STREAMS} streams`));
  assert.ok(textOf("POST /api/pools/:pool/operations").includes(`At most ${MAX_RUNNING} run`));
  assert.ok(
    textOf("POST /login").includes(
      `${BURST} logins may fail at once, and one more each ${REFILL_MS / 1_000} s`,
    ),
  );
  assert.ok(
    operate.includes(
      `${BURST} logins in a browser may fail at once, and one more each ${REFILL_MS / 1_000} s`,
    ),
  );
});

Deno.test("docs/api.md says which states each bulk operation takes", () => {
  const text = section("docs/api.md", "API").replaceAll(/\s+/g, " ");
  const [, bulk = ""] = /\*\*Bulk work\.\*\*(.*?)\*\*/.exec(text) ?? [];

  for (const [action, { states }] of Object.entries(ACTIONS)) {
    const [sentence = ""] = bulk.split(". ").filter((each) => each.includes(`\`${action}\``));
    const missing = states.filter((state) => !sentence.includes(state));
    assert.deepEqual(missing, [], `${action}: ${sentence}`);
  }
});

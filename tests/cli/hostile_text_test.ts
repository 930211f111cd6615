import assert from "node:assert/strict";
import { join } from "node:path";
import { problem } from "../../src/admin/http/problem.ts";
import { sluice, temporaryFolder } from "./_io.ts";
import { served } from "./_served.ts";

/** What a terminal would obey: colors, links, titles, moves, bells, other directions of text. */
const HOSTILE =
  "\x1b[31m\x1b]8;;http://evil.example\x07link\x1b]8;;\x07\x9b2J\x9d0;t\x9c\r\b\x7f\u202e\u2066\u061c\x00";

// deno-lint-ignore no-control-regex -- these are what must not be there
const OBEYED = /[\0-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/;

// deno-lint-ignore no-control-regex -- what the command line itself writes where colors are allowed
const OWN_STYLES = /\x1b\[(?:[12]m([^\x1b]*)\x1b\[22|3[1-3]m([^\x1b]*)\x1b\[39)m/g;

/** A door to a system: each text in its answers, names and words too, ends in what a terminal obeys. */
function hostileDoor(url: string): Deno.HttpServer<Deno.NetAddr> {
  return Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, async (request) => {
    const { pathname, search } = new URL(request.url);
    if (pathname.includes("broken")) return problem(400, HOSTILE);
    const body = request.method === "GET" ? undefined : await request.text();
    const answer = await fetch(`${url}${decodeURI(pathname)}${search}`, {
      method: request.method,
      headers: { "content-type": "application/json" },
      ...(body === undefined ? {} : { body }),
    });
    const { status } = answer;
    const type = answer.headers.get("content-type") ?? "";
    if (type === "text/event-stream") {
      const event = {
        kind: "job-done",
        atMs: 1,
        pool: `mail${HOSTILE}`,
        lane: HOSTILE,
        id: HOSTILE,
      };
      await answer.body?.cancel();
      return new Response(`id: 1\ndata: ${JSON.stringify(event)}\n\nevent: end\ndata: {}\n\n`, {
        headers: { "content-type": type },
      });
    }
    const text = await answer.text();
    if (!type.includes("json")) return new Response(text + HOSTILE, { status });
    const changed = JSON.parse(
      text,
      (_, value) => typeof value === "string" ? value + HOSTILE : value,
    );
    return new Response(JSON.stringify(changed), { status, headers: { "content-type": type } });
  });
}

const VERBS: readonly (readonly string[])[] = [
  ["pools", "ls"],
  ["pools", "describe", "mail"],
  ["pools", "pause", "mail"],
  ["pools", "resume", "mail", "--lane", `urgent${HOSTILE}`],
  ["pools", "close-breaker", "mail", "--key", `acme${HOSTILE}`],
  ["pools", "scale", "mail", "--min", "2", "--for", "1m"],
  ["pools", "broken"],
  ["explain", "mail"],
  ["explain", `broken${HOSTILE}`],
  ["doctor"],
  ["plugins", "--running"],
  ["schedules"],
  ["schedules", "run", "typed", `none${HOSTILE}`],
  ["events", "ls"],
  ["pools", "drain", "typed", "--yes"],
  ["reload", "--dry-run"],
  ["jobs", "ls", "mail"],
  ["jobs", "ls", "mail", "--match", HOSTILE],
  ["jobs", "show", "JOB"],
  ["jobs", "show", `none${HOSTILE}`],
  ["jobs", "retry", "JOB", `broken${HOSTILE}`],
  ["jobs", "cancel", "JOB"],
  ["jobs", "purge", "mail", "--match", HOSTILE, "--yes"],
  ["dlq", "ls", "mail"],
  ["dlq", "retry", "mail", "--all", "--yes"],
  ["dlq", "discard", "mail", "--all"],
  ["enqueue", "mail", "--lane", "urgent", "--payload", JSON.stringify(HOSTILE)],
  ["enqueue", "mail", "--lane", HOSTILE],
  ["top", "--once"],
  ["top"],
  ["record", "mail", "--for", "50ms"],
  [`nonsense${HOSTILE}`],
  ["pools", `nonsense${HOSTILE}`],
  ["doctor", `--none${HOSTILE}`],
];

// Case B4. All verbs that talk to a system, with what no system of ours would say.
for (const color of [false, true]) {
  for (const json of [[], ["--json"]]) {
    Deno.test(`No verb${json.length > 0 ? " with --json" : ""} writes what a terminal obeys, ${color ? "with" : "without"} colors`, async () => {
      await using system = await served();
      await using door = hostileDoor(system.server.url);
      const url = `http://127.0.0.1:${door.addr.port}`;
      const fails = { lane: "urgent", payload: { fail: HOSTILE, name: HOSTILE } };
      const job = await system.system.sluice.enqueue("mail", fails);
      await job.done;

      for (const verb of VERBS) {
        const args = verb.map((word) => word === "JOB" ? job.id : word);
        const { out, err } = await sluice([...args, "--url", url, ...json], {
          color,
          confirm: (question) => {
            assert.doesNotMatch(question, OBEYED);
            return false;
          },
        });
        const own = color ? (out + err).replace(OWN_STYLES, "$1$2") : out + err;
        assert.doesNotMatch(own, OBEYED, JSON.stringify([args, out, err]));
        assert.ok(out + err !== "", args.join(" "));
      }
    });
  }
}

Deno.test("No verb writes what a terminal obeys of a config, a scenario or the name of a file", async () => {
  await using folder = await temporaryFolder();
  const name = HOSTILE.replaceAll("\x00", "").replaceAll("/", "");
  const config = join(folder.path, `${name}.json`);
  const scenario = join(folder.path, `${name}.scenario.json`);
  const faulty = {
    [HOSTILE]: 1,
    pools: { [HOSTILE]: { handler: HOSTILE, lanes: [{ name: HOSTILE }] } },
  };
  const pool = { handler: "sleep", size: { min: 1, max: 1 }, lanes: [{ name: "a" }] };
  await Deno.writeTextFile(config, JSON.stringify({ pools: { p: pool } }));
  await Deno.writeTextFile(join(folder.path, "faulty.json"), JSON.stringify(faulty));
  await Deno.writeTextFile(join(folder.path, "broken.json"), `{ "pools": ${HOSTILE} }`);
  await Deno.writeTextFile(scenario, JSON.stringify({ [HOSTILE]: HOSTILE }));

  for (
    const args of [
      ["check", config],
      ["check", join(folder.path, "faulty.json")],
      ["check", join(folder.path, "broken.json")],
      ["check", join(folder.path, `none${name}`)],
      ["check", config, "--platform", HOSTILE],
      ["check", config, "--alerts"],
      ["run", join(folder.path, "faulty.json")],
      ["simulate", config, scenario],
      ["simulate", join(folder.path, "faulty.json"), scenario],
      ["schema"],
      ["schema", "--out", join(folder.path, `none${name}`, "x")],
      ["init", join(folder.path, name)],
      ["init", join(folder.path, name)],
      ["doctor", "--store", join(folder.path, name)],
      ["completions", HOSTILE],
      ["--help"],
    ]
  ) {
    const { out, err } = await sluice(args);
    assert.doesNotMatch(out + err, OBEYED, JSON.stringify([args, out, err]));
    assert.ok(out + err !== "", args.join(" "));
  }
});

Deno.test("Only one file of the command line writes", async () => {
  const folder = new URL("../../src/cli/", import.meta.url);
  const writers: string[] = [];
  for await (const { name } of Deno.readDir(folder)) {
    const text = await Deno.readTextFile(new URL(name, folder));
    const writes = text.match(
      /\bio\.(?:out|err)\((?!visible\()|\bconsole\.|Deno\.std(?:out|err)\.write/g,
    );
    if (writes !== null) writers.push(name);
  }

  // The bar of `progress.ts` draws over itself, and loggers, of `run.ts` and `test_call.ts`, show what is not theirs.
  assert.deepEqual(writers.toSorted(), ["print.ts", "progress.ts", "run.ts", "test_call.ts"]);
});

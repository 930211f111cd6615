/**
 * Each verb has examples in its help, and each example is run against a system of its own.
 *
 * @module
 */

import assert from "node:assert/strict";
import { join } from "node:path";
import { start } from "../../mod.ts";
import type { ConfigInput } from "../../src/config/input.ts";
import { EXAMPLES } from "../../src/cli/examples.ts";
import { VirtualClock } from "../../src/time/virtual_clock.ts";
import { sluice, temporaryFolder } from "./_io.ts";

const POOL: ConfigInput["pools"][string] = {
  handler: { use: "./handler.ts" },
  size: { min: 1, max: 4 },
  lanes: [{ name: "urgent", targetWaitMs: 1_000, attempts: 1 }, { name: "batch" }],
  schedules: [{ lane: "batch", cron: "@yearly", payload: 1 }],
};

const CONFIG = JSON.stringify({ admin: { port: 0 }, pools: { mail: POOL } });

const ARRIVALS = { kind: "poisson", phases: [{ untilMs: 2_000, perSec: 10 }] };
const LANE = { arrivals: ARRIVALS, serviceMs: { kind: "fixed", ms: 10 } };

const FILES: Readonly<Record<string, string>> = {
  "handler.ts": `export default async (job: { payload: unknown }): Promise<void> => {
  if (job.payload === "fail") throw new Error("no such user");
};
`,
  "load.json": JSON.stringify({ durationMs: 2_000, pools: { mail: { lanes: { urgent: LANE } } } }),
  "pools.json": CONFIG,
  "other.json": CONFIG,
};

/** Verbs that go on until a signal ends them. */
const ENDLESS = ["run", "record", "events tail"];

/** A system whose time runs as fast as it can while jobs come. */
async function lively(folder: string) {
  const clock = new VirtualClock();
  const system = await start(join(folder, "pools.json"), { clock });
  const pool = system.pool("mail");
  const url = system.adminUrl ?? "";
  let ending = false;
  const living = (async (): Promise<void> => {
    while (!ending) {
      await pool.enqueue({ lane: "urgent", payload: 1 }).catch(() => {}); // in the end it is drained
      await clock.advance(100);
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
  })();
  return {
    url,
    /** The id, in place of JOB in an example, of a job that the verb can do something with. */
    async job(verb: string): Promise<string> {
      const isCancel = verb === "jobs cancel";
      const delayMs = isCancel ? 60_000 : 0;
      const { id } = await pool.enqueue({ lane: "urgent", payload: "fail", delayMs });
      while (!isCancel && (await pool.find(id))?.state !== "dead") await clock.advance(10);
      return id;
    },
    async operation(): Promise<string> {
      const { out } = await sluice(["dlq", "retry", "mail", "--all", "--json", "--url", url]);
      return JSON.parse(out).id;
    },
    async schedule(): Promise<string> {
      const { out } = await sluice(["schedules", "--json", "--url", url]);
      return JSON.parse(out)[0].id;
    },
    async [Symbol.asyncDispose]() {
      ending = true;
      await living;
      await system.stop();
    },
  };
}

/** The words of an example as a shell takes them: quotes, a file as input, a command in `$(...)`. */
function wordsOf(example: string): { readonly words: readonly string[]; readonly input: boolean } {
  const [, inner = example] = /^eval "\$\((.*)\)"$/.exec(example) ?? [];
  const [, command = inner, file] = /^(.*) < (\S+)$/.exec(inner) ?? [];
  const words = [...command.matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g)]
    .map(([, single, double, bare]) => single ?? double ?? bare ?? "");
  return { words, input: file !== undefined };
}

Deno.test("each example in the help of a verb does what it says", async () => {
  await using folder = await temporaryFolder();
  for (const [name, text] of Object.entries(FILES)) {
    await Deno.writeTextFile(join(folder.path, name), text);
  }
  const path = join(folder.path, "queue.db");
  const stored = await start({
    store: { use: "deno-kv", with: { path } },
    pools: { mail: { ...POOL, handler: "sleep", schedules: [] } },
  });
  await stored.stop();
  await using system = await lively(folder.path);
  const all = Object.entries(EXAMPLES).flatMap(([verb, examples]) =>
    examples.map((example) => ({ verb, example }))
  );
  const isLast = ({ verb }: { readonly verb: string }): boolean => verb === "pools drain";

  for (const { verb, example } of [...all.filter((one) => !isLast(one)), ...all.filter(isLast)]) {
    const { words: [program, ...words], input } = wordsOf(example);
    const args = await Promise.all(words.map(async (word, place) => {
      if (word === "JOB") return await system.job(verb);
      if (word === "OPERATION") return await system.operation();
      if (word === "SCHEDULE") return await system.schedule();
      if (word === "http://127.0.0.1:8787") return system.url;
      const isPath = verb === "init" ? place === 1 : /\.(json|html|db)$/.test(word);
      return isPath ? join(folder.path, word) : word;
    }));
    const { code, out, err } = await sluice(args, {
      env: (name) => name === "SLUICE_URL" ? system.url : undefined,
      readInput: () => Promise.resolve(input ? '{"a":1}\n{"a":2}\n' : ""),
      onSignal: (handler) => {
        const timer = ENDLESS.includes(verb) ? setTimeout(handler, 200) : undefined;
        return () => clearTimeout(timer);
      },
    });

    assert.equal(program, "sluice");
    assert.deepEqual([code, example], [0, example], `${out}${err}`);
    assert.ok(words.join(" ").startsWith(verb.replace(/ ls$/, "")), example);
  }
});

/** Every verb that does something: those that only have others below them are left out. */
async function verbsBelow(path: readonly string[]): Promise<readonly string[]> {
  const { out } = await sluice([...path, "--help"]);
  const [, list = ""] = out.split("\nCommands:\n");
  const verbs = [...list.matchAll(/^ {2}([a-z-]+)/gm)].map(([, verb = ""]) => verb)
    .filter((verb) => verb !== "help");
  if (verbs.length === 0) return [path.join(" ")];
  return (await Promise.all(verbs.map((verb) => verbsBelow([...path, verb])))).flat();
}

Deno.test("the help of each verb ends with its examples, in 80 columns", async () => {
  const verbs = await verbsBelow([]);

  assert.ok(verbs.length > 40);
  assert.deepEqual(Object.keys(EXAMPLES).sort(), [...verbs].sort());
  for (const [verb, examples] of Object.entries(EXAMPLES)) {
    const { out } = await sluice([...verb.split(" "), "--help"]);
    const title = examples.length === 1 ? "Example:" : "Examples:";
    assert.ok(out.endsWith(["", title, ...examples.map((one) => `  ${one}`), ""].join("\n")), out);
    for (const example of examples) assert.ok(example.length <= 78, example);
  }
});

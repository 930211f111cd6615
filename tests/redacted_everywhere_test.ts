import assert from "node:assert/strict";
import {
  ConfigError,
  type ConfigInput,
  defineHandler,
  Fatal,
  type PoolEvent,
  type SlotInput,
  start,
} from "../mod.ts";
import { jsonLogger } from "../src/runtime/log.ts";
import type { Sluice } from "../src/runtime/handles.ts";
import { denoKv } from "../stores/deno_kv/mod.ts";
import { memory } from "../stores/memory/mod.ts";
import * as v from "valibot";
import { sluice as verb } from "./cli/_io.ts";

/** What nobody may see: in the config, in payloads, and what is reported of them. */
const MARKS = {
  option: "M4RK-option",
  next: "M4RK-next",
  payload: "M4RK payload/1",
  pin: 48151623,
};

const REDACTED = ["Password", "pin"];

const LEAK = /M4RK|48151623/;

interface Payload {
  readonly how: string;
  readonly login: { readonly password: string; readonly pin: number };
}

/** A handler that tells all that it knows wherever it can. */
const gossip = defineHandler({
  name: "gossip",
  options: v.strictObject({ password: v.string() }),
  create: ({ password: own }) => ({
    payload: v.object({ how: v.string(), login: v.unknown() }),
    run: async (job, context) => {
      const { how, login } = job.payload as Payload; // as the schema has it
      const text = `${login.password} ${login.pin} ${encodeURIComponent(login.password)} ${own}`;
      context.log.warn(`at ${text}`, { password: own, said: text });
      await context.progress({ password: login.password, said: text });
      if (how === "hang") await new Promise((resolve) => hanging.push(resolve));
      if (how === "fail") throw new Error(`failed with ${"x".repeat(1_990)}${text}`);
      if (how === "die") throw new Fatal(text);
      return { password: login.password, said: text, list: [login] };
    },
  }),
});

const hanging: ((value: unknown) => void)[] = [];

function payload(how: string): Payload {
  return { how, login: { password: MARKS.payload, pin: MARKS.pin } };
}

function configOf(store: SlotInput<"store">, password: string): ConfigInput {
  return {
    redact: REDACTED,
    admin: { port: 0 },
    store,
    pools: {
      mail: {
        handler: { use: gossip, with: { password } },
        size: { min: 1, max: 2 },
        lanes: [{ name: "urgent", attempts: 2, backoff: { baseMs: 1 } }],
        schedules: [{ cron: "0 0 1 1 *", lane: "urgent", payload: payload("ok") }],
      },
    },
  };
}

/** Everything that an address of the API or a page answers. */
async function answers(sluice: Sluice, ids: readonly string[]): Promise<readonly string[]> {
  const paths = [
    ...["/", "/config", "/dead", "/jobs", "/pools/mail", "/metrics", "/api/config", "/api/plugins"],
    ...["/api/pools", "/api/pools/mail", "/api/pools/mail/jobs", "/api/pools/mail/decisions"],
    ...["/api/pools/mail/history", "/api/operations", "/pools/mail/jobs", "/api/openapi.json"],
    ...["/jobs?match=said", "/api/pools/mail/jobs?state=dead", "/api/jobs"],
    ...ids.flatMap((id) => [`/api/jobs/${id}`, `/jobs/${id}`, `/api/jobs/${id}/waiting`]),
  ];
  return await Promise.all(paths.map(async (path) => {
    const response = await fetch(`${sluice.adminUrl}${path}`);
    return `${path} ${response.status} ${await response.text()}`;
  }));
}

for (const [name, store] of [["memory", { use: memory }], ["deno-kv", { use: denoKv }]] as const) {
  Deno.test(`What is listed under redact is in no output, wherever it is quoted, on ${name}`, async () => {
    const place = name === "memory" ? store : { ...store, with: { path: ":memory:" } };
    const said: string[] = [];
    const events: PoolEvent[] = [];
    await using sluice = await start(configOf(place, MARKS.option), {
      log: jsonLogger({ level: "debug", write: (line) => said.push(`log ${line}`) }),
      observer: (event) => events.push(event),
    });
    const api = `${sluice.adminUrl}/api`;
    const stream = await fetch(`${api}/events`);
    const reader = stream.body!.pipeThrough(new TextDecoderStream()).getReader();

    const post = async (how: string, query = ""): Promise<string> => {
      const response = await fetch(`${api}/pools/mail/jobs${query}`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ lane: "urgent", payload: payload(how) }),
      });
      const text = await response.text();
      said.push(text);
      return JSON.parse(text).id;
    };
    const ids = [
      await post("ok", "?waitMs=20000"),
      await post("fail", "?waitMs=20000"),
      await post("die", "?waitMs=20000"),
      await post("hang"),
    ];
    while (hanging.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    const misfit = { lane: "urgent", payload: { how: MARKS.pin, login: payload("ok").login } };
    said.push(String(await sluice.enqueue("mail", misfit).catch((thrown) => thrown.message)));
    said.push(JSON.stringify(
      await (await sluice.enqueue("mail", {
        lane: "urgent",
        payload: payload("die"),
      })).done,
    ));
    said.push(...await answers(sluice, ids));
    for (const match of [MARKS.payload, MARKS.option, String(MARKS.pin)]) {
      const found = await fetch(`${api}/pools/mail/jobs?match=${encodeURIComponent(match)}`);
      assert.deepEqual((await found.json()).jobs, [], "a search tells what is hidden");
    }
    for (
      const args of [
        ...[["pools", "describe", "mail"], ["jobs", "ls", "mail"], ["dlq", "ls", "mail"]],
        ...[["doctor", "mail"], ["explain", "mail"], ["plugins", "--running"], ["reload"]],
        ...ids.map((id) => ["jobs", "show", id]),
      ]
    ) {
      for (const json of [[], ["--json"]]) {
        const { out, err } = await verb([...args, ...json, "--url", sluice.adminUrl!]);
        said.push(`${args.join(" ")} ${out}${err}`);
      }
    }
    said.push(JSON.stringify(await sluice.reload(configOf(place, MARKS.next))));
    await post("die", "?waitMs=20000");
    said.push(...await answers(sluice, ids));
    hanging.shift()?.(undefined);
    said.push(JSON.stringify(await sluice.pool("mail").explain()));
    while (!said.at(-1)?.includes('"reloaded"')) said.push((await reader.read()).value ?? "");
    await reader.cancel();
    await sluice.stop();
    hanging.length = 0;
    said.push(...events.filter(({ kind }) => kind !== "decided").map((e) => JSON.stringify(e)));

    const leaks = said.filter((text) => LEAK.test(text));
    assert.deepEqual(leaks.map((text) => around(text)), []);
    for (const told of ["[redacted]", "log {", "/jobs?match=said 200", "reloaded", "jobs show"]) {
      assert.ok(said.some((text) => text.includes(told)), `nothing tells ${told}`);
    }
  });
}

Deno.test("A usual secret is in no answer of a config without redact", async () => {
  const secrets = { "Access-Token": "M4RK-token", card_number: 48151623, ssn: "M4RK-ssn" };
  const said: string[] = [];
  const { redact: _, ...config } = configOf({ use: memory }, MARKS.option);
  await using sluice = await start(config, {
    log: jsonLogger({ level: "debug", write: (line) => said.push(line) }),
  });
  const payload = { how: "die", login: { password: MARKS.payload, pin: MARKS.pin }, ...secrets };
  const job = await sluice.enqueue("mail", { lane: "urgent", payload });
  said.push(JSON.stringify(await job.done), ...await answers(sluice, [job.id]));

  assert.deepEqual(said.filter((text) => LEAK.test(text)).map(around), []);
  assert.ok(said.some((text) => text.includes("[redacted]")));
});

Deno.test("What is listed under redact is in no fault of a config", async () => {
  const bad = [
    { ...configOf({ use: memory }, MARKS.option), pools: { mail: { password: MARKS.option } } },
    configOf({ use: "sqlite", with: { password: MARKS.option } }, MARKS.option),
    configOf({ use: memory }, { secret: MARKS.option } as unknown as string),
    configOf({ use: memory }, MARKS.pin as unknown as string),
    { ...configOf({ use: memory }, MARKS.option), admin: { password: "x".repeat(80) + "M4RK" } },
  ];
  for (const config of bad) {
    const error = await start(config as unknown as ConfigInput).then(
      () => assert.fail("it started"),
      (thrown: unknown) => thrown,
    );
    assert.ok(error instanceof ConfigError);
    assert.doesNotMatch(error.message, LEAK);
    assert.doesNotMatch(JSON.stringify(error.faults), LEAK);
  }
});

function around(text: string): string {
  const at = text.search(LEAK);
  return `${text.slice(0, 60)} … ${text.slice(Math.max(0, at - 100), at + 60)}`;
}

/**
 * What `sluice init` writes: the text of each file, by what was chosen.
 *
 * @module
 */

/** What was chosen. */
export interface Choice {
  /** True: jobs outlive the process. */
  readonly durable: boolean;
  /** Address of the API that each job calls. `undefined`: a handler of code. */
  readonly url: string | undefined;
  /** True: a job comes by itself, at the times of a cron expression. */
  readonly schedule: boolean;
  /** True: an entry for Deno Deploy too. */
  readonly deploy: boolean;
}

/** Where Sluice itself is, seen from the new folder. */
export interface Home {
  /** Version of the package. */
  readonly version: string;
  /** Path to a clone. `undefined`: it runs from a registry. */
  readonly clone: string | undefined;
}

/** `pools.json`. An entry imports it as a module, and JSON modules have no comments. */
export function configText(choice: Choice): string {
  const text =
    `// Pools of workers. "sluice check pools.json" finds faults, "sluice run pools.json" runs it.
{
  "$schema": "./pools.schema.json",
${choice.durable ? STORE : ""}  "pools": {
    "main": {
${handlerText(choice.url)}      "size": { "min": 1, "max": 8 },
${choice.schedule ? SCHEDULES : ""}${choice.deploy ? DRAIN : ""}${LANES}    }
  }
}
`;
  return choice.deploy ? text.replaceAll(/^ *\/\/.*\n/gm, "") : text;
}

const STORE = `  // Jobs outlive the process, and several processes may work one file.
  "store": { "use": "deno-kv", "with": { "path": "./data/queue.db" } },
`;

const SCHEDULES =
  `      // One job at each time, however many processes run. In UTC unless there is a "timezone".
      "schedules": [
        { "lane": "batch", "cron": "0 4 * * *", "payload": { "report": "daily" } }
      ],
`;

const DRAIN = `      "drainMs": 2000,
`;

const LANES = `      // Highest priority first. Growth aims to keep waits below targetWaitMs.
      "lanes": [
        { "name": "urgent", "targetWaitMs": 50 },
        { "name": "batch", "targetWaitMs": 5000, "attempts": 3 }
      ]
`;

function handlerText(url: string | undefined): string {
  if (url === undefined) return `      "handler": { "use": "./handler.ts" },\n`;
  return `      // Sends the payload as JSON. Beside "url": "headers": { "authorization": { "env": "API_AUTH" } }.
      "handler": { "use": "http", "with": { "url": ${JSON.stringify(url)} } },
      // What the API allows, of all processes that share a store together.
      "caps": [{ "use": "api-rate-cap", "with": { "callsPerSec": 10 } }],
`;
}

/** `handler.ts`. */
export const HANDLER = `import type { Job, JobContext } from "@sluice/sluice";

/** Runs one job. What it returns is the result; a throw is retried, with back-off. */
export default async function handle({ payload }: Job, { signal }: JobContext): Promise<unknown> {
  await new Promise((resolve) => setTimeout(resolve, 20)); // the work would be here
  signal.throwIfAborted(); // at the time limit, a cancel or a shutdown: give it to fetch and the like
  return { handled: payload };
}
`;

/** `handler_test.ts`. */
export const HANDLER_TEST = `import { start } from "@sluice/sluice";
import assert from "node:assert/strict";
import handler from "./handler.ts";

Deno.test("the handler runs a job", async () => {
  await using sluice = await start({
    pools: { main: { handler, size: { min: 1, max: 1 }, lanes: [{ name: "urgent" }] } },
  });

  const job = await sluice.enqueue("main", { lane: "urgent", payload: { hello: "world" } });

  assert.deepEqual(await job.done, { state: "done", result: { handled: { hello: "world" } } });
});
`;

/** `pools_test.ts`, of a config that calls an API. */
export function callTest(url: string): string {
  return `import { start } from "@sluice/sluice";
import assert from "node:assert/strict";

/** The API that pools.json calls. */
const API = ${JSON.stringify(url)};

Deno.test("a job calls the API with its payload", async () => {
  const received: unknown[] = [];
  const api = async (call: Request): Promise<Response> => {
    received.push(await call.json());
    return new Response(null, { status: 204 });
  };
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, api);
  // A copy that calls the receiver above; a database is made beside it, not beside yours.
  const folder = await Deno.makeTempDir();
  const text = await Deno.readTextFile(new URL("pools.json", import.meta.url));
  const local = text.replaceAll(API, \`http://127.0.0.1:\${server.addr.port}/\`);
  await Deno.writeTextFile(\`\${folder}/pools.json\`, local);
  const sluice = await start(\`\${folder}/pools.json\`);

  const job = await sluice.enqueue("main", { lane: "urgent", payload: { hello: "world" } });

  assert.deepEqual(await job.done, { state: "done", result: { status: 204 } });
  assert.deepEqual(received, [{ hello: "world" }]);
  await sluice.stop();
  await server.shutdown();
  await Deno.remove(folder, { recursive: true });
});
`;
}

/** `deno.json`. */
export function projectText(choice: Choice, home: Home): string {
  const unstable = choice.deploy ? ["kv", "cron"] : choice.durable ? ["kv"] : undefined;
  const allowed = "--no-prompt --allow-net --allow-read --allow-write=. --allow-env";
  return `${
    JSON.stringify(
      {
        links: home.clone === undefined ? undefined : [home.clone],
        imports: { "@sluice/sluice": `jsr:@sluice/sluice@^${home.version}` },
        unstable,
        fmt: { lineWidth: 100 },
        tasks: {
          sluice: `deno run ${allowed} @sluice/sluice/cli`,
          start: choice.deploy ? `deno run ${allowed} main.ts` : undefined,
          test:
            "deno test --no-prompt --allow-net=127.0.0.1 --allow-read --allow-write --allow-env",
        },
      },
      undefined,
      2,
    )
  }\n`;
}

/**
 * `main.ts`: the example's entry, with the pools of `pools.json` in place of its own.
 *
 * @param example Text of `examples/deploy.ts`.
 */
export function entryText(example: string, choice: Choice): string {
  const own = choice.url === undefined;
  const handler = own ? `import handler from "./handler.ts";\n` : "";
  const imports = `${handler}import config from "./pools.json" with { type: "json" };\n`;
  const pools = own
    ? "  pools: { ...config.pools, main: { ...config.pools.main, handler } },\n"
    : "";
  return example
    .replace(/^ \* The entry .*$/m, " * The entry of an app on Deno Deploy.")
    .replace("type ConfigInput, type Job, type JobContext, start", "type ConfigInput, start")
    .replace(/^(import .* from "@sluice\/sluice\/admin";\n)/m, `$1${imports}`)
    .replace(
      /^const CONFIG: [^]*?^};\n\n(\/\*\*[^\n]*\*\/\n)?async function send[^]*?^}\n/m,
      `const CONFIG = {
  ...config,
  store: ON_DEPLOY ? "deno-kv" : config.store,
${pools}} as ConfigInput; // whose texts are checked at the start
`,
    );
}

/** `README.md`. */
export function readmeText(name: string, { url, deploy }: Choice): string {
  const job = url === undefined ? "Jobs run `handler.ts`." : `Jobs call <${url}>.`;
  const entry = "- `main.ts` is the entry on Deno Deploy; `deno task start` tries it here.\n";
  return `# ${name}

Pools of workers, run by Sluice: \`pools.json\` says which. \`deno task test\` runs a job.

    deno task sluice check pools.json
    deno task sluice run pools.json
    deno task sluice enqueue main --lane urgent --payload '{"hello":"world"}' --wait 5s

- ${job}
- While it runs, <http://127.0.0.1:8787> shows the pools.
${deploy ? entry : ""}`;
}

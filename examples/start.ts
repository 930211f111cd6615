/**
 * Runs `pools.example.json` with the receivers that it delivers to: `deno task start`. With `--load`
 * it also sends a spike, so that one can watch the pool grow and shrink.
 *
 * @module
 */

import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { start } from "../mod.ts";
import { messageOf } from "../src/contract/errors.ts";
import { sendLoad } from "./load.ts";
import { startReceiver } from "./receiver.ts";

const CONFIG = fileURLToPath(new URL("../pools.example.json", import.meta.url));

/** A ctrl-C comes twice under `deno task`: from the terminal, and passed on by the task. */
const ONE_SIGNAL_MS = 500;

/** A job to post by hand. */
const EXAMPLE = { lane: "urgent", payload: { event: "order.paid", order: 1 } };

try {
  const { values } = parseArgs({ options: { load: { type: "boolean", default: false } } });
  await run(values.load);
} catch (thrown) {
  print(messageOf(thrown));
  Deno.exit(1);
}

async function run(load: boolean): Promise<void> {
  // The ports stand in the config too. With the way there and back a call takes the 20 ms that the
  // caps of the config allow for.
  const receivers = [
    startReceiver({ port: 8788, ratePerSec: 1000, serviceMs: 15 }),
    startReceiver({ port: 8789, ratePerSec: 100, serviceMs: 15 }),
  ];
  const sluice = await start(CONFIG);
  const adminUrl = sluice.adminUrl ?? "";
  const stopping = new AbortController();
  listen(() => stopping.abort());
  print(`Pools ${sluice.pools.map((pool) => pool.name).join(" and ")} are up`);
  print(`Admin      ${adminUrl}`);
  print(`Receivers  ${receivers.map((receiver) => receiver.url).join("  ")}`);
  print(`Post a job, then look it up by the id that is answered:`);
  print(`  curl -s ${adminUrl}/api/pools/webhooks/jobs -H 'content-type: application/json' \\`);
  print(`    -d '${JSON.stringify(EXAMPLE)}'`);
  print(`  curl -s ${adminUrl}/api/jobs/ID`);

  if (load) await sendLoad({ adminUrl, pool: "webhooks", print, signal: stopping.signal });
  if (!stopping.signal.aborted) {
    await new Promise((resolve) => stopping.signal.addEventListener("abort", resolve));
  }
  print("Draining; a second signal exits at once");
  const { handedBack, waiting } = await sluice.stop();
  await Promise.all(receivers.map((receiver) => receiver.stop()));
  print(`Stopped: ${handedBack.length} jobs handed back, ${waiting} waiting`);
  Deno.exit(0);
}

/** Calls `stop` on the first signal; exits at once on a later one. */
function listen(stop: () => void): void {
  let firstAtMs: number | undefined;
  const heard = (): void => {
    firstAtMs ??= performance.now();
    if (performance.now() - firstAtMs > ONE_SIGNAL_MS) Deno.exit(1);
    stop();
  };
  Deno.addSignalListener("SIGINT", heard);
  if (Deno.build.os !== "windows") Deno.addSignalListener("SIGTERM", heard);
}

function print(line: string): void {
  // deno-lint-ignore no-console
  console.log(line);
}

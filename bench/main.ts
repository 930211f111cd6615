/**
 * Runs benchmarks and prints medians, spreads and ratios. It judges nothing: times depend on what
 * else the machine does, ratios within a round much less.
 *
 * ```
 * deno task bench                 all of them
 * deno task bench memory bytes    those named
 * deno task bench --rounds 1      quickly
 * ```
 *
 * @module
 */

import { parseArgs } from "node:util";
import { type Bench, type Figures, LeftOut, report } from "./_bench.ts";
import { ablation } from "./ablation.ts";
import { backlog } from "./backlog.ts";
import { bytes } from "./bytes.ts";
import { claimants } from "./claimants.ts";
import { clusterRate } from "./cluster_rate.ts";
import { downstreams } from "./downstreams.ts";
import { http } from "./http.ts";
import { keys } from "./keys.ts";
import { kv } from "./kv.ts";
import { kvNetwork } from "./kv_network.ts";
import { durable } from "./durable.ts";
import { durableBacklog } from "./durable_backlog.ts";
import { durableIdle } from "./durable_idle.ts";
import { durableSeed } from "./durable_seed.ts";
import { idle } from "./idle.ts";
import { latency } from "./latency.ts";
import { memory } from "./memory.ts";
import { needed } from "./needed.ts";
import { refusing } from "./refusing.ts";
import { requests } from "./requests.ts";
import { simulation } from "./simulate.ts";
import { streams } from "./streams.ts";
import { uneven } from "./uneven.ts";

const benches: readonly Bench[] = [
  memory,
  backlog,
  bytes,
  idle,
  latency,
  http,
  streams,
  simulation,
  kv,
  kvNetwork,
  durable,
  durableIdle,
  durableBacklog,
  durableSeed,
  clusterRate,
  downstreams,
  refusing,
  keys,
  requests,
  claimants,
  uneven,
  needed,
  ablation,
];

if (import.meta.main) await main(Deno.args);

async function main(args: string[]): Promise<void> {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: { rounds: { type: "string" }, case: { type: "string" } },
  });
  const chosen = positionals.length === 0 ? benches : positionals.map(benchNamed);
  if (values.case !== undefined) {
    print(JSON.stringify(await measureOrNot(chosen[0]!, values.case)));
    Deno.exit(); // a client of KV Connect goes on asking a server that has ended
  }
  print(`Deno ${Deno.version.deno}, ${navigator.hardwareConcurrency} cores, ${today()}\n`);
  for (const bench of chosen) {
    const rounds = Number(values.rounds ?? bench.rounds);
    print(report(bench, await measureInTurn(bench, rounds)).join("\n"));
  }
}

function benchNamed(name: string): Bench {
  const bench = benches.find((bench) => bench.name === name);
  if (bench !== undefined) return bench;
  const known = benches.map((bench) => bench.name).join(", ");
  throw new TypeError(`No benchmark is named "${name}": choose from ${known}`);
}

/** The figures, or why there are none. */
async function measureOrNot(bench: Bench, name: string): Promise<Figures | string> {
  try {
    return await bench.measure(name);
  } catch (thrown) {
    if (thrown instanceof LeftOut) return thrown.message;
    throw thrown;
  }
}

/** A B C, A B C, …: what slows the machine down slows all cases of a round. */
async function measureInTurn(bench: Bench, rounds: number): Promise<Map<string, Figures[]>> {
  const results = new Map<string, Figures[]>(bench.cases.map((name) => [name, []]));
  for (let round = 0; round < rounds; round++) {
    for (const [name, rounds] of results) {
      const figures = await inProcess(bench, name);
      if (typeof figures === "string") {
        print(`${name} is left out: ${figures}`);
        results.delete(name);
      } else rounds.push(figures);
    }
  }
  return results;
}

/** Measures one case in a fresh process. */
async function inProcess(bench: Bench, name: string): Promise<Figures | string> {
  const flags = bench.v8Flags === undefined ? [] : [`--v8-flags=${bench.v8Flags}`];
  const command = new Deno.Command(Deno.execPath(), {
    args: ["run", "--no-prompt", "-A", ...flags, import.meta.filename!, bench.name, "--case", name],
    stderr: "inherit",
  });
  const { success, stdout } = await command.output();
  if (!success) throw new Error(`Case "${name}" of ${bench.name} failed: see above`);
  return JSON.parse(new TextDecoder().decode(stdout));
}

function today(): string {
  return new Date().toISOString().slice(0, 10);
}

function print(text: string): void {
  let rest = new TextEncoder().encode(`${text}\n`);
  while (rest.length > 0) rest = rest.subarray(Deno.stdout.writeSync(rest));
}

/**
 * `sluice top`: a live screen of pools, lanes and decisions; one print where no terminal is.
 *
 * @module
 */

import type { Command } from "commander";
import { remoteOf, type RemoteOptions } from "./client.ts";
import { CliError } from "./failure.ts";
import type { Io } from "./io.ts";
import { json, line } from "./print.ts";
import { LiveTop } from "./top_live.ts";
import { decisionsOf, readTop } from "./top_reading.ts";
import { poolPart, printedPools, type TopReading } from "./top_view.ts";
import { durationMs, type Tools, withRemote } from "./verb.ts";

interface TopOptions extends RemoteOptions {
  readonly every: string;
  readonly once?: boolean;
}

/** Decisions of each pool in one print. */
const PRINTED_DECISIONS = 5;

const SHORTEST_MS = 100;

/** Adds the verb. */
export function addTop(program: Command, { io }: Tools): void {
  withRemote(program.command("top").description("watch pools, lanes and decisions live"))
    .option("--every <duration>", "refresh interval", "1s")
    .option("--once", "print once, as without a terminal")
    .action((options: TopOptions) => top(io, options));
}

async function top(io: Io, options: TopOptions): Promise<void> {
  const everyMs = durationMs("--every", options.every) ?? 0;
  if (everyMs < SHORTEST_MS) {
    throw new CliError(
      `Expected --every to be at least ${SHORTEST_MS} ms but received "${options.every}"`,
      2,
    );
  }
  const first = await readTop(io, options, undefined); // a fault at the start is said on the usual screen
  const screen = options.once || options.json ? undefined : io.openScreen();
  if (screen === undefined) return await print(io, options, first);
  try {
    await new LiveTop(io, remoteOf(io, options), screen).run(first, everyMs);
  } finally {
    screen.close();
  }
}

/** Prints one look at all pools. */
async function print(io: Io, options: TopOptions, { pools }: TopReading): Promise<void> {
  const parts = await Promise.all(pools.map(async (pool) => {
    return { ...pool, decisions: await decisionsOf(io, options, pool.pool, PRINTED_DECISIONS) };
  }));
  if (options.json) return json(io, parts);
  for (const shown of printedPools(pools)) line(io, ...shown);
  for (const pool of parts) {
    line(io);
    for (const shown of poolPart(pool, pool.decisions)) line(io, ...shown);
  }
}

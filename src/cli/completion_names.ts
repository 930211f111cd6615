/**
 * Names of pools and lanes that may stand next on a command line, asked from the running system.
 *
 * @module
 */

import type { Command, Option } from "commander";
import type { PoolJson } from "../admin/http/wire.ts";
import { call, type RemoteOptions } from "./client.ts";
import type { Io } from "./io.ts";
import { inLine } from "./print.ts";

/** Longest time for the answer, ms: a user waits with a finger on the key. */
const LONGEST_MS = 500;

const POOL_OPTION = "--pool";
const LANE_OPTION = "--lane";

/** What the words of a command line come to. */
interface Begun {
  /** What may follow. `undefined`: no name. */
  readonly next: "pool" | "lane" | undefined;
  /** The pool that they name. */
  readonly pool: string | undefined;
  /** Which system they are about. */
  readonly at: RemoteOptions;
}

/** True if names of pools or lanes may stand after the verb. */
export function takesNames({ registeredArguments, options }: Command): boolean {
  return registeredArguments.some((argument) => argument.name() === "pool") ||
    options.some(({ long }) => long === LANE_OPTION || long === POOL_OPTION);
}

/**
 * Names that may stand after these words of a command line. None where nothing answers in time.
 *
 * @param given Words after `sluice`; bash cuts them at ":" and "=".
 */
export async function namesAfter(
  io: Io,
  program: Command,
  given: readonly string[],
): Promise<readonly string[]> {
  const words = given.join("\n").replaceAll(/\n?([:=])\n?/g, "$1").split("\n");
  const { next, pool, at } = read(program, words);
  if (next === undefined) return [];
  try {
    const signal = AbortSignal.timeout(LONGEST_MS);
    const pools = await call(io, at, "GET /api/pools", "list", { signal });
    return [...new Set(next === "pool" ? pools.map((one) => one.pool) : lanesOf(pools, pool))]
      .filter((name) => inLine(name) === name);
  } catch {
    return []; // a user is typing: this is no place to say why
  }
}

/** Names of the lanes of a pool, or of all where none is named so. */
function lanesOf(pools: readonly PoolJson[], pool: string | undefined): readonly string[] {
  const named = pools.filter((one) => one.pool === pool);
  return (named.length > 0 ? named : pools).flatMap(({ lanes }) => lanes.map(({ name }) => name));
}

function read(program: Command, words: readonly string[]): Begun {
  let verb = program;
  let option: Option | undefined; // whose value comes next
  let [pool, url, tokenEnv]: (string | undefined)[] = [];
  let operands = 0;
  for (const word of words) {
    if (option !== undefined) {
      if (option.long === "--url") url = word;
      if (option.long === "--token-env") tokenEnv = word;
      option = undefined;
    } else if (word.startsWith("--")) {
      option = verb.options.find(({ long, required }) => long === word && required);
      if (word.startsWith("--url=")) url = word.slice("--url=".length);
    } else {
      const below = verb.commands.find((command) => command.name() === word);
      if (below !== undefined) verb = below;
      else if (verb.registeredArguments[operands++]?.name() === "pool") pool = word;
    }
  }
  const place = option === undefined ? verb.registeredArguments[operands]?.name() : option.long;
  const isPool = place === "pool" || place === POOL_OPTION;
  const next = isPool ? "pool" : place === LANE_OPTION ? "lane" : undefined;
  return { next, pool, at: { url, tokenEnv } };
}

/**
 * Judges the diagnosis by set-ups that are drawn: of those with a cause planted, how often the first
 * finding names the cause, the lane and the setting to change; of sound ones, how often there is one.
 *
 * ```
 * deno task diagnose --draws 100 --seed 1
 * ```
 *
 * @module
 */

import { parseArgs } from "node:util";
import { failing, lineOf, type Outcome, sound } from "./judge.ts";

if (import.meta.main) await main(Deno.args.filter((arg) => arg !== "--"));

async function main(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      draws: { type: "string", default: "100" },
      seed: { type: "string", default: "1" },
    },
  });
  const [draws, seed] = [Number(values.draws), Number(values.seed)];
  const planted = await all(failing(draws, seed));
  const well = await all(sound(draws, seed));
  print(table(planted));
  const right = planted.filter(({ isRight }) => isRight).length;
  const found = well.filter(({ isRight }) => !isRight).length;
  print(
    `${right} of ${draws} with a cause are named right; ${found} of ${draws} sound ones have a finding`,
  );
}

async function all(outcomes: AsyncIterable<Outcome>): Promise<readonly Outcome[]> {
  const list: Outcome[] = [];
  for await (const outcome of outcomes) {
    list.push(outcome);
    if (!outcome.isRight) print(lineOf(outcome));
  }
  return list;
}

function table(outcomes: readonly Outcome[]): string {
  const byCause = Map.groupBy(outcomes, ({ cause }) => cause ?? "sound");
  return [...byCause].map(([cause, list]) =>
    `${cause.padEnd(20)} ${list.filter(({ isRight }) => isRight).length} of ${list.length}`
  ).join("\n");
}

function print(line: string): void {
  // deno-lint-ignore no-console
  console.log(line);
}

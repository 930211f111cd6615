/**
 * Draws scenarios and judges `adaptive-cap` by them: what it costs pools that need none, and what it
 * finds behind a downstream with a limit. In virtual time; prints as it goes.
 *
 * ```
 * deno task adaptive --draws 100 --seed 1                      100 scenarios of all kinds
 * deno task adaptive --kinds knee,below --draws 20 --seed 1    of these alone
 * deno task adaptive --draws 20 --seeds 2 --span 60000         shorter, under fewer seeds
 * ```
 *
 * @module
 */

import { parseArgs } from "node:util";
import { drawOf, type Kind, KINDS, SPAN_MS } from "./draw.ts";
import { lineOf, type Outcome, outcomeOf, tableOf, verdictsOf } from "./judge.ts";

/** How often a kind is drawn, of a hundred. */
const SHARES: Readonly<Record<Kind, number>> = {
  healthy: 32,
  knee: 32,
  below: 8,
  slow: 8,
  slots: 6,
  told: 6,
  store: 8,
};

if (import.meta.main) await main(Deno.args.filter((arg) => arg !== "--"));

async function main(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      draws: { type: "string", default: "100" },
      seed: { type: "string", default: "1" },
      seeds: { type: "string", default: "5" },
      from: { type: "string", default: "0" },
      span: { type: "string", default: String(SPAN_MS) },
      kinds: { type: "string", default: KINDS.join(",") },
    },
  });
  const kinds = values.kinds.split(",").map(kindOf);
  const whole = kinds.reduce((sum, kind) => sum + SHARES[kind], 0);
  const counts = kinds.map((kind) => Math.round(Number(values.draws) * SHARES[kind] / whole));
  const outcomes: Outcome[] = [];
  const beganMs = performance.now();
  // Number by number, so that whatever is printed is of all kinds.
  for (let number = Number(values.from); number < Math.max(...counts); number++) {
    for (const [index, kind] of kinds.entries()) {
      if (number >= counts[index]!) continue;
      const draw = drawOf(kind, Number(values.seed), number);
      const outcome = await outcomeOf(draw, Number(values.seeds), Number(values.span));
      outcomes.push(outcome);
      const seconds = ((performance.now() - beganMs) / 1000).toFixed(0);
      print(`${seconds} s, ${number} ${lineOf(outcome)}`);
    }
    if (number % 5 === 4) print(tableOf(verdictsOf(outcomes)));
  }
  print(tableOf(verdictsOf(outcomes)));
}

function kindOf(name: string): Kind {
  const kind = KINDS.find((kind) => kind === name);
  if (kind === undefined) throw new TypeError(`Expected --kinds to be of ${KINDS.join(", ")}`);
  return kind;
}

function print(line: string): void {
  // deno-lint-ignore no-console
  console.log(line);
}

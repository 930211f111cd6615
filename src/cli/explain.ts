/**
 * `sluice explain`: why a pool has the size it has.
 *
 * @module
 */

import type { Command } from "commander";
import type { DecisionJson } from "../admin/http/wire.ts";
import { isoTime } from "../time/iso_time.ts";
import { call, type RemoteOptions } from "./client.ts";
import { prose } from "./fold.ts";
import type { Io } from "./io.ts";
import { bold, json, line, type Styled } from "./print.ts";
import { showShadow } from "./shadow.ts";
import { type Tools, wholeNumber, withRemote } from "./verb.ts";

interface ExplainOptions extends RemoteOptions {
  readonly limit?: string;
}

/** Adds the verb. */
export function addExplain(program: Command, { io }: Tools): void {
  withRemote(program.command("explain").description("show why a pool has the size it has"))
    .argument("<pool>")
    .option("--limit <count>", "most decisions, newest first", "10")
    .action((pool: string, options: ExplainOptions) => explain(io, pool, options));
}

async function explain(io: Io, pool: string, options: ExplainOptions): Promise<void> {
  const limit = wholeNumber("--limit", options.limit, 1);
  const route = "GET /api/pools/:pool/decisions";
  const decisions = await call(io, options, route, "list", { at: { pool }, query: { limit } });
  if (options.json) return json(io, decisions);
  if (decisions.length === 0) return line(io, "No decision has been made yet.");
  for (const parts of decisions.flatMap(decisionLines)) {
    const [text] = parts;
    if (parts.length === 1 && typeof text === "string") prose(io, text);
    else line(io, ...parts);
  }
  const { shadow } = await call(io, options, "GET /api/pools/:pool", "lanes", { at: { pool } });
  if (shadow !== undefined) showShadow(io, shadow);
}

/** A decision, with what each strategy asked for. */
export function decisionLines(decision: DecisionJson): readonly (readonly (string | Styled)[])[] {
  const change = decision.from === decision.to
    ? `stays at ${decision.to}`
    : `${decision.from} -> ${decision.to}`;
  const { latest, sentence, untilMs, atMs, boundBy, proposals } = decision;
  const until = latest === undefined || latest === sentence
    ? []
    : [[`  Until ${isoTime(untilMs)}: ${latest}`]];
  return [
    [bold(isoTime(atMs)), `  ${change}, bound by ${boundBy}`],
    [`  ${sentence}`],
    ...until,
    ...proposals.map(({ kind, by, workers, reason }) => [
      `    ${kind} ${by}: ${workers === null ? "no bound" : workers}, ${reason}`,
    ]),
  ];
}

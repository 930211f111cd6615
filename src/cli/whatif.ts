/**
 * `sluice whatif`: what the last minutes of a running pool would have been with another config.
 *
 * @module
 */

import type { Command } from "commander";
import { duration } from "../base/format.ts";
import { compare, sentencesOf } from "../simulate/compare.ts";
import { happenedOf, type PoolOutcome, simulatedOf } from "../simulate/happened.ts";
import { toHtml } from "../simulate/picture/page.ts";
import { editText } from "../simulate/tune/edit.ts";
import { ChangeError, jobsOf, type WhatIf } from "../simulate/what_if.ts";
import { call, remoteOf, type RemoteOptions } from "./client.ts";
import { CliError } from "./failure.ts";
import type { Io } from "./io.ts";
import { bold, type Cell, json, line, table } from "./print.ts";
import { durationMs, type Tools, withRemote } from "./verb.ts";
import { checkWritable, writeText } from "./write.ts";

interface WhatIfOptions extends RemoteOptions {
  readonly config?: string;
  readonly for: string;
  readonly html?: string;
  readonly json?: boolean;
}

const PICTURE = "the picture";

/** Adds the verb. */
export function addWhatIf(program: Command, tools: Tools): void {
  withRemote(
    program.command("whatif").description(
      "simulate the last minutes of a pool with a change of its config",
    ),
  )
    .argument("<pool>", "the pool")
    .argument("<change...>", "such as size.max=30 or lanes.urgent.targetWaitMs=100")
    .option("--config <file>", "its config; default: what the system shows")
    .option("--for <duration>", "how much of the past, at most 10 minutes", "10m")
    .option("--html <file>", "write an HTML report with charts")
    .action((pool: string, changes: readonly string[], options: WhatIfOptions) =>
      ask(pool, changes, options, tools)
    );
}

async function ask(
  pool: string,
  given: readonly string[],
  options: WhatIfOptions,
  { io, whatIf }: Tools,
): Promise<void> {
  const changes = changesOf(given);
  const forMs = durationMs("--for", options.for) ?? 0;
  if (options.html !== undefined) await checkWritable(PICTURE, options.html);
  const at = { pool };
  const load = await call(io, options, "GET /api/pools/:pool/load", "everyMs", {
    at,
    query: { forMs },
  });
  if (jobsOf(load) === 0) throw new CliError(`No job came to pool "${pool}" in that time`);
  const history = await call(io, options, "GET /api/pools/:pool/history", "samples", { at });
  const config = options.config ??
    await call(io, options, "GET /api/config", "pools" as never, {}) as object; // a config has pools
  const answer = await asked(() => whatIf(config, { pool, changes, load }));
  const happened = happenedOf(history, load.fromMs);
  if (options.json) json(io, { happened, ...answer });
  else show(io, pool, { answer, happened });
  if (options.html === undefined) return;
  const shown = [
    { name: "as it is", report: answer.asItIs },
    { name: answer.edits.map(editText).join(", "), report: answer.changed },
  ];
  const from = `the last ${duration(answer.asItIs.durationMs)} of ${remoteOf(io, options).url}`;
  await writeText(PICTURE, options.html, toHtml(shown, from));
}

async function asked(run: () => Promise<WhatIf>): Promise<WhatIf> {
  try {
    return await run();
  } catch (error) {
    if (error instanceof ChangeError) throw new CliError(error.message, 2);
    throw error;
  }
}

/** `size.max=30`: the value is JSON, or a text if it is none. */
function changesOf(given: readonly string[]): Readonly<Record<string, unknown>> {
  return Object.fromEntries(given.map((text) => {
    const at = text.indexOf("=");
    if (at <= 0) {
      throw new CliError(`Expected a change such as size.max=30 but received "${text}"`, 2);
    }
    return [text.slice(0, at), valueOf(text.slice(at + 1))];
  }));
}

function valueOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function show(
  io: Io,
  pool: string,
  { answer, happened }: { readonly answer: WhatIf; readonly happened: PoolOutcome | undefined },
): void {
  const { edits, asItIs, changed } = answer;
  line(
    io,
    bold(pool),
    `: the last ${duration(asItIs.durationMs)} with ${edits.map(editText).join(", ")}`,
  );
  line(io);
  const before = asItIs.pools[pool];
  const after = changed.pools[pool];
  table(io, ["", "workers", "peak", "lane", "done", "shed", "longest wait"], [
    ...rowsOf("happened", happened),
    ...rowsOf("simulated as it is", before && simulatedOf(before)),
    ...rowsOf("simulated with the change", after && simulatedOf(after)),
  ]);
  line(io);
  for (const sentence of sentencesOf(compare(asItIs, changed))) line(io, sentence);
}

function rowsOf(what: string, outcome: PoolOutcome | undefined): readonly (readonly Cell[])[] {
  if (outcome === undefined) return [[what, "-", "-", "-", "-", "-", "-"]];
  return outcome.lanes.map(({ lane, done, shed, longestWaitMs }, index) => [
    ...(index === 0 ? [what, Number(outcome.workers.toFixed(1)), outcome.peak] : ["", "", ""]),
    lane,
    done,
    shed,
    duration(longestWaitMs),
  ]);
}

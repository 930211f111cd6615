/**
 * `sluice record`: writes what comes to running pools as a scenario.
 *
 * @module
 */

import type { Command } from "commander";
import type { PoolJson } from "../admin/http/wire.ts";
import type { PoolEvent } from "../contract/event.ts";
import { counted, duration } from "../base/format.ts";
import { type Recording, ScenarioRecorder } from "../simulate/recorder.ts";
import { scenarioText } from "../simulate/scenario_text.ts";
import { call, remoteOf, type RemoteOptions } from "./client.ts";
import { eventStream } from "./event_stream.ts";
import { CliError } from "./failure.ts";
import { onInterrupt } from "./interrupt.ts";
import type { Io } from "./io.ts";
import { note, whole } from "./print.ts";
import { type ProgressBar, progressBar } from "./progress.ts";
import { durationMs, type Tools, withRemote } from "./verb.ts";
import { checkWritable, writeText } from "./write.ts";

interface RecordOptions extends RemoteOptions {
  readonly for: string;
  readonly out?: string;
}

/** Events that say when jobs came and what came of them. */
const KINDS: readonly PoolEvent["kind"][] = [
  "job-added",
  "job-shed",
  "job-started",
  "job-done",
  "job-failed",
  "job-deferred",
  "job-dead",
  "job-cancelled",
  "job-handed-back",
  "lease-lost",
];

/** At the end the last events are waited for: they come in batches. */
const LAST_MS = 250;

/** Attempts that run at the end may end so long after it; otherwise long ones would be missing. */
const GRACE_MS = 5_000;

/** Adds the verb. */
export function addRecord(program: Command, { io }: Tools): void {
  withRemote(
    program.command("record").description(
      "record the jobs that arrive at running pools as a scenario",
    ),
  )
    .argument("[pool]", "only this pool; default: all")
    .option("--for <duration>", "how long", "1m")
    .option("--out <file>", "file to write; default: standard output")
    .action((pool: string | undefined, options: RecordOptions) => record(io, pool, options));
}

async function record(io: Io, pool: string | undefined, options: RecordOptions): Promise<void> {
  const forMs = durationMs("--for", options.for) ?? 0;
  if (forMs <= 0) {
    throw new CliError(`Expected --for to be longer than 0 ms but received "${options.for}"`, 2);
  }
  const pools = pool === undefined
    ? await call(io, options, "GET /api/pools", "list", {})
    : [await call(io, options, "GET /api/pools/:pool", "lanes", { at: { pool } })];
  if (options.out !== undefined) await checkWritable("the scenario", options.out); // better now than after all that time
  const heard = await listen(io, options, { pools, forMs });
  const { recording, trouble, spanMs } = heard;
  const { scenario, jobs } = recording;
  if (scenario === undefined) {
    throw new CliError(`No job arrived in ${duration(spanMs)}: nothing was written`);
  }
  const text = scenarioText(scenario);
  if (options.out === undefined) whole(io, text);
  else await writeText("the scenario", options.out, text);
  const to = options.out === undefined ? "" : ` to ${options.out}`;
  note(io, `Recorded ${counted(jobs, "job")} in ${duration(spanMs)}${to}`);
  for (const text of notesOn(recording, pools)) note(io, text);
  const { missed = 0 } = scenario.recorded ?? {};
  if (missed > 0) {
    throw new CliError(
      `${counted(missed, "event")} or more did not reach the recorder: the scenario has gaps`,
    );
  }
  if (trouble !== undefined) throw new CliError(`It ended early: ${trouble}`);
}

interface Wanted {
  readonly pools: readonly PoolJson[];
  readonly forMs: number;
}

interface Listened {
  readonly recording: Recording;
  /** How long it heard, ms. */
  readonly spanMs: number;
  /** Why it ended before its time. `undefined`: it did not, or was told to. */
  readonly trouble: string | undefined;
}

/** Hears events until the time is over, someone interrupts, or the system stops. */
async function listen(io: Io, options: RecordOptions, { pools, forMs }: Wanted): Promise<Listened> {
  const stop = new AbortController();
  const timers: ReturnType<typeof setTimeout>[] = [];
  const after = (ms: number, run: () => void): void => void timers.push(setTimeout(run, ms));
  const bar = progressBar(io);
  const unlisten = onInterrupt(io, () => stop.abort());
  let recorder: ScenarioRecorder | undefined;
  let [startMs, latestMs, isLast] = [0, 0, false];
  let trouble: string | undefined;
  try {
    for await (const heard of eventStream(io, options, { kind: KINDS }, stop.signal)) {
      if (heard.kind === "beat" || heard.kind === "event") {
        latestMs = Math.max(latestMs, heard.kind === "beat" ? heard.atMs : heard.event.atMs);
      }
      if (recorder === undefined) {
        startMs = latestMs;
        recorder = new ScenarioRecorder(startMs, pools.flatMap(lanesOf));
        const own = recorder;
        after(forMs + LAST_MS, () => {
          isLast = true;
          if (own.running === 0) stop.abort();
        });
        after(forMs + GRACE_MS, () => stop.abort());
        showProgress(bar, forMs, after);
      }
      if (heard.kind === "event") recorder.take(heard.event as PoolEvent); // no decision is asked for
      if (heard.kind === "gap") recorder.missed += heard.missed ?? 1;
      if (heard.kind === "end") trouble = heard.trouble;
      if (isLast && recorder.running === 0) break;
    }
  } finally {
    for (const timer of timers) clearTimeout(timer);
    bar.clear();
    unlisten();
  }
  const isWhole = isLast && trouble === undefined;
  const endMs = isWhole ? startMs + forMs : Math.min(startMs + forMs, latestMs);
  const name = pools.map(({ pool }) => pool).join(", ");
  recorder ??= new ScenarioRecorder(startMs, []);
  const recording = await recorder.finish({ name, from: remoteOf(io, options).url, endMs });
  return { recording, trouble, spanMs: endMs - startMs };
}

function showProgress(
  bar: ProgressBar,
  forMs: number,
  after: (ms: number, run: () => void) => void,
): void {
  const beganMs = performance.now();
  const show = (): void => {
    const share = (performance.now() - beganMs) / forMs;
    bar.show(Math.min(1, share));
    if (share < 1) after(200, show);
  };
  after(200, show);
}

function lanesOf({ pool, lanes }: PoolJson): ConstructorParameters<typeof ScenarioRecorder>[1] {
  return lanes.map(({ name, ready, blocked, meanServiceMs }) => {
    return { pool, lane: name, waiting: ready + blocked, meanServiceMs };
  });
}

/** What is not in the scenario, though nothing went wrong. */
function notesOn({ scenario, blind }: Recording, pools: readonly PoolJson[]): readonly string[] {
  const unknown = scenario?.recorded?.unknown ?? 0;
  const shared = pools.filter(({ peers }) => peers > 1);
  return [
    ...unknown > 0
      ? [
        `${
          counted(unknown, "job")
        } did not run to an end that was seen: a run time of the others is drawn`,
      ]
      : [],
    ...blind.map((lane) => `No job of ${lane} has ended yet: replace the 0 by its run time`),
    ...shared.map(({ pool, peers }) =>
      `${peers} processes share ${pool}: jobs of the other processes are missing from it`
    ),
  ];
}

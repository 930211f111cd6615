/**
 * The endpoint that plays the last minutes of a pool with a change, in a thread of its own.
 *
 * @module
 */

import { happenedOf, simulatedOf } from "../../simulate/happened.ts";
import { compare, sentencesOf } from "../../simulate/compare.ts";
import { editText } from "../../simulate/tune/edit.ts";
import type { PoolReport, SeriesReport } from "../../simulate/report.ts";
import {
  type AskedQuestion,
  jobsOf,
  type Question,
  type WhatIf,
  type WorkerAnswer,
} from "../../simulate/what_if.ts";
import type { History } from "../../planning/history.ts";
import type { PoolEndpoints } from "../http/endpoints.ts";
import { answer, badRequest, problem } from "../http/problem.ts";
import { rounded } from "../http/rounded.ts";
import type { WhatIfJson } from "../http/wire_what_if.ts";
import type { AdminContext } from "./context.ts";
import type { Answered, Exchange, Handlers } from "./route.ts";
import { whatIfShape } from "./shape.ts";

/** Longest simulation, ms: a longer one is for the command line. */
const LONGEST_MS = 60_000;

type Route = "POST /api/pools/:pool/whatif";

/** Handler of the endpoint. One question is answered at a time: it takes a processor for a while. */
export function whatIfHandlers(context: AdminContext): Pick<Handlers<PoolEndpoints>, Route> {
  let isBusy = false;
  return {
    [`POST /api/pools/:pool/whatif` as const]: {
      body: whatIfShape,
      run: async (asked: Exchange<Route>) => {
        if (isBusy) return problem(503, "A simulation runs already: try again once it has ended");
        isBusy = true;
        try {
          return await ask(asked, context);
        } finally {
          isBusy = false;
        }
      },
    },
  };
}

async function ask(
  { target: { handle }, body }: Exchange<Route>,
  { sluice, signal }: AdminContext,
): Promise<Answered<Route>> {
  const load = handle.recentLoad();
  if (load === undefined || jobsOf(load) === 0) {
    return problem(409, "No job has come recently: there is nothing to simulate");
  }
  const question: Question = { pool: handle.name, changes: body.changes, load };
  const ends = AbortSignal.any([signal, AbortSignal.timeout(LONGEST_MS)]);
  const given = await played({ config: sluice.config, question }, ends);
  if (given === undefined) {
    return problem(503, "The simulation took longer than a minute: `sluice whatif` has the time");
  }
  if ("fault" in given) {
    if (!given.isAsked) return problem(503, `The simulation failed: ${given.fault}`);
    return badRequest([{ pointer: "/changes", detail: given.fault }]);
  }
  return answer(rounded(resultOf(given.answer, { handle, fromMs: load.fromMs })), 200);
}

/** The answer of the thread. `undefined`: it was ended first. */
async function played(
  asked: AskedQuestion,
  ends: AbortSignal,
): Promise<WorkerAnswer | undefined> {
  const { promise, resolve } = Promise.withResolvers<WorkerAnswer | undefined>();
  let worker: Worker;
  try {
    worker = new Worker(new URL("../../simulate/what_if_worker.ts", import.meta.url), {
      type: "module",
    });
  } catch {
    return { fault: "this platform has no threads: use `sluice whatif`", isAsked: false };
  }
  const end = (): void => resolve(undefined);
  ends.addEventListener("abort", end);
  worker.onmessage = ({ data }: MessageEvent<WorkerAnswer>) => resolve(data);
  worker.onerror = (event) => {
    event.preventDefault();
    resolve({ fault: event.message, isAsked: false });
  };
  worker.postMessage(asked);
  try {
    return await promise;
  } finally {
    ends.removeEventListener("abort", end);
    worker.terminate();
  }
}

function resultOf(
  { edits, asItIs, changed }: WhatIf,
  { handle, fromMs }: {
    readonly handle: Exchange<Route>["target"]["handle"];
    readonly fromMs: number;
  },
): WhatIfJson {
  const before = asItIs.pools[handle.name]!; // it was played
  const after = changed.pools[handle.name]!;
  const history = handle.history();
  return {
    changes: edits.map(editText),
    spanMs: asItIs.durationMs,
    fromMs,
    happened: happenedOf(history, fromMs) ?? null,
    asItIs: simulatedOf(before),
    changed: simulatedOf(after),
    comparison: sentencesOf(compare(asItIs, changed)),
    bucketMs: after.series.bucketMs,
    lanes: Object.keys(after.series.lanes).map((lane, index) => {
      const waits = ({ series }: PoolReport) => series.lanes[lane]?.ageMs ?? [];
      return {
        lane,
        targetWaitMs: after.series.lanes[lane]?.targetWaitMs ?? null,
        happenedMs: happenedIn(history, { fromMs, index, series: after.series }),
        asItIsMs: waits(before),
        changedMs: waits(after),
      };
    }),
  };
}

/** The longest waits of a lane that samples saw, each where it was taken. */
function happenedIn(
  { samples }: History,
  { fromMs, index, series }: {
    readonly fromMs: number;
    readonly index: number;
    readonly series: SeriesReport;
  },
): readonly (number | null)[] {
  const waits = new Array<number | null>(Math.ceil(series.untilMs / series.bucketMs)).fill(null);
  for (const { atMs, lanes } of samples) {
    const bucket = Math.floor((atMs - fromMs) / series.bucketMs);
    const wait = lanes[index]?.longestWaitMs;
    if (bucket < 0 || bucket >= waits.length || wait === undefined) continue;
    waits[bucket] = Math.max(waits[bucket] ?? 0, wait);
  }
  return waits;
}

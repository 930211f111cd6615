/**
 * Gives a pool many jobs: one a line of the input, in calls of many.
 *
 * @module
 */

import { agreeing, counted } from "../base/format.ts";
import type { BulkResult } from "../admin/http/wire.ts";
import type { NewJob } from "../contract/job.ts";
import { call, type RemoteOptions } from "./client.ts";
import { CliError, UnansweredError } from "./failure.ts";
import type { Io } from "./io.ts";
import { json, line } from "./print.ts";
import { progressBar } from "./progress.ts";

/** What the API takes in one call: jobs, and bytes of which some are left for the brackets. */
const MOST_JOBS = 1_000;
const MOST_BYTES = 1_000_000;

/** Faults that are shown; the others are counted. */
const SHOWN_FAULTS = 10;

/** A line of the input, as a job. */
export interface LineJob {
  /** Its line, from 1. */
  readonly line: number;
  /** The body of the job. */
  readonly body: unknown;
}

/** What came of all lines. */
interface Sum {
  stored: number;
  duplicates: number;
  refused: number;
  readonly faults: { readonly line: number; readonly error: string }[];
}

/** Enqueues all and prints what came of them. @throws {CliError} If one was refused. */
export async function enqueueMany(
  io: Io,
  pool: string,
  jobs: readonly LineJob[],
  options: RemoteOptions,
): Promise<void> {
  const sum: Sum = { stored: 0, duplicates: 0, refused: 0, faults: [] };
  const bar = progressBar(io);
  let done = 0;
  let faulty = 0; // no use in sending them again
  try {
    for (const part of partsOf(jobs)) {
      const body = part.map((job) => job.body as NewJob); // the API says what is wrong with one
      const route = "POST /api/pools/:pool/jobs";
      const { results } = await call(io, options, route, "results", { at: { pool }, body });
      results.forEach((result, index) => count(sum, result, part[index]?.line ?? 0));
      faulty += results.filter((one) => "error" in one && one.retryAfterMs === undefined).length;
      done += part.length;
      bar.show(done / jobs.length);
    }
  } catch (thrown) {
    if (!(thrown instanceof CliError)) throw thrown;
    const at = jobs[done]?.line ?? 0;
    const rest = thrown instanceof UnansweredError
      ? `of those from line ${at} on, some may be`
      : `none from line ${at} on`;
    throw new CliError(
      `${thrown.message}; ${stored(sum)}, ${rest}`,
      done === 0 ? thrown.exitCode : 1,
      { cause: thrown },
    );
  } finally {
    bar.clear();
  }
  report(io, sum, options);
  if (sum.refused === 0) return;
  const { refused, faults } = sum;
  const more = refused > faults.length ? `, the first ${faults.length} are shown` : "";
  throw new CliError(`${counted(refused, "job")} refused${more}`, faulty === jobs.length ? 2 : 1);
}

function report(io: Io, sum: Sum, options: RemoteOptions): void {
  const { stored, duplicates, faults } = sum;
  if (options.json) json(io, sum);
  else {
    const others = duplicates === 0 ? "" : `, ${counted(duplicates, "duplicate")}`;
    line(io, `${counted(stored, "job")} stored${others}`);
    for (const { line: at, error } of faults) line(io, `  line ${at}: ${error}`);
  }
}

function stored({ stored: jobs }: Sum): string {
  return `${counted(jobs, "job")} ${agreeing(jobs, "was", "were")} stored`;
}

function count(sum: Sum, result: BulkResult, at: number): void {
  if ("id" in result) sum.stored++;
  else if ("duplicateOf" in result) sum.duplicates++;
  else {
    sum.refused++;
    if (sum.faults.length < SHOWN_FAULTS) sum.faults.push({ line: at, error: result.error });
  }
}

/** Parts that a call holds. A job that is too large alone has one of its own: the API says so. */
function* partsOf(jobs: readonly LineJob[]): Iterable<readonly LineJob[]> {
  const encoder = new TextEncoder();
  let part: LineJob[] = [];
  let bytes = 0;
  for (const job of jobs) {
    const size = encoder.encode(JSON.stringify(job.body)).byteLength + 1;
    if (part.length === MOST_JOBS || (part.length > 0 && bytes + size > MOST_BYTES)) {
      yield part;
      part = [];
      bytes = 0;
    }
    part.push(job);
    bytes += size;
  }
  if (part.length > 0) yield part;
}

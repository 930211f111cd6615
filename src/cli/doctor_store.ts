/**
 * `sluice doctor --store FILE`: what does not agree in a database that nobody works on, and its repair.
 *
 * @module
 */

import type { StoreExamination, StoreFinding } from "../contract/doctor.ts";
import { messageOf } from "../contract/errors.ts";
import { CliError } from "./failure.ts";
import type { Io } from "./io.ts";
import { bold, json, line, note } from "./print.ts";
import { confirmed, type Tools } from "./verb.ts";

/** Options of `doctor --store`. */
export interface StoreDoctorOptions {
  /** The database file. */
  readonly store: string;
  /** True: repairs what it can. */
  readonly repair?: boolean;
  /** True: asks nothing. */
  readonly yes?: boolean;
  /** True: prints JSON. */
  readonly json?: boolean;
}

/** Examines a database. @throws {CliError} If something is wrong in the end, or it cannot be examined. */
export async function doctorStore(
  { io, builtins }: Pick<Tools, "io" | "builtins">,
  options: StoreDoctorOptions,
): Promise<void> {
  const { store: file } = options;
  const examination = builtins.find(({ doctor }) => doctor !== undefined)?.doctor;
  if (examination === undefined) throw new CliError("No store has a doctor", 2);
  await refuseDamaged(io, examination, options);
  const { doctor, close } = await opened(examination.open(file), file);
  try {
    const { pools, jobs } = await opened(doctor.contents(), file);
    const worked = await doctor.worked((ms) => {
      const seconds = Math.ceil(ms / 1000);
      note(io, `Watching for ${seconds} s whether a process works on ${file}`);
    });
    if (worked.length > 0) {
      throw new CliError(
        `A process works on ${file} (pool ${
          worked.join(", ")
        }): stop it first, what it changes would ` +
          "look like faults",
        2,
      );
    }
    const found = await doctor.faults();
    if (!options.json) {
      line(
        io,
        `${file}: ${count(pools.length, "pool")}, ${count(jobs, "job")} that ${
          jobs === 1 ? "has" : "have"
        } not ended, ${count(found.length, "finding")}`,
      );
      for (const finding of found) show(io, finding);
    }
    const left = options.repair && found.length > 0 ? await repair(found) : found;
    if (options.json) {
      json(io, { file, pools, jobs, findings: found.map(shown), left: left.map(shown) });
    }
    if (left.length > 0) throw new CliError(summary(left, options.repair === true));
  } finally {
    close();
  }

  async function repair(found: readonly StoreFinding[]): Promise<readonly StoreFinding[]> {
    confirmed(io, options, `Repair ${count(found.length, "finding")} in ${file}?`);
    const left = await doctor.repair(Date.now());
    if (options.json) return left;
    line(io, left.length === 0 ? "Repaired: nothing is wrong any more" : "Repaired, but for:");
    for (const finding of left) show(io, finding);
    return left;
  }
}

/** What is in a damaged file is not to be believed, and a repair would go by it. */
async function refuseDamaged(
  io: Io,
  examination: StoreExamination,
  { store: file, json: asJson }: StoreDoctorOptions,
): Promise<void> {
  await opened(Deno.stat(file), file); // the engine does not say that there is none
  const damage = await opened(examination.damageIn(file), file);
  if (damage.length === 0) return;
  if (asJson) json(io, { file, damage });
  throw new CliError(
    `${file} is damaged: ${examination.engine} reports "${damage.join('", "')}". ` +
      "Stop what works on it and restore a backup: nothing was repaired, since its contents cannot be trusted",
  );
}

async function opened<T>(opening: Promise<T>, file: string): Promise<T> {
  try {
    return await opening;
  } catch (thrown) {
    const why = thrown instanceof Deno.errors.NotFound ? "No such file" : messageOf(thrown);
    throw new CliError(`Cannot examine ${file}: ${why}`, 2);
  }
}

function show(io: Io, { pool, kind, saw, repair }: StoreFinding): void {
  line(io, bold(`${pool}: ${kind}`));
  line(io, `  ${saw}`);
  line(io, `  Repair: ${repair ?? "none, inspect it by hand"}`);
}

function shown({ pool, kind, saw, repair }: StoreFinding): unknown {
  return { pool, kind, saw, repair: repair ?? null };
}

function summary(left: readonly StoreFinding[], isRepaired: boolean): string {
  const findings = count(left.length, "finding");
  if (isRepaired) return `${findings} left that cannot be repaired`;
  const repairable = left.filter(({ repair }) => repair !== undefined).length;
  return repairable === 0
    ? `${findings}, none of which can be repaired`
    : `${findings}: --repair repairs ${
      repairable === left.length ? "them" : `${repairable} of them`
    }`;
}

function count(number: number, what: string): string {
  return `${number} ${what}${number === 1 ? "" : "s"}`;
}

/**
 * The durable store in Deno KV: on a file, over the network, or the database of an app on Deno Deploy.
 *
 * @module
 */

import * as v from "valibot";
import { defineStore, type Plugin } from "../../src/contract/plugin.ts";
import { Db } from "./io/db.ts";
import { SIGNAL_KEY } from "./record/keys.ts";
import { checkSchema, lackingKv, openDatabase, withAdvice } from "./io/open.ts";
import { SameFile } from "./io/same_file.ts";
import { KvStore } from "./store.ts";

/** Options of `deno-kv`. */
export interface DenoKvOptions {
  /**
   * File that keeps the jobs, made with its folder if it is missing; from the folder of the config
   * file, without one from the current directory. `:memory:`: nothing is kept.
   */
  readonly path?: string;
  /** Address of a KV Connect database. Its token is in `DENO_KV_ACCESS_TOKEN`. */
  readonly url?: string;
  /** Most checks of a commit that the database takes. @default {100 on a file, else 10} */
  readonly maxChecks?: number;
  /** Longest time between two looks for what others committed, ms. @default {1000 on a file, else 5000} */
  readonly pollMs?: number;
}

/** KV's own limit; denokv's is 10. */
const MOST_CHECKS = 100;

const Options = v.strictObject({
  path: v.exactOptional(v.pipe(v.string(), v.nonEmpty("Expected the name of a file"))),
  url: v.exactOptional(
    v.pipe(v.string(), v.regex(/^https?:\/\//, 'Expected a URL such as "https://example.com"')),
  ),
  maxChecks: v.exactOptional(
    v.pipe(v.number(), v.integer(), v.minValue(10), v.maxValue(MOST_CHECKS)),
  ),
  pollMs: v.exactOptional(v.pipe(v.number(), v.minValue(10), v.maxValue(60_000))),
});

/** The durable store in Deno KV. */
export const denoKv: Plugin<"store", DenoKvOptions> = defineStore({
  name: "deno-kv",
  options: Options,
  lacks: lackingKv,
  // Enqueue, claim (one key goes, one comes) and end; what a file took, more only with larger batches.
  measured: { writesPerJob: 4, writesPerSec: 36_000 },
  doctor: {
    engine: "SQLite",
    damageIn: async (file) => (await import("./doctor/integrity.ts")).damageIn(file),
    open: async (file) => (await import("./doctor/doctor.ts")).openForDoctor(file),
  },
  create: async ({ path, url, maxChecks, pollMs }, { random, locate, log }) => {
    const { kv, file, remote, again } = await openDatabase({ path, url, locate });
    const db = new Db(kv, {
      remote,
      file: file === undefined ? undefined : new SameFile(file),
      open: again,
      maxChecks: maxChecks ?? (remote ? 10 : MOST_CHECKS),
      random,
    });
    try {
      await checkSchema(db);
      const isShared = file !== undefined || remote;
      const longestMs = pollMs ?? (remote ? 5000 : 1000);
      const { value } = await db.get<Deno.KvU64>(SIGNAL_KEY);
      const seen = Number(value?.value ?? 0n);
      return new KvStore(db, {
        file,
        place: file === undefined ? remote ? url ?? "attached" : undefined : placeOf(file),
        remote,
        pollMs: isShared ? longestMs : Infinity,
        seen,
        log,
      });
    } catch (thrown) {
      db.close();
      throw withAdvice(file, thrown);
    }
  },
});

/** The same for all names of a file. */
function placeOf(file: string): string {
  try {
    return Deno.realPathSync(file);
  } catch {
    return file; // it may not be read by name; it was opened all the same
  }
}

/**
 * The `db-pool-cap` cap.
 *
 * @module
 */

import * as v from "valibot";
import { defineCap, type Plugin } from "../../src/contract/plugin.ts";

/** Options of `db-pool-cap`. */
export interface DbPoolCapOptions {
  /** Connections that the database or its pool allows, >= 0. 0 stops the pool. */
  readonly connections: number;
  /** Connections that a worker holds, >= 1. @default {1} */
  readonly perWorker?: number;
  /** Connections left to others, >= 0. @default {0} */
  readonly spare?: number;
}

const Options = v.strictObject({
  connections: v.pipe(v.number(), v.integer(), v.minValue(0)),
  perWorker: v.exactOptional(v.pipe(v.number(), v.integer(), v.minValue(1)), 1),
  spare: v.exactOptional(v.pipe(v.number(), v.integer(), v.minValue(0)), 0),
});

/** Allows as many workers as there are connections for: beyond that they only wait for one. */
export const dbPoolCap: Plugin<"cap", DbPoolCapOptions> = defineCap({
  name: "db-pool-cap",
  scope: "cluster",
  options: Options,
  create: ({ connections, perWorker, spare }) => {
    const fitting = Math.floor((connections - spare) / perWorker);
    const workers = connections === 0 ? 0 : Math.max(1, fitting);
    const left = spare === 0 ? "" : ` less ${spare} spare`;
    const reason = `${connections} connections${left} at ${perWorker} a worker`;
    const limit = Object.freeze({ workers, reason });
    return () => limit;
  },
});

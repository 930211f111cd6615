/**
 * A strategy of one's own: a controller that goes by how many jobs are ready.
 *
 * @module
 */

import { defineController, type Plugin } from "@sluice/sluice";
import * as v from "valibot";

/** Options of `steady`. */
export interface SteadyOptions {
  /** Ready jobs that call for one worker, >= 1. @default {10} */
  readonly perWorker?: number;
}

/** One worker for every `perWorker` ready jobs. */
export const steady: Plugin<"controller", SteadyOptions> = defineController({
  name: "steady",
  options: v.strictObject({
    perWorker: v.exactOptional(v.pipe(v.number(), v.minValue(1)), 10),
  }),
  create: ({ perWorker }) => (view) => {
    const ready = view.lanes.reduce((sum, lane) => sum + lane.ready, 0);
    return {
      workers: Math.ceil(ready / perWorker),
      reason: `${ready} ready at ${perWorker} a worker`,
    };
  },
});

/**
 * The `adaptive-cap` cap.
 *
 * @module
 */

import * as v from "valibot";
import { defineCap, type Plugin } from "../../src/contract/plugin.ts";
import type { PoolView } from "../../src/contract/view.ts";
import { GrowthGate } from "./_gate.ts";

/** Options of `adaptive-cap`. */
export interface AdaptiveCapOptions {
  /** How many times what is proven a pool may grow to before the growth has shown its worth, > 1. @default {3} */
  readonly factor?: number;
}

/**
 * Refuses growth that buys no throughput: when the downstream has no more to give, more workers only
 * make it slower. It is in every pool that may grow, unless the config says `"adaptive": false`.
 *
 * Growth is let through `factor`-fold a round, and a round more for each target that passes without a
 * verdict. A round is accepted as soon as attempts are seen to run as fast as before. If they are
 * slower, Little's law decides, X = n / S: throughput must rise by half of what the added jobs would
 * bring at best. Refused growth is undone, and the pool walks to the smallest size that carries the
 * same throughput. A slow-down at unchanged concurrency is the downstream's own and holds nobody back.
 * Run times are compared lane by lane, so a new mix of lanes is no slow-down.
 *
 * It judges by few attempts, so on a machine with hiccups it may err. Once jobs are late for a second
 * because of it, it therefore tries twice the size for most of a second, and lets the pool go if that
 * brings more; if not, it tries again after 10 s, then after ever longer, up to 5 min.
 *
 * `context.overloaded()` lowers the pool at once, to 0.7 of what it has, though not below `size.min`;
 * it finds its way up again by the same walk. A deferral (`RetryLater`) is no such sign and lowers
 * nothing. Nothing is judged while the store cannot be read or a start rate holds jobs back. While it
 * refuses nothing it sets no bound. Before anything has ended it starts from the size that the pool has.
 *
 * What it cannot do:
 * - behind a small limit, long or very uneven attempts give too few figures in time: it may settle far
 *   from the best size, and attempts longer than four targets are never a reason to refuse;
 * - it costs a burst far above anything seen a little time: growth waits for proof, so some jobs of
 *   it may be late;
 * - each process judges by its own jobs, whatever others do to the same downstream.
 *
 * So it is no replacement for `size.max`, nor for the caps that say what a downstream bears.
 *
 * The rule is ours, found in simulation; its kin are Netflix's concurrency-limits and Uber's Cinnamon,
 * which look for the most the downstream bears instead of the least that the demand needs.
 */
export const adaptiveCap: Plugin<"cap", AdaptiveCapOptions> = defineCap({
  name: "adaptive-cap",
  options: v.strictObject({
    factor: v.exactOptional(
      v.pipe(v.number("Expected a factor"), v.gtValue(1, "Expected a factor above 1")),
      3,
    ),
  }),
  create: ({ factor }) => {
    let gate = new GrowthGate(factor, 0);
    let names: readonly string[] = [];
    return (view, wanted) => {
      if (!hasLanes(view, names)) { // a reload: figures of other lanes say nothing of these
        names = view.lanes.map(({ name }) => name);
        gate = new GrowthGate(factor, names.length);
      }
      return gate.ask(view, wanted);
    };
  },
});

function hasLanes({ lanes }: PoolView, names: readonly string[]): boolean {
  return lanes.length === names.length && lanes.every(({ name }, index) => name === names[index]);
}

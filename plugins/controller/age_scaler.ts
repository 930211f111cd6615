/**
 * The `age-scaler` controller: as many workers as it takes to keep waits below their target.
 *
 * @module
 */

import * as v from "valibot";
import { OptionError } from "../../src/contract/errors.ts";
import { duration } from "../../src/base/format.ts";
import { defineController, type Plugin } from "../../src/contract/plugin.ts";
import type { PoolView } from "../../src/contract/view.ts";
import { deadlineRule } from "./_deadline_rule.ts";
import { causesGrowth, timeLeftMs, wantsWorkers } from "./_supply.ts";
import { Count, Duration } from "./_options.ts";
import { stepRule } from "./_step_rule.ts";

/** Options of `age-scaler`. */
export interface AgeScalerOptions {
  /** Wait that lanes without a `targetWaitMs` of their own aim to stay below, ms. @default {50} */
  readonly targetWaitMs?: number;
  /** `deadline` grows at the instant a wait is predicted to pass `grow` of its target; `step` by `growStep` once it has passed. @default {"deadline"} */
  readonly rule?: "deadline" | "step";
  /** Share of the target wait at which to grow, above 0, at most 1. Lower: shorter waits, more workers. Only for `deadline`. @default {0.5} */
  readonly grow?: number;
  /** Shrinks to the peak of this many ms, which doubles when a shrink proves too early. Only for `deadline`. @default {5000} */
  readonly lookBackMs?: number;
  /** How far the look-back may double, ms. Only for `deadline`. @default {60000} */
  readonly maxLookBackMs?: number;
  /** Workers added at a time. Only for `step`. @default {4} */
  readonly growStep?: number;
  /** How long without a break the pool is idle before one worker goes, ms. Only for `step`. @default {1000} */
  readonly idleMs?: number;
}

const Options = v.strictObject({
  targetWaitMs: v.exactOptional(Duration, 50),
  rule: v.exactOptional(
    v.picklist(["deadline", "step"], 'Expected the rule "deadline" or "step"'),
    "deadline",
  ),
  grow: v.exactOptional(
    v.pipe(
      v.number("Expected a share of the target wait"),
      v.gtValue(0, "Expected a share above 0"),
      v.maxValue(1, "Expected a share of at most 1"),
    ),
    0.5,
  ),
  lookBackMs: v.exactOptional(Duration, 5000),
  maxLookBackMs: v.exactOptional(Duration, 60_000),
  growStep: v.exactOptional(Count, 4),
  idleMs: v.exactOptional(Duration, 1000),
});

/**
 * Scales on the age of the oldest ready job, which means the same at any throughput.
 *
 * Rule `deadline` adds the workers that are missing when a job has waited, or is predicted to wait,
 * half of its lane's target, and shrinks to the peak concurrency of the last `lookBackMs`. While no
 * job has ended yet nothing can be predicted: it then grows by the jobs that have waited so long.
 * Rule `step` is that of the published autoscaling experiment: `growStep` more while the oldest job is over its target,
 * one less after `idleMs` of idleness.
 *
 * Where counts are stale it holds; where a start rate holds jobs back it does not grow.
 */
export const ageScaler: Plugin<"controller", AgeScalerOptions> = defineController({
  name: "age-scaler",
  reads: ["startWithinMs"],
  options: Options,
  variants: ({ rule, grow, lookBackMs, maxLookBackMs }) =>
    rule === "step" ? [] : [
      ...[0.25, 0.5, 0.75].filter((share) => share !== grow).map((share) => ({ grow: share })),
      { lookBackMs: lookBackMs / 2 },
      { lookBackMs: Math.min(maxLookBackMs, lookBackMs * 2) },
    ],
  create: ({ rule, growStep, idleMs, ...deadline }) => {
    if (rule === "step") {
      return stepRule({ growStep, idleMs, steers: causesGrowth, pressed: isOld });
    }
    if (deadline.maxLookBackMs < deadline.lookBackMs) {
      throw new OptionError(
        ["maxLookBackMs"],
        `Expected at least lookBackMs (${deadline.lookBackMs}) but received ${deadline.maxLookBackMs}`,
      );
    }
    return deadlineRule(deadline);
  },
});

function isOld(view: PoolView): string | undefined {
  for (const lane of view.lanes) {
    const { name, oldestWaitMs } = lane;
    const leftMs = timeLeftMs(lane, 1);
    if (leftMs !== undefined && leftMs < 0 && wantsWorkers(lane)) {
      return `${name}: oldest ${duration(oldestWaitMs)}, target ${duration(oldestWaitMs + leftMs)}`;
    }
  }
  return undefined;
}

/**
 * A receiver that says "not now".
 *
 * @module
 */

import { counted, duration } from "../../base/format.ts";
import type { History } from "../../planning/history.ts";
import type { Finding } from "./finding.ts";

/** The pool cools down. */
export function receiverRefuses({ samples }: History): readonly Finding[] {
  const last = samples.at(-1);
  if (last === undefined || last.holdUntilMs === 0) return [];
  const since = samples.findLast(({ holdUntilMs }) => holdUntilMs === 0) ?? samples[0]!;
  const forMs = last.atMs - since.atMs;
  const leftMs = Math.max(0, last.holdUntilMs - last.atMs);
  const refused = last.deferrals - since.deferrals;
  const ready = last.lanes.reduce((sum, lane) => sum + lane.ready, 0);
  const again = leftMs > 0 ? `in ${duration(leftMs)}` : "now";
  return [{
    code: "receiver-refuses",
    lane: undefined,
    saw:
      `For ${duration(forMs)} the receiver has said "not now", to ${
        counted(refused, "attempt")
      }: ` +
      `${counted(ready, "job")} ready, and one job tries again ${again}`,
    change:
      "Check why the receiver refuses: if it wants fewer calls, limit the rate with api-rate-cap; " +
      "if it is down, wait: the pool continues by itself",
    numbers: { refused, forMs, leftMs, ready },
  }];
}

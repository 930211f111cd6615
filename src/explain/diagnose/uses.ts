/**
 * Jobs that use downstreams otherwise than their pool says.
 *
 * @module
 */

import type { DownstreamUse } from "../../contract/view.ts";
import { counted } from "../../base/format.ts";
import type { History } from "../../planning/history.ts";
import { figure, type Finding, type Traits, type UseTraits } from "./finding.ts";
import { latest } from "./window.ts";

/** What is "now". */
const NOW_MS = 60_000;

/** Fewer attempts say nothing. */
const LEAST_ENDED = 20;

/** Off by this share is more than chance and what is on its way. */
const OFF = 0.1;

/** What is used against what `uses` says, for those whose handlers say what they use. */
export function usesDrift(history: History, { uses }: Traits): readonly Finding[] {
  const window = latest(history, NOW_MS);
  if (window === undefined) return [];
  const { first, last } = window;
  const ended = last.ended - first.ended;
  if (ended < LEAST_ENDED) return [];
  const busyMs = last.busyMs - first.busyMs;
  return last.used.flatMap((use): readonly Finding[] => {
    const before = first.used.find(({ downstream }) => downstream === use.downstream);
    const calls = use.calls - (before?.calls ?? 0);
    if (calls === 0) return [];
    const usedMs = use.ms - (before?.ms ?? 0);
    const failed = use.failed - (before?.failed ?? 0);
    const said = uses.get(use.downstream);
    const numbers = { calls, ended, usedMs, busyMs, failed, said: said?.each ?? 0 };
    return said === undefined ? [undeclared(use, numbers)] : drift(use, said, numbers);
  });
}

type Numbers = Readonly<
  Record<"calls" | "ended" | "usedMs" | "busyMs" | "failed" | "said", number>
>;

function undeclared({ downstream }: DownstreamUse, numbers: Numbers): Finding {
  return findingOf(numbers, {
    saw: `In ${counted(numbers.ended, "attempt")} jobs used downstream "${downstream}" ` +
      `${counted(numbers.calls, "time")}, which uses does not name: nothing bounds that`,
    change: `Name "${downstream}" in the uses of the pool, and in downstreams`,
  });
}

function drift({ downstream }: DownstreamUse, said: UseTraits, numbers: Numbers): Finding[] {
  const { calls, ended, usedMs, busyMs } = numbers;
  const found: Finding[] = [];
  const perJob = calls / ended;
  const held = busyMs > 0 ? usedMs / busyMs : 0;
  const needed = (used: number): number => Math.max(1, Math.ceil(used - OFF));
  const says = `uses.${downstream} says ${said.each}`;
  if (said.rates && (perJob > said.each * (1 + OFF) || needed(perJob * (1 + OFF)) < said.each)) {
    const what = perJob > said.each ? "its rates are exceeded" : "a part of its rates is unused";
    found.push(findingOf(numbers, {
      saw: `A job calls downstream "${downstream}" ${figure(perJob)} times, ${says}: ${what}`,
      change: `Set uses.${downstream} to ${needed(perJob)}`,
    }));
  }
  if (said.connections && held > said.each * (1 + OFF)) {
    found.push(findingOf(numbers, {
      saw: `A worker that runs a job holds ${figure(held)} connections of downstream ` +
        `"${downstream}", ${says}: more are in use than it allows`,
      change: `Set uses.${downstream} to ${needed(held)}`,
    }));
  }
  return found;
}

function findingOf(
  numbers: Numbers,
  { saw, change }: { readonly saw: string; readonly change: string },
): Finding {
  return { code: "uses-drift", lane: undefined, saw, change, numbers };
}

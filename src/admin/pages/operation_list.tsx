/**
 * Bulk work that runs or has just ended, with its progress.
 *
 * @module
 */

/** @jsxImportSource hono/jsx */

import { grouped } from "../../base/format.ts";
import type { FC } from "hono/jsx";
import { Act } from "./act.tsx";
import type { OperationJson } from "../http/wire.ts";

const DOES: Readonly<Record<OperationJson["action"], string>> = {
  retry: "Retry",
  discard: "Discard",
  purge: "Purge",
};

const DID: Readonly<Record<OperationJson["action"], string>> = {
  retry: "retried",
  discard: "discarded",
  purge: "cancelled",
};

const TONES: Readonly<Record<OperationJson["status"], string>> = {
  running: "mark plain",
  done: "mark good",
  cancelled: "mark",
  failed: "mark bad",
};

/** The list. Nothing without any. */
export function OperationList(
  { operations, writes }: { operations: readonly OperationJson[]; writes: boolean },
): ReturnType<FC> {
  if (operations.length === 0) return null;
  return (
    <section class="card" aria-labelledby="bulk-work">
      <h2 id="bulk-work">Bulk work</h2>
      <ul class="operations">
        {operations.map((operation) => (
          <li id={`operation-${operation.id}`} class="row">
            <span>{nameOf(operation)}</span>
            <span class={TONES[operation.status]}>{operation.status}</span>
            <progress
              max={Math.max(1, operation.total ?? operation.seen)}
              value={valueOf(operation)}
              aria-label={`Progress of: ${nameOf(operation)}`}
            />
            <span class="soft">{countsOf(operation)}</span>
            {writes && operation.status === "running" && <Cancel operation={operation} />}
          </li>
        ))}
      </ul>
    </section>
  );
}

const Cancel: FC<{ operation: OperationJson }> = ({ operation }) => (
  <Act
    method="DELETE"
    path={`/api/operations/${operation.id}`}
    ask={`Cancel this: ${nameOf(operation)}?`}
    more="What it has done so far is not undone."
    label="Cancel it"
    done="It is cancelled"
    danger
  >
    Cancel…
  </Act>
);

function nameOf({ action, pool, lane, match }: OperationJson): string {
  const inLane = lane === undefined ? "" : `, lane ${lane}`;
  const matching = match === undefined ? "" : `, with “${match}”`;
  return `${DOES[action]} in ${pool}${inLane}${matching}`;
}

/** `undefined`: how much there is to do is not known. */
function valueOf({ status, seen, total }: OperationJson): number | undefined {
  if (status === "done") return Math.max(1, total ?? seen);
  return total === undefined && status === "running" ? undefined : seen;
}

function countsOf({ action, seen, matched, changed }: OperationJson): string {
  const [all, some, done] = [seen, matched, changed].map(grouped);
  return `${all} looked at, ${some} matched, ${done} ${DID[action]}`;
}

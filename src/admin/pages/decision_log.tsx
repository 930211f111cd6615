/**
 * Decisions of a pool: each in a sentence, with what every strategy asked for and what bound it.
 *
 * @module
 */

/** @jsxImportSource hono/jsx */

import type { FC } from "hono/jsx";
import type { Decision } from "../../contract/decision.ts";
import { counted, duration, grouped } from "../../base/format.ts";
import { folded, type FoldedDecision } from "./decision_fold.ts";
import { Time } from "./time.tsx";

/** Decisions that the link to older ones asks for. */
const MORE = 1_000;

/** Most that are listed of those that kept a size. */
const MOST_OTHERS = 20;

/** The log, newest first. */
export function DecisionLog(
  { pool, log, hasMore }: { pool: string; log: readonly Decision[]; hasMore: boolean },
): ReturnType<FC> {
  if (log.length === 0) return <p class="card empty">It has made no decision yet.</p>;
  return (
    <div class="card log">
      <ol aria-label={`Decisions of ${pool}, newest first`}>
        {folded(log).map((entry) => <Entry entry={entry} />)}
      </ol>
      {hasMore && (
        <p>
          <a href={`?decisions=${MORE}#decisions`}>Older ones</a>
        </p>
      )}
    </div>
  );
}

const Entry: FC<{ entry: FoldedDecision }> = ({ entry: { key, shown: decision, others } }) => (
  <li data-key={key}>
    <details>
      <summary>
        <Line decision={decision} />
        {others.length > 0 && (
          <span class="soft">{` and ${grouped(others.length)} more that kept the size`}</span>
        )}
      </summary>
      <table class="proposals">
        <thead>
          <tr>
            <th scope="col">Asked by</th>
            <th scope="col">Workers</th>
            <th scope="col" class="text">Reason</th>
          </tr>
        </thead>
        <tbody>
          {decision.proposals.map((part, index) => (
            <tr data-key={String(index)}>
              <th scope="row">
                {part.by} <span class="soft">{part.kind}</span>
              </th>
              <td>{Number.isFinite(part.workers) ? part.workers : "no bound"}</td>
              <td class="text wrap">{part.reason}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <p class="soft">{inputsOf(decision)}</p>
      {decision.latest !== undefined && decision.untilMs > decision.atMs && (
        <p class="soft">
          Unchanged until <Time atMs={decision.untilMs} />: {decision.latest}
        </p>
      )}
      {others.length > 0 && (
        <ol class="others" aria-label="Others that kept the size">
          {others.slice(0, MOST_OTHERS).map((other) => (
            <li data-key={keyOf(other)}>
              <Line decision={other} />
            </li>
          ))}
          {others.length > MOST_OTHERS && (
            <li class="soft">{`and ${others.length - MOST_OTHERS} before`}</li>
          )}
        </ol>
      )}
    </details>
  </li>
);

const Line: FC<{ decision: Decision }> = ({ decision }) => (
  <>
    <Time atMs={decision.atMs} /> <strong>{changeOf(decision)}</strong>{" "}
    <span class="chip">{boundOf(decision.boundBy)}</span>{" "}
    <span class="sentence">{decision.sentence}</span>
  </>
);

/** Several decisions may be made within one ms. */
function keyOf({ atMs, from, to, boundBy }: Decision): string {
  return `${atMs} ${from} ${to} ${boundBy}`;
}

function changeOf({ from, to }: Decision): string {
  if (from === to) return `stays at ${to}`;
  return `${from} → ${to}`;
}

function boundOf(boundBy: string): string {
  if (boundBy === "controller") return "as asked";
  return `bound by ${boundBy.replace(/^(cap|downstream):/, "$1 ")}`;
}

function inputsOf({ inputs, retire }: Decision): string {
  const { ready, blocked, oldestWaitMs, busy, live, starting, retiring, stuck } = inputs;
  const parts = [
    `${grouped(ready)} ready`,
    blocked > 0 && `${grouped(blocked)} blocked`,
    `oldest wait ${duration(oldestWaitMs)}`,
    `${grouped(busy)} of ${counted(live, "worker")} busy`,
    starting > 0 && `${starting} starting`,
    retiring > 0 && `${retiring} retiring`,
    stuck > 0 && `${stuck} stuck`,
    retire.length > 0 && `${retire.length} asked to stop`,
  ];
  return `At that time: ${parts.filter((part) => part !== false).join(", ")}.`;
}

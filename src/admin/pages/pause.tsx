/**
 * Buttons that pause and resume a pool or a lane.
 *
 * @module
 */

/** @jsxImportSource hono/jsx */

import type { FC } from "hono/jsx";
import { shellWord } from "../../base/shell_word.ts";
import type { LaneView } from "../../contract/view.ts";
import { Act } from "./act.tsx";
import type { ShownPool } from "./pool_state.tsx";

/** Pauses a pool, or resumes it. */
export function PausePool({ pool }: { pool: ShownPool }): ReturnType<FC> {
  const verb = pool.paused ? "resume" : "pause";
  const title = pool.paused ? "Resume" : "Pause";
  return (
    <Act
      path={`/api/pools/${encodeURIComponent(pool.pool)}/${verb}`}
      body={{}}
      ask={`${title} pool "${pool.pool}"?`}
      more={pool.paused
        ? "Its jobs start again."
        : "No job starts until it is resumed. Running jobs continue, and new jobs are accepted."}
      cli={`sluice pools ${verb} ${shellWord(pool.pool)}`}
      done={pool.paused ? `Pool "${pool.pool}" is resumed` : `Pool "${pool.pool}" is paused`}
    >
      {title}
    </Act>
  );
}

/** Pauses a lane, or resumes it. */
export function PauseLane(
  { pool, lane: { name, paused } }: { pool: string; lane: LaneView },
): ReturnType<FC> {
  const verb = paused ? "resume" : "pause";
  const title = paused ? "Resume" : "Pause";
  return (
    <Act
      path={`/api/pools/${encodeURIComponent(pool)}/${verb}`}
      body={{ lane: name }}
      ask={`${title} lane "${name}" of pool "${pool}"?`}
      more={paused
        ? "Its jobs start again."
        : "None of its jobs starts until it is resumed. Running jobs continue, and new jobs are accepted."}
      cli={`sluice pools ${verb} ${shellWord(pool)} --lane ${shellWord(name)}`}
      done={paused ? `Lane "${name}" is resumed` : `Lane "${name}" is paused`}
      name={`${title} lane ${name}`}
    >
      {title}
    </Act>
  );
}

/**
 * What can be done with a pool from its page.
 *
 * @module
 */

/** @jsxImportSource hono/jsx */

import type { FC } from "hono/jsx";
import { breakerText } from "../../explain/reason.ts";
import { shellWord } from "../../base/shell_word.ts";
import { Act } from "./act.tsx";
import { PausePool } from "./pause.tsx";
import type { ShownPool } from "./pool_state.tsx";
import { Time } from "./time.tsx";

/** Pause or resume, override, drain. `most`: what the config allows. */
export function PoolActions(
  { base, pool, most }: { base: string; pool: ShownPool; most: number },
): ReturnType<FC> {
  return (
    <span class="row push" role="group" aria-label={`Actions on ${pool.pool}`}>
      <a
        class="button small scripted"
        href={`${base}/pools/${encodeURIComponent(pool.pool)}/enqueue`}
      >
        Enqueue…
      </a>
      <PausePool pool={pool} />
      <button
        type="button"
        class="small scripted"
        aria-haspopup="dialog"
        data-override={pool.pool}
        data-min={pool.size.min}
        data-max={pool.size.max}
        data-most={most}
      >
        Override…
      </button>
      <Act
        path={`${pathOf(pool)}/drain`}
        body={{}}
        ask={`Drain pool "${pool.pool}"?`}
        more={"It accepts and starts no more jobs. Running jobs may end; what has not ended " +
          "within drainMs goes back to its lane. Only a restart of the process ends this."}
        cli={`sluice pools drain ${shellWord(pool.pool)}`}
        label="Drain"
        done={`Pool "${pool.pool}" is drained`}
        danger
      >
        Drain…
      </Act>
    </span>
  );
}

/** The bounds in effect instead of the config's, and how to end them. */
export function OverrideNotice(
  { pool, writes }: { pool: ShownPool; writes: boolean },
): ReturnType<FC> {
  if (pool.override === undefined) return null;
  const { untilMs, ...bounds } = pool.override;
  const said = Object.entries(bounds).map(([name, value]) => `${name} ${value}`).join(", ");
  return (
    <p class="meaning" id="override">
      <strong>overridden:</strong> {said} until <Time atMs={untilMs} />. {writes && (
        <Act
          method="DELETE"
          path={`${pathOf(pool)}/override`}
          ask={`End the override of pool "${pool.pool}"?`}
          more="The bounds of the config apply again, and the controller decides."
          cli={`sluice pools scale ${shellWord(pool.pool)} --clear`}
          done={`Pool "${pool.pool}" has the bounds of its config`}
        >
          End it
        </Act>
      )}
    </p>
  );
}

/** The circuit breakers that are not closed, and how to close them. */
export function BreakerNotice(
  { pool, writes }: { pool: ShownPool; writes: boolean },
): ReturnType<FC> {
  const { breakers, openKeys } = pool;
  if (breakers.length === 0) return null;
  const shown = breakers.filter(({ key }) => key !== undefined).length;
  return (
    <ul class="meanings" id="breakers" aria-label="Circuit breakers that are not closed">
      {breakers.map((breaker) => (
        <li data-key={breaker.key ?? "the pool"} class="meaning">
          {breakerText(breaker, pool.nowMs)}.{" "}
          {writes && <CloseBreaker pool={pool} of={breaker.key} />}
        </li>
      ))}
      {openKeys > shown && <li class="meaning">And {openKeys - shown} more keys.</li>}
    </ul>
  );
}

const CloseBreaker: FC<{ pool: ShownPool; of: string | undefined }> = ({ pool, of: key }) => {
  const whose = key === undefined ? `pool "${pool.pool}"` : `key "${key}"`;
  const option = key === undefined ? "" : ` --key ${shellWord(key)}`;
  return (
    <Act
      path={`${pathOf(pool)}/close-breaker`}
      body={key === undefined ? {} : { key }}
      ask={`Close the circuit breaker of ${whose}?`}
      more="One job starts in each process, then two at once, then four. It opens again if the receiver refuses them."
      cli={`sluice pools close-breaker ${shellWord(pool.pool)}${option}`}
      done={`Jobs of ${whose} start again`}
      name={`Close the circuit breaker of ${whose}`}
    >
      Close
    </Act>
  );
};

function pathOf({ pool }: ShownPool): string {
  return `/api/pools/${encodeURIComponent(pool)}`;
}

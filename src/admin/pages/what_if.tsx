/**
 * "What if?" on a pool's page: the last minutes, played again with a change.
 *
 * @module
 */

/** @jsxImportSource hono/jsx */

import type { FC } from "hono/jsx";
import { shellWord } from "../../base/shell_word.ts";
import type { ShownPool } from "./pool_state.tsx";

/** The form. Its answer is drawn by `what_if.js`. */
export function WhatIf({ pool }: { pool: ShownPool }): ReturnType<FC> {
  return (
    <section class="scripted" aria-labelledby="what-if">
      <h2 id="what-if">What if?</h2>
      <form
        data-keep
        id="what-if-form"
        class="row"
        data-path={`/api/pools/${encodeURIComponent(pool.pool)}/whatif`}
      >
        <label>
          Change{" "}
          <input
            name="changes"
            required
            size={36}
            value={`size.max=${pool.size.max * 2}`}
            aria-describedby="what-if-help"
            spellcheck={false}
            autocomplete="off"
          />
        </label>
        <button type="submit">Simulate</button>
      </form>
      <p id="what-if-help" class="soft">
        Plays the last ten minutes in the simulator. Keys as in the config, several with spaces
        between them: <code>lanes.{pool.lanes[0]?.name}.targetWaitMs=100</code>. In a shell:{" "}
        <code>sluice whatif {shellWord(pool.pool)} size.max={pool.size.max * 2}</code>
      </p>
      <div id="what-if-answer" role="status" data-keep></div>
    </section>
  );
}

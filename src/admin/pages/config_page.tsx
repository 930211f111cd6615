/**
 * The page of the config in effect: its plugins, its text, and a reload that says first what it would change.
 *
 * @module
 */

/** @jsxImportSource hono/jsx */

import { type Context, Hono } from "hono";
import type { BlankEnv } from "hono/types";
import type { FC } from "hono/jsx";
import type { PluginJson } from "../http/wire.ts";
import type { AdminContext } from "../api/context.ts";
import { textOf } from "./job_state.tsx";
import { Effective } from "./effective.tsx";
import { answerPage, frameOf, Layout, mayWrite } from "./layout.tsx";
import { allPlugins } from "../api/system.ts";

/**
 * Makes the route.
 *
 * @internal
 */
export function configPageRoutes(context: AdminContext): Hono<BlankEnv> {
  return new Hono().get("/config", (c) => show(c, context));
}

function show(c: Context, context: AdminContext): Response | Promise<Response> {
  const frame = frameOf(c, context);
  const plugins = allPlugins(context);
  return answerPage(
    c,
    <Layout
      {...frame}
      title="Config"
      place="config"
      scripts={["reload.js"]}
      beside={mayWrite(frame.actor) && (
        <button
          type="button"
          id="reload"
          class="small scripted push"
          aria-haspopup="dialog"
        >
          Reload…
        </button>
      )}
    >
      {["", ...context.sluice.pools.map(({ name }) => name)].map((pool) => (
        <section class="card" aria-label={pool === "" ? "Store" : `Pool ${pool}`}>
          <h2>
            {pool === ""
              ? "Store"
              : <a href={`${frame.base}/pools/${encodeURIComponent(pool)}`}>{pool}</a>}
          </h2>
          <Effective settings={context.target(pool)?.handle.settings} />
          <Plugins
            pool={pool}
            plugins={plugins.filter((plugin) =>
              plugin.pool === pool
            )}
          />
        </section>
      ))}
      <section class="card" aria-labelledby="text">
        <h2 id="text">As given</h2>
        <p class="soft">
          Secrets are shown as the names of their variables; fields listed under “redact” are
          hidden. Keys that are left out have their defaults.
        </p>
        <pre
          tabindex={0}
          role="region"
          aria-label="Config"
        >{textOf(context.show(context.sluice.config))}</pre>
      </section>
    </Layout>,
  );
}

const Plugins: FC<{ pool: string; plugins: readonly PluginJson[] }> = ({ pool, plugins }) => (
  <div
    class="scroll"
    tabindex={0}
    role="region"
    aria-label={pool === "" ? "Plugin of the store" : `Plugins of pool ${pool}`}
  >
    <table class="plugins">
      <thead>
        <tr>
          <th scope="col">Kind</th>
          <th scope="col" class="text">Plugin</th>
          <th scope="col" class="text">Options as given</th>
          <th scope="col" class="text">Options that it accepts</th>
        </tr>
      </thead>
      <tbody>
        {plugins.map((plugin) => (
          <tr>
            <th scope="row">{plugin.kind}</th>
            <td class="text">
              {plugin.name}
              {plugin.type !== undefined && <span class="soft">for {plugin.type}</span>}
            </td>
            <td class="text">
              {isNone(plugin.with)
                ? <span class="soft">none</span>
                : <code class="options">{textOf(plugin.with)}</code>}
            </td>
            <td class="text">
              <Takes plugin={plugin} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  </div>
);

/** What the options of a plugin may be, folded. */
const Takes: FC<{ plugin: PluginJson }> = ({ plugin }) => {
  const schema = plugin.options as { readonly properties?: object }; // a JSON Schema
  const names = Object.keys(schema.properties ?? {});
  if (names.length === 0) return <span class="soft">none</span>;
  const label = `Schema of ${plugin.kind} ${plugin.name}`;
  return (
    <details>
      <summary>{names.join(", ")}</summary>
      <pre tabindex={0} role="region" aria-label={label}>{textOf(plugin.options)}</pre>
    </details>
  );
};

function isNone(given: unknown): boolean {
  return given === undefined || (typeof given === "object" && given !== null &&
    Object.keys(given).length === 0);
}

/**
 * Routes of the documentation: the OpenAPI document, and a page made of it.
 *
 * @module
 */

/** @jsxImportSource hono/jsx */

import { Hono } from "hono";
import type { BlankEnv } from "hono/types";
import type { FC } from "hono/jsx";
import type { AdminContext } from "../api/context.ts";
import { answerPage, frameOf, type FrameProps, Layout } from "../pages/layout.tsx";
import { baseOf } from "../http/origin.ts";
import { answer } from "../http/problem.ts";
import { openApi } from "./document.ts";
import { type Endpoint, endpoints } from "./endpoints.ts";

/**
 * Makes the routes.
 *
 * @internal
 */
export function openApiRoutes(context: AdminContext): Hono<BlankEnv> {
  return new Hono()
    .get("/openapi.json", (c) => answer(openApi(baseOf(c)), 200))
    .get("/docs", (c) => answerPage(c, <Docs {...frameOf(c, context)} />));
}

const Docs: FC<FrameProps> = ({ base, actor }) => {
  const { components: { schemas } } = openApi(base);
  const tags = [...new Set(endpoints.map(({ tag }) => tag))];
  return (
    <Layout base={base} actor={actor} title="Admin API">
      <p>
        Each route, what it takes and what it answers. Programs read{" "}
        <a href={`${base}/openapi.json`}>openapi.json</a>. Send a token as{" "}
        <code>Authorization: Bearer TOKEN</code>; the viewer token may only read. Faults are{" "}
        <code>application/problem+json</code>.
      </p>
      <nav aria-label="Contents">
        <ul class="row">
          {[...tags, "Shapes"].map((tag) => (
            <li>
              <a href={`#${tag}`}>{tag}</a>
            </li>
          ))}
        </ul>
      </nav>
      {tags.map((tag) => (
        <section id={tag} aria-label={tag}>
          <h2>{tag}</h2>
          {endpoints.filter((endpoint) => endpoint.tag === tag).map((endpoint) => (
            <Route endpoint={endpoint} />
          ))}
        </section>
      ))}
      <section id="Shapes" aria-label="Shapes">
        <h2>Shapes</h2>
        {Object.entries(schemas).map(([name, schema]) => (
          <details id={`shape-${name}`} class="pool">
            <summary>{name}</summary>
            <pre tabindex={0}>{JSON.stringify(schema, null, 2)}</pre>
          </details>
        ))}
      </section>
    </Layout>
  );
};

const Route: FC<{ endpoint: Endpoint }> = ({ endpoint }) => (
  <section class="pool" aria-label={`${endpoint.method.toUpperCase()} ${endpoint.path}`}>
    <h3>
      <code>
        {endpoint.method.toUpperCase()} {endpoint.path}
      </code>
    </h3>
    <p>{endpoint.summary}.</p>
    {endpoint.description !== undefined && <p class="soft">{endpoint.description}</p>}
    <dl>
      {Object.entries({ ...endpoint.query, ...endpoint.headers }).map(([name, text]) => (
        <Entry name={name} text={text} />
      ))}
    </dl>
    {endpoint.body !== undefined && (
      <p>
        Takes <Shape name={endpoint.body} />
        {endpoint.many === true && " or a list of them"}
      </p>
    )}
    <p>
      Answers {Object.entries(endpoint.answers).map(([status, name], index) => (
        <>
          {index > 0 && ", "}
          {status} {name.includes("/") ? <code>{name}</code> : <Shape name={name} />}
        </>
      ))}
      {(endpoint.problems ?? []).length > 0 && (
        <span class="soft">; problems {endpoint.problems?.join(", ")}</span>
      )}
      {endpoint.open === true && <span class="soft">; no token needed</span>}
    </p>
  </section>
);

const Entry: FC<{ name: string; text: string }> = ({ name, text }) => (
  <>
    <dt>
      <code>{name}</code>
    </dt>
    <dd>{text}</dd>
  </>
);

const Shape: FC<{ name: string }> = ({ name }) => <a href={`#shape-${name}`}>{name}</a>;

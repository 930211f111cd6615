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
import { type Message, openApi, type RouteDoc, routeDocs, type Schema } from "./document.ts";

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
  const routes = routeDocs();
  const tags = [...new Set(routes.flatMap((route) => route.tags))];
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
          {routes.filter((route) => route.tags.includes(tag)).map((route) => <Route {...route} />)}
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

const Route: FC<RouteDoc> = (
  { method, path, summary, description, parameters = [], requestBody, responses, security },
) => {
  const answers = Object.entries(responses);
  const problems = answers.filter(([, { $ref }]) => $ref !== undefined).map(([status]) => status);
  return (
    <section class="pool" aria-label={`${method} ${path}`}>
      <h3>
        <code>{method} {path}</code>
      </h3>
      <p>{summary}.</p>
      {description !== undefined && <p class="soft">{description}</p>}
      <dl>
        {parameters.filter((parameter) => parameter.in !== "path").map((parameter) => (
          <>
            <dt>
              <code>{parameter.name}</code>
            </dt>
            <dd>{parameter.description}</dd>
          </>
        ))}
      </dl>
      {requestBody !== undefined && (
        <p>
          Takes <Shapes of={requestBody} />
        </p>
      )}
      <p>
        Answers {answers.filter(([status]) => !problems.includes(status)).map(
          ([status, answer], index) => (
            <>
              {index > 0 && ", "}
              {status} <Shapes of={answer} />
            </>
          ),
        )}
        <span class="soft">; problems {problems.join(", ")}</span>
        {security?.length === 0 && <span class="soft">; no token needed</span>}
      </p>
    </section>
  );
};

/** What goes over the wire, with links to its shapes. */
const Shapes: FC<{ of: Message }> = ({ of: { content = {} } }) => (
  <>
    {Object.entries(content).map(([media, { schema }]) =>
      media === "application/json"
        ? (schema.oneOf ?? schema.anyOf ?? [schema]).map((part, index) => (
          <>
            {index > 0 && " or "}
            <Shape schema={part} />
          </>
        ))
        : <code>{media}</code>
    )}
  </>
);

const Shape: FC<{ schema: Schema }> = ({ schema: { $ref = "", items } }) => {
  if (items !== undefined) {
    return (
      <>
        a list of <Shape schema={items} />
      </>
    );
  }
  const name = $ref.slice($ref.lastIndexOf("/") + 1);
  return <a href={`#shape-${name}`}>{name}</a>;
};

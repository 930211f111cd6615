/**
 * What a browser shows of a request that the guard does not let in: programs get the problem itself.
 *
 * @module
 */

/** @jsxImportSource hono/jsx */

import type { Context } from "hono";
import type { Child, FC } from "hono/jsx";
import type { Problem } from "../http/wire.ts";
import { answerPage, Layout } from "./layout.tsx";
import { baseOf, hostHeader, isForPeople, placeOf } from "../http/origin.ts";

/** Statuses that the guard refuses with. */
type RefusalStatus = 401 | 403 | 421;

const TITLES: Readonly<Record<RefusalStatus, string>> = {
  401: "Access denied",
  403: "Only this machine has access",
  421: "This host name is not allowed",
};

/** Answers with what the guard says: to people on a page, with what to do. */
export function refused(refusal: Response, c: Context): Response | Promise<Response> {
  const { status } = refusal;
  if (!isForPeople(c) || !isRefusal(status)) return refusal;
  return refusalPage(refusal, c, status);
}

async function refusalPage(
  refusal: Response,
  c: Context,
  status: RefusalStatus,
): Promise<Response> {
  const { detail } = await refusal.json() as Problem; // all that the guard refuses with
  const base = baseOf(c);
  const challenge = refusal.headers.get("www-authenticate");
  return await answerPage(
    c,
    <Layout base={base} title={TITLES[status]}>
      <p class="card empty" role="alert">{detail}.</p>
      <WhatToDo c={c} base={base} status={status} />
    </Layout>,
    status,
    challenge === null ? {} : { "www-authenticate": challenge },
  );
}

function isRefusal(status: number): status is RefusalStatus {
  return status in TITLES;
}

const WhatToDo: FC<{ c: Context; base: string; status: RefusalStatus }> = (props) => {
  const { c, base, status } = props;
  if (status === 401) {
    return (
      <p>
        Something on the way sends an <code>Authorization</code>{" "}
        header in your name: without it you can <a href={`${base}/login`}>log in here</a>.
      </p>
    );
  }
  if (status === 421) {
    const { pathname, search } = placeOf(c);
    const here = `http://${localHost(hostHeader(c))}${pathname}${search}`;
    return (
      <>
        <p>
          On the machine where it runs, open <a href={here}>{here}</a>.
        </p>
        <Steps name="Or allow this name in the config:">{ALLOWED_HOSTS}</Steps>
      </>
    );
  }
  return (
    <>
      <Steps name="To connect from another machine, set a token in the config and restart:">
        {TOKENS}
      </Steps>
      <p class="soft">
        Or open it through a tunnel: <code>ssh -L 8787:127.0.0.1:8787 MACHINE</code>, then{" "}
        <code>http://127.0.0.1:8787</code>.
      </p>
    </>
  );
};

const Steps: FC<{ name: string; children?: Child }> = ({ name, children }) => (
  <>
    <p>{name}</p>
    <pre><code>{children}</code></pre>
  </>
);

const TOKENS = `"admin": { "tokens": { "admin": { "env": "SLUICE_TOKEN" } } }`;
const ALLOWED_HOSTS = `"admin": { "allowedHosts": ["NAME"] }`;

/** The same port of this machine. */
function localHost(host: string): string {
  return `127.0.0.1${/:\d+$/.exec(host)?.[0] ?? ""}`;
}

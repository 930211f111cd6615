/**
 * Login with a token, and logout: for browsers, which cannot send a token with an event stream.
 *
 * @module
 */

/** @jsxImportSource hono/jsx */

import { type Context, Hono } from "hono";
import { deleteCookie, setCookie } from "hono/cookie";
import type { BlankEnv } from "hono/types";
import type { FC } from "hono/jsx";
import { isRecord } from "../../config/faults.ts";
import { from, peerOf } from "../access/actor.ts";
import type { SessionEndpoints } from "../http/endpoints.ts";
import { audit, auditAs } from "../api/audit.ts";
import { readText } from "../http/body.ts";
import type { BodyReads } from "../http/reads.ts";
import type { AdminContext } from "../api/context.ts";
import type { Handlers } from "../api/route.ts";
import { answerPage, Layout } from "./layout.tsx";
import { LoginLimit } from "../access/login_limit.ts";
import { baseOf, isSameOrigin, loginPath, pageAfterLogin } from "../http/origin.ts";
import { API_HEADERS, problem } from "../http/problem.ts";
import { SESSION_COOKIE, SESSION_MS, type Sessions } from "../access/session.ts";
import { type Role, tokenMatcher, type Tokens } from "../access/tokens.ts";

/** Longest body of a login, bytes. */
const MAX_BODY_BYTES = 4_096;

const FOREIGN = "Another site made this request: log in on this site's own page";
const UNKNOWN = "Unknown token: check it against the config";

/**
 * Makes the route of the page.
 *
 * @internal
 */
export function loginPageRoutes(): Hono<BlankEnv> {
  return new Hono()
    .get("/login", (c) => answerPage(c, <Login base={baseOf(c)} next={nextOf(c)} />));
}

/** Handlers of login and logout. */
export function loginHandlers(
  tokens: Tokens,
  sessions: Sessions,
  context: AdminContext,
): Handlers<SessionEndpoints> {
  const roleOf = tokenMatcher(tokens);
  const limit = new LoginLimit();
  return {
    "POST /login": async (c) => {
      if (isForeign(c)) return refuse(c, 403, FOREIGN);
      const address = peerOf(c.env) ?? "unknown";
      const nowMs = context.clock.nowMs();
      const waitMs = limit.waitMs(address, nowMs);
      if (waitMs > 0) return tooOften(c, waitMs);
      const role = roleOf(await readToken(c, context.body.reads) ?? "");
      if (role !== undefined) return logIn(c, role);
      limit.failed(address, nowMs);
      context.log.warn("A login was refused", { from: address });
      return refuse(c, 401, UNKNOWN, { "www-authenticate": 'Bearer realm="sluice"' });
    },
    "POST /logout": (c) => {
      const actor = context.identify(c);
      if (isForeign(c)) return refuse(c, 403, FOREIGN);
      if (actor?.session !== undefined) {
        audit(c, context, { pool: "", action: "logout" });
        sessions.close(actor.session, context.clock.nowMs());
      }
      deleteCookie(c, SESSION_COOKIE, { path: baseOf(c) || "/" });
      return isForm(c)
        ? c.redirect(`${baseOf(c)}/login`, 303)
        : c.body(JSON.stringify({ loggedOut: true }), 200, API_HEADERS);
    },
  };

  function logIn(c: Context, role: Role): Response {
    const { session, cookie } = sessions.open(role, context.clock.nowMs());
    const who = `${role} by session ${session.id}${from(c)}`;
    auditAs(who, context, { pool: "", action: "login" });
    const secure = c.req.url.startsWith("https:") ||
      c.req.header("x-forwarded-proto")?.split(",")[0]?.trim() === "https";
    setCookie(c, SESSION_COOKIE, cookie, {
      path: baseOf(c) || "/",
      httpOnly: true,
      sameSite: "Strict",
      secure,
      maxAge: SESSION_MS / 1_000,
    });
    return isForm(c)
      ? c.redirect(nextOf(c), 303)
      : c.body(JSON.stringify({ role, untilMs: session.untilMs }), 200, API_HEADERS);
  }
}

interface LoginProps {
  readonly base: string;
  /** The page that is shown then. */
  readonly next: string;
  readonly fault?: string | undefined;
}

const Login: FC<LoginProps> = ({ base, next, fault }) => (
  <Layout base={base} title="Log in">
    <form class="login" method="post" action={loginPath(base, next)}>
      <label for="token">Token</label>
      <input
        id="token"
        name="token"
        type="password"
        autocomplete="current-password"
        required
        autofocus
        aria-describedby={fault === undefined ? "hint" : "fault hint"}
        aria-invalid={fault === undefined ? undefined : "true"}
      />
      {fault !== undefined && <p id="fault" class="late" role="alert">{fault}</p>}
      <p id="hint" class="soft">The admin or the viewer token of the config.</p>
      <button type="submit" class="primary">Log in</button>
    </form>
  </Layout>
);

function refuse(
  c: Context,
  status: 401 | 403 | 429,
  detail: string,
  headers: Readonly<Record<string, string>> = {},
): Response | Promise<Response> {
  if (!isForm(c)) return problem(status, detail, { headers });
  return answerPage(
    c,
    <Login base={baseOf(c)} next={nextOf(c)} fault={detail} />,
    status,
    headers,
  );
}

/** The page that is shown after the login. */
function nextOf(c: Context): string {
  return pageAfterLogin(c.req.query("next"), baseOf(c));
}

function tooOften(c: Context, waitMs: number): Response | Promise<Response> {
  const seconds = Math.ceil(waitMs / 1_000);
  const detail = `Too many logins failed: try again in ${seconds} s`;
  return refuse(c, 429, detail, { "retry-after": `${seconds}` });
}

/** True if a browser says that a page of another site made the request. Programs say nothing. */
function isForeign(c: Context): boolean {
  const { headers } = c.req.raw;
  return (headers.has("origin") || headers.has("sec-fetch-site")) && !isSameOrigin(c);
}

function isForm(c: Context): boolean {
  return c.req.header("content-type")?.startsWith("application/x-www-form-urlencoded") === true;
}

async function readToken(c: Context, reads: BodyReads): Promise<string | undefined> {
  const read = await reads.of(readText(c.req.raw.body, MAX_BODY_BYTES));
  const { text: body = "" } = read ?? {};
  if (isForm(c)) return new URLSearchParams(body).get("token") ?? undefined;
  try {
    const value: unknown = JSON.parse(body);
    return isRecord(value) && typeof value["token"] === "string" ? value["token"] : undefined;
  } catch {
    return undefined; // not JSON: there is no token in it
  }
}

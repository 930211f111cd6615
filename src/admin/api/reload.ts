/**
 * The route that loads the config anew.
 *
 * @module
 */

import { type Context, Hono } from "hono";
import type { BlankEnv } from "hono/types";
import type { ConfigInput } from "../../config/input.ts";
import { display, isRecord, unknownKey } from "../../config/faults.ts";
import { ConfigError } from "../../contract/errors.ts";
import type { ReloadReport } from "../../runtime/handles.ts";
import type { ProblemError } from "../http/wire.ts";
import { audit } from "./audit.ts";
import { readJson } from "../http/body.ts";
import type { AdminContext } from "./context.ts";
import { answer, badRequest, queryFaults } from "../http/problem.ts";

/**
 * Makes the route. A body is a config in place of the file, and brings no code: it may only name
 * modules that are loaded already and variables that are referred to already.
 *
 * @internal
 */
export function reloadRoutes(context: AdminContext): Hono<BlankEnv> {
  return new Hono().post("/api/reload", (c) => reload(c, context));
}

async function reload(c: Context, context: AdminContext): Promise<Response> {
  const dryRun = readFlag(c.req.query("dryRun"));
  const unknown = queryFaults(c, ["dryRun"]);
  if (typeof dryRun !== "boolean") return badRequest([dryRun, ...unknown]);
  if (unknown.length > 0) return badRequest(unknown);
  const body = await readJson(c.req.raw, { ...context.body, fallback: {} });
  if (!body.ok) return body.refusal;
  const errors = faultsOf(body.value);
  if (errors.length > 0) return badRequest(errors);
  const given = isRecord(body.value) ? body.value["config"] : undefined;
  const config = given as ConfigInput | undefined; // checked by the reload itself
  let report: ReloadReport;
  try {
    report = await context.sluice.reload(config, { dryRun, sealed: config !== undefined });
  } catch (thrown) {
    if (!(thrown instanceof ConfigError)) throw thrown;
    return badRequest(
      thrown.faults.map(({ pointer, message, file, line, column }) => ({
        pointer: given === undefined ? pointer : `/config${pointer}`,
        detail: message,
        file,
        line,
        column,
      })),
      thrown.more,
    );
  }
  if (!dryRun) audit(c, context, { pool: "", action: "reload", after: report.changes });
  return answer(context.show(report), 200);
}

function readFlag(given: string | undefined): boolean | ProblemError {
  if (given === undefined || given === "0" || given === "false") return false;
  if (given === "1" || given === "true") return true;
  const detail = `Expected dryRun to be 1 or 0 but received ${display(given)}`;
  return { pointer: "?dryRun", detail };
}

function faultsOf(body: unknown): readonly ProblemError[] {
  if (!isRecord(body)) {
    return [{ pointer: "", detail: `Expected { "config": … } but received ${display(body)}` }];
  }
  const unknown = Object.keys(body).filter((key) => key !== "config").map((key) => ({
    pointer: `/${key}`,
    detail: unknownKey(key, ["config"]),
  }));
  if (unknown.length > 0 || body["config"] === undefined || isRecord(body["config"])) {
    return unknown;
  }
  // A text would be read as a path.
  const detail = `Expected a config but received ${display(body["config"])}`;
  return [{ pointer: "/config", detail }];
}

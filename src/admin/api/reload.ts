/**
 * The endpoint that reloads the config.
 *
 * @module
 */

import type { ConfigInput } from "../../config/input.ts";
import { display, isRecord, unknownKey } from "../../config/faults.ts";
import { ConfigError } from "../../contract/errors.ts";
import type { ReloadReport } from "../../runtime/handles.ts";
import type { SystemEndpoints } from "../http/endpoints.ts";
import type { ProblemError } from "../http/wire.ts";
import { audit } from "./audit.ts";
import { readJson } from "../http/body.ts";
import type { AdminContext } from "./context.ts";
import { answer, badRequest } from "../http/problem.ts";
import { flag } from "./query.ts";
import type { Answered, Exchange, Handlers } from "./route.ts";

/**
 * Handler of the reload. A body is a config in place of the file, and brings no code: it may only name
 * modules that are loaded already and variables that are referred to already.
 */
export function reloadHandlers(
  context: AdminContext,
): Pick<Handlers<SystemEndpoints>, "POST /api/reload"> {
  return {
    "POST /api/reload": { query: { dryRun: flag }, run: (asked) => reload(asked, context) },
  };
}

async function reload(
  { c, query: { dryRun = false } }: Exchange<"POST /api/reload">,
  context: AdminContext,
): Promise<Answered<"POST /api/reload">> {
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
  return answer(context.show(report) as ReloadReport, 200);
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

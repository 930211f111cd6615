/**
 * The admin API: a Hono app over a running config, to be served on its own or mounted in another.
 *
 * @module
 */

export type { AdminSettings, AlertSettings } from "../config/settings.ts";
export { admin, type AdminApp, type AdminOptions } from "./app.ts";
export type {
  Accepted,
  BulkAccepted,
  BulkResult,
  ChangedJson,
  DecisionJson,
  DecisionPartJson,
  EventJson,
  LaneJson,
  LoginJson,
  OperationJson,
  OperationRequest,
  OverrideBody,
  OverrideJson,
  PausedJson,
  PluginJson,
  PoolJson,
  Problem,
  ProblemError,
  Readiness,
  SignalJson,
} from "./http/wire.ts";
export type { JobPageJson } from "./http/wire_lists.ts";
export { type AdminServer, serveAdmin } from "./server/serve.ts";

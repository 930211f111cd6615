/**
 * Writes down who changed what: an event for observers, a line in the log.
 *
 * @module
 */

import type { Context } from "hono";
import type { AuditEntry } from "../../contract/event.ts";
import type { AdminContext } from "./context.ts";

/** Writes down a change that a request made. Redacted fields are hidden. */
export function audit(c: Context, context: AdminContext, entry: Omit<AuditEntry, "who">): void {
  auditAs(context.identify(c)?.who ?? "unknown", context, entry);
}

/** Writes down a change that someone made. */
export function auditAs(who: string, context: AdminContext, entry: Omit<AuditEntry, "who">): void {
  const { pool, action, target, before, after } = entry;
  const shown = {
    pool,
    who,
    action,
    ...(target === undefined ? {} : { target }),
    ...(before === undefined ? {} : { before: context.show(before) }),
    ...(after === undefined ? {} : { after: context.show(after) }),
  };
  context.log.info("Changed through the admin API", shown);
  context.sluice.audit(shown);
}

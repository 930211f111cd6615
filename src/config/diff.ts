/**
 * What differs between two configs, slot by slot, and how each difference takes hold.
 *
 * @module
 */

import type { ConfigChange } from "../contract/event.ts";
import type { AdminSettings, Settings } from "./settings.ts";
import { diffPool } from "./diff_pool.ts";
import { changesOf, differs, sameBound, shownSlot } from "./diff_parts.ts";
import { type Path, toPointer } from "./faults.ts";

const STORE_STAYS =
  "The store holds the jobs and the pools work from it: stop, then start with the new config";

const ADMIN_STAYS =
  "The admin API binds its address and reads its tokens at the start: stop, then start with the new config";

/**
 * Compares what runs with what is to run. Nothing is loaded, made or changed by it.
 *
 * @returns All differences, in the order of the new config; none: a reload would change nothing.
 */
export function diff(from: Settings, to: Settings): readonly ConfigChange[] {
  const before = new Map(from.pools.map((pool) => [pool.name, pool]));
  const after = new Set(to.pools.map((pool) => pool.name));
  const pools = to.pools.flatMap((pool) => {
    const old = before.get(pool.name);
    return old === undefined ? [added(pool.name)] : diffPool(old, pool);
  });
  const gone = from.pools.filter((pool) => !after.has(pool.name)).map((pool) => removed(pool.name));
  return [...diffStore(from, to), ...diffAdmin(from.admin, to.admin), ...diffRedact(from, to)]
    .concat(pools, gone);
}

/** The name of the pool that a change is about. Empty: it is about none. */
export function poolOf({ pointer }: ConfigChange): string {
  const [, top, name = ""] = pointer.split("/");
  return top === "pools" ? name.replaceAll("~1", "/").replaceAll("~0", "~") : "";
}

/** Where a change is. */
export function pathOf({ pointer }: ConfigChange): Path {
  return pointer.split("/").slice(1).map((key) =>
    /^\d+$/.test(key) ? Number(key) : key.replaceAll("~1", "/").replaceAll("~0", "~")
  );
}

function added(name: string): ConfigChange {
  return {
    pointer: toPointer(["pools", name]),
    change: "added",
    refused: false,
    effect: "The pool starts",
  };
}

function removed(name: string): ConfigChange {
  return {
    pointer: toPointer(["pools", name]),
    change: "removed",
    refused: false,
    effect:
      "The pool drains: running jobs end, waiting ones stay in the store until it is there again",
  };
}

function diffStore({ store: from }: Settings, { store: to }: Settings): readonly ConfigChange[] {
  if (sameBound(from, to)) return [];
  return [{
    pointer: "/store",
    change: "changed",
    from: shownSlot(from),
    to: shownSlot(to),
    refused: true,
    effect: STORE_STAYS,
  }];
}

/** Where it is reached, under which names and paths. */
function placeOf(admin: AdminSettings): Readonly<Record<string, unknown>> {
  const { hostname, port, allowedHosts, basePath, trustedProxies } = admin;
  return { hostname, port, allowedHosts, basePath, trustedProxies };
}

function diffAdmin(
  from: AdminSettings | undefined,
  to: AdminSettings | undefined,
): readonly ConfigChange[] {
  const refused = { refused: true, effect: ADMIN_STAYS };
  if (from === undefined && to === undefined) return [];
  if (from === undefined) return [{ pointer: "/admin", change: "added", ...refused }];
  if (to === undefined) return [{ pointer: "/admin", change: "removed", ...refused }];
  const addresses = changesOf(
    placeOf(from),
    placeOf(to),
    { path: ["admin"], refused: true, effects: () => ADMIN_STAYS },
  );
  // Tokens are compared, but never shown.
  const roles = [["admin", "adminToken"], ["viewer", "viewerToken"]] as const;
  const tokens = roles.filter(([, key]) => from[key] !== to[key]).map(([role]): ConfigChange => ({
    pointer: `/admin/tokens/${role}`,
    change: "changed",
    ...refused,
  }));
  // So are alerts: their address may be a secret.
  const alerts: ConfigChange = { pointer: "/admin/alerts", change: "changed", ...refused };
  return [...addresses, ...tokens, ...(differs(from.alerts, to.alerts) ? [alerts] : [])];
}

function diffRedact({ redact: from }: Settings, { redact: to }: Settings): readonly ConfigChange[] {
  if (!differs(from, to)) return [];
  const effect = "Holds from the next answer on";
  return [{ pointer: "/redact", change: "changed", from, to, refused: false, effect }];
}

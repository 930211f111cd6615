/**
 * Where findings are reported: `admin.alerts` of a config.
 *
 * @module
 */

import type { AlertSettings } from "./settings.ts";
import { display, type FaultList, isRecord } from "./faults.ts";
import { isEnvRef, readSecret, type SecretOptions } from "./secrets.ts";

/** A checked `admin.alerts`. */
interface AlertsShape {
  readonly ignore: readonly string[];
}

/**
 * Reads the address and the token of the alerts.
 *
 * @param raw `admin` as given.
 * @param shape Its `alerts`, checked. `undefined`: none, or with faults that are reported already.
 * @returns `undefined`: nothing is reported, or faults say why not.
 */
export function resolveAlerts(
  raw: unknown,
  shape: AlertsShape | undefined,
  options: SecretOptions,
): AlertSettings | undefined {
  const given = isRecord(raw) && isRecord(raw.alerts) ? raw.alerts : {};
  const url = urlOf(given.url, options);
  const path = ["admin", "alerts", "token"];
  const token = isEnvRef(given.token) ? readSecret(given.token, path, options) : undefined;
  if (shape === undefined || url === undefined) return undefined;
  return { url, token, ignore: shape.ignore };
}

function urlOf(given: unknown, options: SecretOptions): string | undefined {
  const path = ["admin", "alerts", "url"];
  const isSecret = isEnvRef(given);
  const url = isSecret ? readSecret(given, path, options) : given;
  if (typeof url !== "string" || url === "") return undefined; // told by the shape, or just now
  const parsed = URL.parse(url);
  if (parsed?.protocol === "http:" || parsed?.protocol === "https:") return url;
  const received = isSecret
    ? `the environment variable "${given.env}" has another value`
    : `received ${display(url)}`;
  fault(options.faults, received);
  return undefined;
}

function fault(faults: FaultList, received: string): void {
  const message = `Expected an address such as https://example.com/hook but ${received}`;
  faults.add(["admin", "alerts", "url"], message);
}

/**
 * Options of `http` that do not go together.
 *
 * @module
 */

import type { HttpSettings } from "./_http_options.ts";
import { DEFERRING } from "./_judge.ts";

/** One of them. */
export interface Mismatch {
  /** The option that is to change. */
  readonly key: keyof HttpSettings;
  /** What is wanted. */
  readonly message: string;
}

/** All that are in options which are right one by one. */
export function mismatchesIn(options: HttpSettings): readonly Mismatch[] {
  return [...ofBody(options), ...ofSign(options), ...ofRetry(options)];
}

function ofBody({ body, method }: HttpSettings): readonly Mismatch[] {
  const methods = typeof method === "string" ? [method] : method.allow;
  if (body === undefined || methods.some((each) => each !== "GET")) return [];
  return [{ key: "body", message: "Expected no body with the method GET, which sends none" }];
}

function ofSign({ sign, url }: HttpSettings): readonly Mismatch[] {
  if (sign === undefined) return [];
  const { secret, secrets } = sign;
  if (typeof url === "string" && secrets !== undefined) {
    const message = 'Expected "secret" rather than "secrets": the options have one URL';
    return [{ key: "sign", message }];
  }
  if (secret !== undefined || Object.keys(secrets ?? {}).length > 0) return [];
  return [{ key: "sign", message: 'Expected a "secret", or "secrets" by URL' }];
}

function ofRetry({ success, retry }: HttpSettings): readonly Mismatch[] {
  return retry.flatMap((status): readonly Mismatch[] => {
    if (success.includes(status)) {
      return [{ key: "retry", message: `Expected ${status} in one of "success" and "retry"` }];
    }
    if (typeof status === "string" || !DEFERRING.has(status)) return [];
    const message = `Expected no ${status} in "retry": it says "later", and its jobs are deferred`;
    return [{ key: "retry", message }];
  });
}

/**
 * Replaces `{ "env": "NAME" }` by what the environment holds.
 *
 * @module
 */

import { messageOf } from "../contract/errors.ts";
import { type FaultList, isRecord, type Path } from "./faults.ts";

/** Reads one variable of the environment. `undefined`: it is not set. */
export type ReadEnv = (name: string) => string | undefined;

/** A reference to an environment variable: for secrets. */
export interface EnvRef {
  /** Name of the variable. */
  readonly env: string;
}

/** A value with its references replaced. */
export interface ResolvedSecrets {
  /** The value. */
  readonly value: unknown;
  /** What the references stood for: never to be shown. */
  readonly secrets: readonly string[];
  /** False if a reference could not be replaced: faults say why. */
  readonly complete: boolean;
}

/** Where references are looked up, and faults go. */
export interface SecretOptions {
  /** Reads the environment. Asked only for names that are referred to. */
  readonly env: ReadEnv;
  /** Told of variables that are not set. */
  readonly faults: FaultList;
}

/** True for exactly `{ "env": "NAME" }`. */
export function isEnvRef(value: unknown): value is EnvRef {
  return isRecord(value) && typeof value.env === "string" && Object.keys(value).length === 1;
}

/** Replaces all references in `value`, which is at `path`. What is not data stays as it is. */
export function resolveSecrets(
  value: unknown,
  path: Path,
  options: SecretOptions,
): ResolvedSecrets {
  const secrets: string[] = [];
  const above = new Set<unknown>();
  let complete = true;

  function resolve(here: unknown, at: Path): unknown {
    if (isEnvRef(here)) {
      const secret = readSecret(here, at, options);
      if (secret === undefined) complete = false;
      else secrets.push(secret);
      return secret;
    }
    if (above.has(here)) {
      options.faults.add(at, "Expected JSON but received a value that contains itself");
      complete = false;
      return undefined;
    }
    above.add(here);
    const copy = Array.isArray(here)
      ? here.map((item, index) => resolve(item, [...at, index]))
      : isRecord(here)
      ? Object.fromEntries(
        Object.entries(here).map(([key, item]) => [key, resolve(item, [...at, key])]),
      )
      : here;
    above.delete(here);
    return copy;
  }

  return { value: resolve(value, path), secrets, complete };
}

/** The variable that `reference` names. `undefined`: it could not be read, and a fault says why. */
export function readSecret(
  reference: EnvRef,
  path: Path,
  { env, faults }: SecretOptions,
): string | undefined {
  try {
    const value = env(reference.env);
    if (value !== undefined) return value;
    faults.add(
      path,
      `The environment variable "${reference.env}" is not set: set it before the start`,
    );
  } catch (error) {
    const message = `Cannot read the environment variable "${reference.env}": ${messageOf(error)}`;
    faults.add(path, message, { cause: error });
  }
  return undefined;
}

/** `text` without secrets that slipped into it, as they are or as JSON writes them. */
export function hideSecrets(text: string, secrets: readonly string[]): string {
  const forms = secrets.flatMap((secret) => [secret, JSON.stringify(secret).slice(1, -1)]);
  return forms.filter((form) => form !== "").toSorted((a, b) => b.length - a.length).reduce(
    (hidden, form) => hidden.replaceAll(form, "***"),
    text,
  );
}

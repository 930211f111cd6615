/**
 * Imports one module: within a limit of time, and told apart if it ends the process.
 *
 * @module
 */

/** A module that has not loaded within this many ms waits for something that does not come. */
const LOADS_WITHIN_MS = 10_000;

/** Exit code of a process whose config has faults. */
const FAULTS = 2;

/** What is imported. */
export interface Import {
  /** Address. */
  readonly url: string;
  /** How the config writes it. */
  readonly module: string;
  /** JSON Pointer to where the config names it. */
  readonly pointer: string;
  /** Most time that it may take, ms. @default {10000} */
  readonly withinMs?: number | undefined;
}

/**
 * Imports a module.
 *
 * @throws {Error} If it takes too long. What the module throws passes.
 */
export async function importModule(
  { url, module, pointer, withinMs = LOADS_WITHIN_MS }: Import,
): Promise<Readonly<Record<string, unknown>>> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    late.reject(
      new Error(
        `Not finished within ${withinMs / 1000} s: check what it awaits at its top level`,
      ),
    );
  }, withinMs);
  // Nothing can be caught of a call of Deno.exit: what is left is to say who made it.
  const told = (): void => {
    const text = `${pointer}: The module "${module}" ends the process while it is loaded: ` +
      "call Deno.exit in the handler, if at all\n";
    Deno.stderr.writeSync(new TextEncoder().encode(text));
    Deno.exitCode = FAULTS;
  };
  globalThis.addEventListener("unload", told);
  try {
    const loading: Promise<Readonly<Record<string, unknown>>> = import(url);
    return await Promise.race([loading, late.promise]);
  } finally {
    clearTimeout(timer);
    globalThis.removeEventListener("unload", told);
  }
}

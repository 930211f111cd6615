/**
 * Where the admin API listens: where the config says, unless `DENO_SERVE_ADDRESS` says otherwise, as it
 * does for `Deno.serve`.
 *
 * @module
 */

/** A host and port to bind. */
export interface Address {
  /** IP address or name. */
  readonly hostname: string;
  /** 0: any free one. */
  readonly port: number;
}

/** What to bind. */
export interface Addresses {
  /** The one that the API is reached by comes first. */
  readonly all: readonly [Address, ...Address[]];
  /** The second one as it was given. `undefined`: there is none. */
  readonly also: string | undefined;
}

/** Says what to bind. `undefined`: only `Deno.serve` knows, such as a socket of the platform. */
export function addressesOf(configured: Address): Addresses | undefined {
  const given = environment() ?? "";
  if (given === "") return { all: [configured], also: undefined };
  const [, duplicate = "", tcp, hostname = "", port] =
    /^(duplicate,)?(tcp:(.*):(\d{1,5}))$/.exec(given) ?? [];
  if (tcp === undefined) return undefined;
  const own = { hostname: hostname.replace(/^\[(.*)\]$/, "$1"), port: Number(port) };
  return duplicate === "" ? { all: [own], also: undefined } : { all: [configured, own], also: tcp };
}

function environment(): string | undefined {
  try {
    return Deno.env.get("DENO_SERVE_ADDRESS");
  } catch {
    return undefined; // may not be read: then the config alone counts
  }
}

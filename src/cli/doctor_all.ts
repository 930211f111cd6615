/**
 * `sluice doctor` over all pools, and reports for a chat.
 *
 * @module
 */

import type { PoolJson } from "../admin/http/wire.ts";
import { agreeing, counted } from "../base/format.ts";
import { isoTime } from "../time/iso_time.ts";
import { call, type RemoteOptions, send } from "./client.ts";
import { CliError } from "./failure.ts";
import type { Io } from "./io.ts";
import { toneOf } from "./pool_rows.ts";
import { json, line, whole } from "./print.ts";

/** Diagnoses all pools. @throws {CliError} If something is wrong with one: jobs suffer. */
export async function doctorAll(
  io: Io,
  options: RemoteOptions & { readonly md?: boolean },
  show: (pools: readonly PoolJson[]) => void,
): Promise<void> {
  const pools = await call(io, options, "GET /api/pools", "list", {});
  const bad = pools.filter((pool) => toneOf(pool) === "bad");
  if (options.json) json(io, pools.map(({ pool, diagnosis }) => ({ pool, diagnosis })));
  else if (options.md) {
    for (const { pool } of bad) await printReport(io, pool, options);
    if (bad.length === 0) {
      line(io, `${counted(pools.length, "pool")}: nothing is wrong, at ${isoTime(Date.now())}`);
    }
  } else show([...bad, ...pools.filter((pool) => !bad.includes(pool))]);
  if (bad.length === 0) return;
  const names = bad.map(({ pool }) => `"${pool}"`).join(", ");
  throw new CliError(
    `Something is wrong with ${bad.length} of ${counted(pools.length, "pool")}: ${
      agreeing(bad.length, "pool", "pools")
    } ${names}`,
  );
}

/** Prints the report of a pool: Markdown. */
export async function printReport(io: Io, pool: string, options: RemoteOptions): Promise<void> {
  const response = await send(io, options, "GET /api/pools/:pool/report", { at: { pool } });
  whole(io, await response.text());
}

/**
 * `sluice check`: every fault of a config, with its place, then what it cannot do without fault.
 *
 * @module
 */

import { counted } from "../base/format.ts";
import type { Command } from "commander";
import { renderAlerts } from "../admin/alerts/rules.ts";
import { faultList } from "../config/faults.ts";
import { readSource } from "../config/source.ts";
import { ConfigError, formatFault } from "../contract/errors.ts";
import { type Concern, lint, type Platform, PLATFORMS } from "../lint/mod.ts";
import type { Settings } from "../config/settings.ts";
import type { ReloadReport } from "../runtime/handles.ts";
import { printChanges } from "./changes.ts";
import { TOKEN_VARIABLE } from "./client.ts";
import { CliError } from "./failure.ts";
import type { Io } from "./io.ts";
import { bold, json, line, red, whole } from "./print.ts";
import { requestReload, requireAccepted } from "./reload.ts";
import { type Tools, withJson } from "./verb.ts";

interface CheckOptions {
  readonly json?: boolean;
  readonly strict?: boolean;
  readonly alerts?: boolean;
  readonly platform?: string;
  readonly against?: string;
  readonly tokenEnv?: string;
  readonly env: boolean;
}

/** Adds the verb. */
export function addCheck(program: Command, tools: Tools): void {
  withJson(
    program.command("check").description("find every error in a config, and what it cannot do"),
  )
    .argument("<file>")
    .option("--strict", "fail on warnings too")
    .option("--platform <name>", `target platform: ${Object.keys(PLATFORMS).join(", ")}`)
    .option("--alerts", "print alert rules for Prometheus instead")
    .option("--against <url>", "also print what a reload would change in that running system")
    .option(
      "--token-env <name>",
      `environment variable with its token (default: ${TOKEN_VARIABLE})`,
    )
    .option("--no-env", "read no variable of the environment: for a machine without the secrets")
    .action((file: string, options: CheckOptions) => check(file, options, tools));
}

async function check(file: string, options: CheckOptions, tools: Tools): Promise<void> {
  const { io } = tools;
  const platform = platformOf(options.platform);
  const settings = await resolved(file, options, tools);
  if (options.alerts) return whole(io, renderAlerts(settings));
  const pools = settings.pools.length;
  const lanes = settings.pools.reduce((sum, pool) => sum + pool.lanes.length, 0);
  const concerns = lint(settings, platform);
  const failing = concerns.filter(({ severity }) =>
    severity === "error" || (options.strict === true && severity === "warning")
  );
  const against = await compared(file, options, io);
  if (options.json) {
    json(io, { ok: failing.length === 0, pools, lanes, faults: [], concerns, against });
  } else {
    line(io, `${file}: ${counted(pools, "pool")}, ${counted(lanes, "lane")}, no faults`);
    for (const concern of concerns) show(io, concern);
    if (against !== undefined) {
      line(io, `\nAgainst ${options.against}:`);
      printChanges(io, against);
    }
  }
  if (against !== undefined) requireAccepted(against);
  if (failing.length === 0) return;
  throw new CliError(
    `The config has no faults but ${counted(failing.length, "concern")}: ${
      [...new Set(failing.map(({ code }) => code))].join(", ")
    }`,
  );
}

/** What a reload with this file would change in a system that runs. `undefined`: none was named. */
async function compared(
  file: string,
  { against, tokenEnv }: CheckOptions,
  io: Io,
): Promise<ReloadReport | undefined> {
  if (against === undefined) return undefined;
  const { value } = await readSource(file);
  return await requestReload(io, { url: against, urlOption: "--against", tokenEnv }, {
    dryRun: true,
    config: value,
  });
}

async function resolved(file: string, options: CheckOptions, tools: Tools): Promise<Settings> {
  try {
    const settings = await tools.resolve(file, options.env ? undefined : withoutSecret);
    await requireStore(settings, file, options);
    return settings;
  } catch (thrown) {
    if (options.json && thrown instanceof ConfigError) {
      json(tools.io, {
        ok: false,
        faults: thrown.faults.map(({ pointer, message, file, line, column }) => ({
          pointer,
          message,
          file,
          line,
          column,
        })),
        more: thrown.more,
      });
    }
    throw thrown;
  }
}

/**
 * Ends at a store that this process cannot open: the next command with the same `deno.json` could not
 * either. Deno Deploy has what it needs without one.
 */
async function requireStore({ store }: Settings, file: string, { platform }: CheckOptions) {
  const lacking = platform === "deploy" ? undefined : store.plugin?.lacks?.();
  if (lacking === undefined) return;
  const faults = faultList(await readSource(file));
  faults.add(["store"], lacking);
  throw faults.toError();
}

/** What is read in place of a secret: it fits an address, a token, and any other text. */
function withoutSecret(name: string): string {
  return `https://secret.invalid/${encodeURIComponent(name)}`;
}

function show(
  io: Io,
  { severity, code, pointer, message, formula, numbers, change }: Concern,
): void {
  const title = `${severity} ${code}`;
  line(io, "\n", severity === "error" ? red(title) : bold(title), `  ${pointer}`);
  line(io, `  ${message}`);
  const put = Object.entries(numbers).map(([name, value]) =>
    `${name} ${Number(value.toPrecision(4))}`
  );
  line(io, `  By ${formula} with ${put.join(", ")}`);
  line(io, `  Change: ${change}`);
}

function platformOf(given: string | undefined): Platform | undefined {
  if (given === undefined) return undefined;
  const known = Object.keys(PLATFORMS).find((name): name is Platform => name === given);
  if (known !== undefined) return known;
  throw new CliError(
    `Expected --platform to be one of ${Object.keys(PLATFORMS).join(", ")} but received "${given}"`,
    2,
  );
}

/** All faults of a config, one a line. */
export function faultsOf(error: ConfigError): string {
  const more = error.more === 0 ? "" : `and ${error.more} more\n`;
  return error.faults.map((fault) => `${formatFault(fault)}\n`).join("") + more;
}

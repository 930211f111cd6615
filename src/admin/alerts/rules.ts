/**
 * Alert rules in Prometheus' own format, for the pools of one config and the metrics of `metrics.ts`.
 *
 * @module
 */

import type { PoolSettings, Settings } from "../../config/settings.ts";

interface Alert {
  /** Name of the rule, without the prefix. */
  readonly name: string;
  /** Fires while this has a result. */
  readonly expr: string;
  /** Only once it has had one for so long. */
  readonly for: string;
  readonly severity: "page" | "warn";
  /** What happens, then what to do. */
  readonly summary: string;
}

/** More late jobs than this share of all are more than a chance burst. */
const LATE_SHARE = 0.05;

/** More changes a minute than this, at a steady load, are oscillation. */
const MOST_CHANGES = 4;

/** Writes the rules of all pools as one YAML document. Names and labels are JSON strings, which YAML takes. */
export function renderAlerts({ pools }: Settings): string {
  const rules = pools.flatMap((pool) => alertsOf(pool).map((alert) => render(pool.name, alert)));
  return `groups:\n  - name: sluice\n    rules:\n${rules.join("\n")}\n`;
}

function alertsOf({ name }: PoolSettings): readonly Alert[] {
  const at = (metric: string, more = ""): string => `${metric}{pool=${quoted(name)}${more}}`;
  const live = `sum by (instance, pool) (${
    at("sluice_pool_workers", ',state=~"idle|busy|stuck"')
  })`;
  const limit = at("sluice_pool_limit");
  const isAtLimit = `(${live} >= on (instance, pool) ${limit}` +
    ` or on (instance, pool) ${at("sluice_pool_rate_bound")} == 1)`;
  const perSec = (metric: string): string =>
    `sum by (instance, pool, lane) (rate(${at(metric)}[1m]))`;
  // Between two scrapes a gauge sees nothing, such as a burst each second: counters do.
  const isOld = `(${at("sluice_lane_oldest_wait_seconds")} > on (instance, pool, lane) ` +
    `${at("sluice_lane_target_wait_seconds")} or ${perSec("sluice_jobs_late_total")} > ` +
    `${LATE_SHARE} * ${perSec("sluice_jobs_started_total")})`;
  const accepted = (range: string): string =>
    `sum by (instance, pool) (rate(${at("sluice_jobs_accepted_total")}${range}))`;
  return [
    {
      name: "AtCapacity",
      expr: `${isAtLimit} and on (instance, pool) ${isOld} or ${
        at("sluice_pool_diagnosis", ',code="at-capacity"')
      } == 1`,
      for: "1m",
      severity: "page",
      summary:
        "at its limit with age over target for a minute: work accumulates. Shed, send less, " +
        "or raise the bound (sluice doctor names it)",
    },
    {
      name: "Oscillation",
      expr: `rate(${at("sluice_scale_events_total")}[5m]) * 60 > ${MOST_CHANGES}` +
        ` and on (instance, pool) abs(${accepted("[2m]")} - ${accepted("[2m] offset 3m")})` +
        ` < 0.25 * ${accepted("[5m]")}`,
      for: "5m",
      severity: "warn",
      summary:
        "changes size more than a few times a minute at steady traffic. Let the controller " +
        "shrink later or grow by less",
    },
    {
      name: "Stalled",
      expr: `${at("sluice_pool_diagnosis", ',code="stalled"')} == 1`,
      for: "0m",
      severity: "page",
      summary: "has ready jobs and ends none. See what the handler waits for",
    },
    {
      name: "Finding",
      expr: `${
        at("sluice_pool_diagnosis", ',code!~"stalled|at-capacity|oscillation|fixed-would-do"')
      } == 1`,
      for: "5m",
      severity: "warn",
      summary: "shows {{ $labels.code }}. Run sluice doctor for the numbers and what to change",
    },
    {
      name: "Degraded",
      expr: `${at("sluice_pool_degraded")} == 1 or ${at("sluice_pool_stale")} == 1`,
      for: "1m",
      severity: "page",
      summary: "holds its last plan: a strategy fails, or the store cannot be read",
    },
  ];
}

function render(pool: string, { name, expr, for: during, severity, summary }: Alert): string {
  return [
    `      - alert: Sluice${name}`,
    `        expr: ${quoted(expr)}`,
    `        for: ${during}`,
    "        labels:",
    `          severity: ${severity}`,
    `          pool: ${quoted(pool)}`,
    "        annotations:",
    `          summary: ${quoted(`Pool ${pool} ${summary}`)}`,
  ].join("\n");
}

/** PromQL and YAML both take a JSON string. */
function quoted(text: string): string {
  return JSON.stringify(text);
}

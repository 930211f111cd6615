/**
 * What is configured and can never come to pass, for something else is reached before.
 *
 * @module
 */

import { isRecord } from "../config/faults.ts";
import { makeView } from "../testing/views.ts";
import { counted } from "../base/format.ts";
import { type Concern, concern, figure, span } from "./concern.ts";
import type { PoolFacts } from "./facts.ts";
import { unreachedRoutes } from "../config/routes.ts";

/** A count above `size.max`, a route behind others, a request longer than the run that it is made in. */
export function lintUnreached(pool: PoolFacts): readonly Concern[] {
  return [...target(pool), ...routes(pool), ...request(pool)];
}

/** Asked without any load, a controller that wants more than `size.max` wants it always. */
function target({ settings, path, context }: PoolFacts): readonly Concern[] {
  const { controller, size } = settings;
  const lanes = settings.lanes.map(({ name }) => ({ name }));
  let wanted: number;
  try {
    const ask = controller.create(context);
    const view = { pool: settings.name, size, lanes, live: size.min, target: size.min, busy: 0 };
    wanted = ask(makeView(view)).workers;
  } catch {
    return []; // `strategy-fails` says so
  }
  if (!(wanted > size.max) || wanted === Infinity) return [];
  return [concern({
    code: "target-over-max",
    severity: "warning",
    path: [...path, "controller"],
    message: `Controller "${controller.name}" asks for ${counted(figure(wanted), "worker")} even ` +
      `of an idle pool but size.max is ${size.max}: there are never more`,
    formula: "workers asked for of an idle pool > size.max",
    numbers: { workers: wanted, max: size.max },
    change: `Let the controller ask for ${size.max} or fewer, or raise size.max to ` +
      `${Math.ceil(wanted)}`,
  })];
}

function routes({ settings: { routes, handlers }, path }: PoolFacts): readonly Concern[] {
  return unreachedRoutes(routes, [...handlers.keys()]).map(({ index, earlier }) =>
    concern({
      code: "route-unreached",
      severity: "warning",
      path: [...path, "routes", index],
      message: `Route ${index} never takes a job: what fits it fits route ${earlier} ` +
        `${earlier === index - 1 ? "" : "or another one "}before it`,
      formula: "each job that fits the route fits an earlier one",
      numbers: { route: index, earlier },
      change: `Move it before route ${earlier}, or remove it`,
    })
  );
}

function request({ settings, path }: PoolFacts): readonly Concern[] {
  const { handlers, lanes, timeoutMsByType } = settings;
  const longestMs = Math.max(...lanes.map((lane) => lane.timeoutMs ?? settings.timeoutMs));
  return [...handlers].flatMap(([type, { name, options }]) => {
    const timeoutMs = timeoutMsByType[type] ?? longestMs;
    const requestMs = isRecord(options) ? options["timeoutMs"] : undefined;
    if (typeof requestMs !== "number" || requestMs <= timeoutMs) return [];
    const slot = type === "" ? ["handler"] : ["handlers", type];
    return [concern({
      code: "request-past-timeout",
      severity: "note",
      path: [...path, ...slot, "with", "timeoutMs"],
      message:
        `Handler "${name}" has a timeoutMs of ${span(requestMs)} but its run is aborted after ` +
        `${span(timeoutMs)}: nothing in it ever has that long`,
      formula: "timeoutMs of the handler > timeoutMs of the pool",
      numbers: { requestMs, timeoutMs },
      change: `Lower the handler's timeoutMs to ${figure(timeoutMs)}, or raise the pool's to ` +
        figure(requestMs),
    })];
  });
}

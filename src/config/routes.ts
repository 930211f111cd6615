/**
 * The routes of a pool: where jobs go that name no lane.
 *
 * @module
 */

import { quoted, suggestion } from "../base/suggest.ts";
import { wildcard } from "../base/wildcard.ts";
import { type CheckedInPool, checkShape } from "./check.ts";
import { display } from "./faults.ts";
import type { RouteSettings } from "./settings.ts";
import { routeShape } from "./shape.ts";

/** What a route goes by. */
export interface Routable {
  /** Type of the job. */
  readonly type?: string | undefined;
  /** Its key. */
  readonly key?: string | undefined;
}

/** The routes of one pool, ready to be asked for each job. */
export class Routes {
  readonly #routes: readonly { readonly lane: string; fits(job: Routable): boolean }[];

  /** Takes them in order. */
  constructor(routes: readonly RouteSettings[]) {
    this.#routes = routes.map(({ if: { type, key }, lane }) => {
      const [ofType, ofKey] = [pattern(type), pattern(key)];
      return { lane, fits: (job) => ofType(job.type) && ofKey(job.key) };
    });
  }

  /** True if there are none: each job has to name its lane. */
  get isEmpty(): boolean {
    return this.#routes.length === 0;
  }

  /** Lane of the first route that fits. `undefined`: none does. */
  laneOf(job: Routable): string | undefined {
    return this.#routes.find((route) => route.fits(job))?.lane;
  }

  /** What to say of a job that none fits. */
  faultOf({ type, key }: Routable, lanes: Iterable<string>): string {
    const kind = type === undefined ? "" : ` of type ${display(type)}`;
    const named = key === undefined ? "without a key" : `with the key ${display(key)}`;
    return `No route fits a job${kind} ${named}: name its lane, one of ${quoted(lanes)}`;
  }
}

/** Checks the routes of a pool. Those with faults are left out. */
export function checkRoutes(raw: unknown, place: CheckedInPool): readonly RouteSettings[] {
  const { path, faults, lanes, types } = place;
  return (Array.isArray(raw) ? raw : []).flatMap((given: unknown, index) => {
    const here = [...path, index];
    const shape = checkShape(routeShape, given, { path: here, faults });
    if (shape === undefined) return [];
    const { lane, if: { type } } = shape;
    if (!lanes.has(lane)) {
      faults.add([...here, "lane"], () => `No lane is named "${lane}"${suggestion(lane, lanes)}`);
    }
    const at = [...here, "if", "type"];
    if (type !== undefined && types.size === 0) {
      faults.add(at, "Expected no type but the pool has one handler: remove it");
    } else if (type !== undefined && ![...types].some(wildcard(type))) {
      faults.add(at, () => `No handler fits ${display(type)}${suggestion(type, types)}`);
    }
    return [shape];
  });
}

/** A route that no job comes to, and the first of those before it that take what fits it. */
export interface UnreachedRoute {
  /** Its place in the list. */
  readonly index: number;
  /** The place of the other. */
  readonly earlier: number;
}

/** Routes that never take a job, by the types that there are: "" is that of the only handler. */
export function unreachedRoutes(
  routes: readonly RouteSettings[],
  types: readonly string[],
): readonly UnreachedRoute[] {
  return routes.flatMap(({ if: own }, index) => {
    const fitting = types.filter((type) => pattern(own.type)(type));
    const takers = fitting.map((type) =>
      routes.slice(0, index).findIndex(({ if: other }) =>
        // A "*" of the pattern that is matched is a character that only a "*" of the other fits.
        pattern(other.type)(type) && pattern(other.key)(own.key)
      )
    );
    const earlier = Math.min(...takers);
    return earlier >= 0 && earlier < index ? [{ index, earlier }] : [];
  });
}

/** Whether a text fits, and there is one. Without a pattern all do, and none is needed. */
function pattern(given?: string): (text: string | undefined) => boolean {
  if (given === undefined) return () => true;
  const fits = wildcard(given);
  return (text) => text !== undefined && fits(text);
}

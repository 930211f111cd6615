/**
 * Views as a pool may come to show them: the extremes first, then a random life.
 *
 * @module
 */

import { randomStream } from "../base/random.ts";
import type { PoolView } from "../contract/view.ts";
import { LANES } from "./subject.ts";
import {
  type LaneOverrides,
  makeSummary,
  makeView,
  VIEW_NOW_MS,
  type ViewOverrides,
} from "./views.ts";

/** A view with a word on what is special about it. */
export interface NamedView {
  /** What is special. */
  readonly name: string;
  /** The view. */
  readonly view: PoolView;
}

const TICK_MS = 50;
const LIFE = 300;

/** Views in the order of time. The same on each call. */
export function conformanceViews(lanes: readonly string[] = LANES): readonly NamedView[] {
  const random = randomStream(7, "views");
  const named: NamedView[] = [];
  const add = (name: string, overrides: ViewOverrides): void => {
    const nowMs = VIEW_NOW_MS + named.length * TICK_MS;
    named.push({
      name,
      view: makeView({ lanes: lanes.map((lane) => ({ name: lane })), ...overrides, nowMs }),
    });
  };
  const each = (overrides: LaneOverrides): LaneOverrides[] =>
    lanes.map((name) => ({ name, ...overrides }));

  add("first tick, no workers", { live: 0, window: { windowMs: 0 }, target: 0 });
  add("nothing to do", {});
  add("jobs but no workers", { live: 0, lanes: each({ ready: 3, oldestWaitMs: 5000 }) });
  add("jobs, and no job has ended yet", {
    live: 1,
    busy: 1,
    lanes: each({ ready: 9, oldestWaitMs: 40 }),
  });
  add("all workers starting", {
    workers: [{ state: "starting" }, { state: "starting" }],
    lanes: each({ ready: 1 }),
  });
  add("all workers stuck or retiring", { workers: [{ state: "stuck" }, { state: "retiring" }] });
  add("lanes that never cause growth", {
    lanes: each({ targetWaitMs: null, ready: 50, oldestWaitMs: 9e6 }),
  });
  add("lanes that are paused", { lanes: each({ paused: true, blocked: 1000 }) });
  add("only delayed jobs", { lanes: each({ delayed: 1000 }) });
  add("a limit of 0", { limit: 0, live: 0, lanes: each({ ready: 5, oldestWaitMs: 100 }) });
  add("a size that is fixed", { size: { min: 4, max: 4 }, live: 4, busy: 4 });
  add("the store cannot be read", { stale: true, live: 2, busy: 1 });
  add("a start rate binds", {
    rateBound: true,
    startsPerSec: 40,
    live: 9,
    lanes: each({ ready: 500, oldestWaitMs: 3000 }),
  });
  add("a million jobs and instant ones", {
    live: 100,
    busy: 100,
    lanes: each({
      ready: 1e6,
      oldestWaitMs: 3.6e6,
      meanServiceMs: 0,
      arrivalsPerSec: 1e5,
      running: 33,
    }),
  });
  for (let tick = 0; tick < LIFE; tick++) {
    add(`tick ${tick} of a random life`, randomView(lanes, random));
  }
  return named;
}

function randomView(lanes: readonly string[], random: () => number): ViewOverrides {
  const upTo = (most: number): number => Math.floor(random() * (most + 1));
  const max = 1 + upTo(50);
  const live = upTo(max);
  const busy = upTo(live);
  let free = busy;
  const serviceMs = random() < 0.2 ? undefined : makeSummary(1 + random() * 500, 1 + upTo(100));
  return {
    size: { min: upTo(Math.min(3, max)), max },
    live,
    busy,
    limit: upTo(max),
    peers: 1 + upTo(2),
    ...(random() < 0.1 ? { rateBound: true, startsPerSec: 1 + upTo(500) } : {}),
    stale: random() < 0.05,
    lanes: lanes.map((name) => {
      const ready = random() < 0.3 ? 0 : upTo(200);
      const running = upTo(free);
      free -= running;
      return {
        name,
        ready,
        running,
        oldestWaitMs: ready === 0 ? 0 : random() * 3000,
        blocked: random() < 0.2 ? upTo(50) : 0,
        delayed: random() < 0.2 ? upTo(50) : 0,
        paused: random() < 0.05,
        arrivalsPerSec: random() * 200,
        meanServiceMs: random() < 0.2 ? 0 : random() * 500,
        deadlineMs: random() < 0.5 ? undefined : 500,
        window: { serviceMs },
      };
    }),
    window: { arrivalsPerSec: random() * 500, completionsPerSec: random() * 500, serviceMs },
  };
}

/**
 * The worlds that a seed can be played in.
 *
 * @module
 */

import { CONFIGS } from "./config.ts";
import { lifeOf } from "./life/draw.ts";
import { playLife } from "./life/play.ts";
import { playSeed } from "./play.ts";
import { sharedSchedule } from "./shared/draw.ts";
import { playShared } from "./shared/play.ts";
import { scheduleOf } from "./step.ts";

/** What broke. */
export interface Breach {
  /** What did not hold. */
  readonly what: string;
  /** How many steps had been played: all of them if it was found while all was brought to its end. */
  readonly steps: number;
}

/** What one seed came to. */
export interface Played {
  /** `undefined`: all held. */
  readonly breach: Breach | undefined;
  readonly jobs: number;
  readonly starts: number;
  readonly virtualMs: number;
}

/** A way to play seeds. */
export interface World {
  readonly name: string;
  /** What happens, step by step. */
  steps(seed: number): readonly unknown[];
  /** Plays a seed, or its first steps. */
  play(seed: number, most?: number): Promise<Played>;
}

/** The worlds by name. */
export const WORLDS = {
  pools: { name: "pools", steps: (seed) => scheduleOf(seed, CONFIGS), play: playSeed },
  shared: { name: "shared", steps: sharedSchedule, play: playShared },
  memory: lifeIn("memory"),
  kv: lifeIn("kv"),
} as const satisfies Readonly<Record<string, World>>;

/**
 * The world of a seed, where the worlds take turns. `shared` is played by its name only: seed 45 has four
 * connections of a downstream in use where three are allowed, an open fault.
 */
export function worldOf(seed: number): World {
  const worlds: readonly World[] = [WORLDS.pools, WORLDS.memory, WORLDS.kv];
  return worlds[seed % worlds.length]!; // there is one
}

/** The fewest steps that break, and how. */
export async function shortest(world: World, seed: number, broken: Breach): Promise<Breach> {
  for (let most = 1; most < broken.steps; most++) {
    const { breach } = await world.play(seed, most);
    if (breach !== undefined) return { ...breach, steps: most };
  }
  return broken;
}

function lifeIn(store: "memory" | "kv"): World {
  return {
    name: store,
    steps: (seed) => {
      const { steps, ...life } = lifeOf(seed, store);
      return [life, ...steps];
    },
    play: (seed, most) => playLife(seed, store, most),
  };
}

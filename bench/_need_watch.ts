/**
 * A pool in the simulator under a watch: what its controller does, and what each job waits.
 *
 * @module
 */

import { bind } from "../src/contract/bind.ts";
import { defineAdmission, defineController, type Plugin } from "../src/contract/plugin.ts";

/** The count that a process aims for, from a time on, ms since its pool began. */
export interface Aim {
  readonly atMs: number;
  readonly workers: number;
}

/** A job that started. */
export interface Start {
  /** When, ms since the pool began. */
  readonly atMs: number;
  /** What it had waited, ms. */
  readonly waitMs: number;
}

/** Changes of the aim in one direction within so long count once. */
const ONE_CHANGE_MS = 50;

/** Takes the place of controller and admission of a pool: the controller decides as ever, no job is shed. */
export class Watch {
  /** Aims of each process, in order. */
  readonly processes: Aim[][] = [];
  /** Starts by lane. */
  readonly starts = new Map<string, Start[]>();
  #beganAtMs: number | undefined;

  /** The controller, watched. */
  controller(plugin: Plugin<"controller">, options: unknown): Plugin<"controller"> {
    const binding = bind(plugin, options);
    if (!binding.ok) throw new TypeError(binding.issues[0]?.message);
    return defineController({
      name: "watched",
      create: (_, context) => {
        const ask = binding.bound.create(context);
        const aims: Aim[] = [];
        return (view) => {
          this.#beganAtMs ??= view.nowMs;
          if (aims.length === 0) this.processes.push(aims); // a controller is also made to be tried
          const atMs = view.nowMs - this.#beganAtMs;
          if (aims.at(-1)?.workers !== view.target) aims.push({ atMs, workers: view.target });
          return ask(view);
        };
      },
    });
  }

  /** Lets all jobs in, and writes down what they waited. */
  admission(): Plugin<"admission"> {
    return defineAdmission({
      name: "watching",
      create: () => ({
        submit: () => ({ admit: true }),
        take: ({ name }, waitMs, view) => {
          this.#beganAtMs ??= view.nowMs;
          const starts = this.starts.get(name) ?? [];
          this.starts.set(name, starts);
          starts.push({ atMs: view.nowMs - this.#beganAtMs, waitMs });
          return true;
        },
      }),
    });
  }

  /** Changes of the aim a minute from `fromMs` to `untilMs`, on average of the processes. */
  changesPerMin(fromMs: number, untilMs: number): number {
    const counts = this.processes.map((aims) => changes(aims, fromMs, untilMs));
    return total(counts) / counts.length * 60_000 / (untilMs - fromMs);
  }

  /** Workers aimed for on average between two times, of all processes together. */
  meanWorkers(fromMs: number, untilMs: number): number {
    return total(this.processes.map((aims) => {
      const spans = aims.map(({ atMs, workers }, index) => {
        const endMs = Math.min(untilMs, aims[index + 1]?.atMs ?? untilMs);
        return workers * Math.max(0, endMs - Math.max(fromMs, atMs));
      });
      return total(spans) / (untilMs - fromMs);
    }));
  }

  /** Most workers aimed for after `fromMs`, of all processes together at worst. */
  peakWorkers(fromMs: number): number {
    return total(this.processes.map((aims) =>
      aims.reduce((most, { workers }, index) => {
        const endMs = aims[index + 1]?.atMs ?? Infinity;
        return endMs > fromMs ? Math.max(most, workers) : most;
      }, 0)
    ));
  }

  /** Workers aimed for at a time, of all processes together. */
  workersAt(atMs: number): number {
    return total(
      this.processes.map((aims) => aims.findLast((aim) => aim.atMs <= atMs)?.workers ?? 0),
    );
  }
}

function changes(aims: readonly Aim[], fromMs: number, untilMs: number): number {
  let count = 0;
  let last: { readonly atMs: number; readonly up: boolean } | undefined;
  aims.forEach(({ atMs, workers }, index) => {
    const before = aims[index - 1]?.workers;
    if (before === undefined || atMs < fromMs || atMs >= untilMs) return;
    const up = workers > before;
    if (last === undefined || last.up !== up || atMs - last.atMs > ONE_CHANGE_MS) count++;
    last = { atMs, up };
  });
  return count;
}

function total(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0);
}

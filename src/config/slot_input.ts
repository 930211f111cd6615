/**
 * What may be in the slots of a config: a name, a plugin, a function.
 *
 * @module
 */

import type { Job, JobContext } from "../contract/job.ts";
import type { Kind, Plugin, Scope, Slot } from "../contract/plugin.ts";
import type { SignalReader } from "../contract/strategy.ts";

/** A slot as JSON writes it. */
export interface NamedSlot {
  /** Name of a built-in or of a plugin given in code, or a module: `./file.ts`, `./file.ts#name`. */
  readonly use: string;
  /** Options of the plugin. `{ "env": "NAME" }` means a variable of the environment. */
  readonly with?: unknown;
}

/**
 * A plugin whose options may be left out.
 *
 * @internal
 */
export type BarePlugin<K extends Kind, Payload = unknown> = Plugin<K, unknown, Payload> & {
  /** Only for inference: accepts no options at all. */
  readonly "~accepts"?: ((options: Record<never, never>) => void) | undefined;
};

/** What may stand in a slot: a name, a name with options, a plugin, or `use(plugin, options)`. */
export type SlotInput<K extends Kind> = string | NamedSlot | Slot<K> | BarePlugin<K>;

/** A handler that is a plain function. */
export type HandlerFunction = {
  // A method is checked bivariantly: a function that takes a `Job<Mail>` fits, and an inline one is typed.
  run(job: Job, context: JobContext): unknown;
}["run"];

/** What may stand in the slot of a handler. */
export type HandlerInput = SlotInput<"handler"> | HandlerFunction;

/** What may stand in `caps`. */
export type CapInput =
  | string
  | BarePlugin<"cap">
  | ((NamedSlot | Slot<"cap">) & {
    /** `cluster`: holds over all processes of the store together; `process`: in each. @default {the cap's own} */
    readonly scope?: Scope | undefined;
    /** Least time between two reports about this process's part of a cluster cap, ms, >= 1. @default {50} */
    readonly reportMs?: number | undefined;
  });

/** What may stand in `signals`: a function, its name or its module. */
export type SignalInput = string | SignalReader | {
  /** Name of a function given in code, a module, or the function. */
  readonly use: string | SignalReader;
};

/**
 * Plugins: a name, an options schema and a factory, for one kind. The define helpers exist for
 * inference; `use` pairs a plugin with its options.
 *
 * @module
 */

import type { StoreExamination } from "./doctor.ts";
import type { Job, JobContext, Logger } from "./job.ts";
import type { InputOf, OutputOf, StandardSchema } from "./standard_schema.ts";
import type { MaybePromise, Store } from "./store.ts";
import type { Admission, Cap, Controller, LanePolicy, Retirement } from "./strategy.ts";

/** What a plugin may know of the pool it is made for. */
export interface PluginContext {
  /** Name of the pool. Empty for a store. */
  readonly pool: string;
  /**
   * Names of the pool's lanes, highest priority first. When a reload changes them, controller, lane
   * policy and admission are recreated; caps and retirements go on.
   */
  readonly lanes: readonly string[];
  /** Bounds of the pool's size when it is made. A view has those in effect, which a reload may change. */
  readonly size: { readonly min: number; readonly max: number };
  /** Seeded chance, 0 to below 1. A slot's stream is its own. */
  readonly random: () => number;
  /** Writes with pool and plugin name. */
  readonly log: Logger;
  /** A path among the options as seen from the config's folder, absolute. Omitted: there is no config. */
  readonly locate?: ((path: string) => string) | undefined;
}

/** What a worker does for each job, and what it owns meanwhile. */
export interface Handler<Payload = unknown, Resource = unknown, Result = unknown> {
  /** Checked at enqueue and again before the run. */
  readonly payload?: StandardSchema<unknown, Payload> | undefined;
  /** Opens what the worker owns. Called once a worker, before its first job; the worker starts when it resolves. */
  start?(workerId: string): MaybePromise<Resource>;
  /** Runs one job. What it returns is the result; a throw is a failure, `RetryLater` a deferral, `Fatal` the end. */
  run(job: Job<Payload>, context: JobContext<Resource>): Result;
  /** Closes what `start` opened. Called once, after the worker's last job. */
  stop?(resource: Resource): MaybePromise<void>;
}

/** The kinds, each with what its factory makes. */
export interface Instances {
  /** How many workers? */
  readonly controller: Controller;
  /** Which lane next? */
  readonly "lane-policy": LanePolicy;
  /** How far may it grow? */
  readonly cap: Cap;
  /** Which workers stop? */
  readonly retirement: Retirement;
  /** Take this job? */
  readonly admission: Admission;
  /** Where do jobs live? */
  readonly store: MaybePromise<Store>;
  /** What does a worker do? */
  readonly handler: Handler;
}

/** A kind of plugin. */
export type Kind = keyof Instances;

/**
 * A named factory of one kind. `Input` is what its options accept, `Payload` what a handler's jobs carry,
 * `Result` what it returns.
 */
export interface Plugin<
  K extends Kind = Kind,
  Input = unknown,
  Payload = unknown,
  Result = unknown,
> {
  /** What it makes. */
  readonly kind: K;
  /** `kebab-case`, as written after `use` in a config. */
  readonly name: string;
  /** Checks the options and fills in defaults. `undefined`: it takes none. */
  readonly options: StandardSchema<Input, unknown> | undefined;
  /** Makes an instance from checked options. @throws {OptionError} If the options do not fit the pool. */
  create(options: unknown, context: PluginContext): Instances[K];
  /** Options near checked ones that `sluice tune` tries, each of one key. @default {none} */
  variants?(options: unknown, pool: VariantContext): readonly Readonly<Record<string, unknown>>[];
  /** Where a cap holds unless its slot says otherwise. Only caps have it. @default {"process"} */
  readonly scope?: Scope | undefined;
  /** True: it tries other sizes to see what comes of them. Only caps have it. @default {false} */
  readonly tries?: boolean | undefined;
  /** True: it asks for one worker count, whatever comes. Only controllers have it. @default {false} */
  readonly constant?: boolean | undefined;
  /** Keys of lanes that it goes by, of those that not all do. Only controllers and lane policies have it. @default {[]} */
  readonly reads?: readonly OptionalRead[] | undefined;
  /** True: it rejects jobs that would wait for too long. Only admissions have it. @default {false} */
  readonly sheds?: boolean | undefined;
  /** Whether its jobs outlive the process. Only stores have it. @default {true} */
  readonly durable?: boolean | undefined;
  /** What this process lacks to open it, and what to add; `undefined`: nothing. Only stores have it. */
  readonly lacks?: (() => string | undefined) | undefined;
  /** What it took, where that was measured. Only stores have it. */
  readonly measured?: StoreMeasure | undefined;
  /** Has a database examined that nobody works on: `sluice doctor --store`. Only stores have it. */
  readonly doctor?: StoreExamination | undefined;
  /** Only for inference; never present at run time. */
  readonly "~payload"?: Payload | undefined;
  /** Only for inference; never present at run time. */
  readonly "~result"?: readonly [Result] | undefined;
  /** Only for inference: what its options may be. Never present at run time. */
  "~accepts"?(options: Input): void;
}

/**
 * A key of a lane that strategies may leave unread: `check` says where none in use reads it.
 *
 * @internal
 */
export type OptionalRead = "weight" | "startWithinMs";

/** What a store took, measured: `check` says which loads are more. */
export interface StoreMeasure {
  /** Keys or rows that a job changes from its enqueue to its end. */
  readonly writesPerJob: number;
  /** Keys or rows changed a second, in commits of ten jobs. */
  readonly writesPerSec: number;
}

/** `cluster`: over all processes that share a store together; `process`: in each. */
export type Scope = "cluster" | "process";

/** A plugin with its options, as a config given in code holds it. */
export interface Slot<K extends Kind = Kind, Payload = unknown, Result = unknown> {
  /** The plugin. */
  readonly use: Plugin<K, unknown, Payload, Result>;
  /** Its options, not yet checked. */
  readonly with?: unknown;
}

/** A plugin with checked options: ready to make instances. */
export interface Bound<K extends Kind = Kind> {
  /** What it makes. */
  readonly kind: K;
  /** Name of the plugin. */
  readonly name: string;
  /** Options as given, with `{ "env": … }` unresolved: what may be shown. */
  readonly given: unknown;
  /** Options as checked, defaults filled in. */
  readonly options: unknown;
  /** What checked them. `undefined`: the plugin takes none. */
  readonly schema?: StandardSchema | undefined;
  /** What was bound: tells two plugins of one name apart. `undefined`: not known. */
  readonly plugin?: Plugin | undefined;
  /** Makes an instance. */
  create(context: PluginContext): Instances[K];
}

/**
 * What a plugin may know of the pool that other options are tried for.
 *
 * @internal
 */
export type VariantContext = Pick<PluginContext, "lanes" | "size">;

/** What a define helper takes: name, options schema, factory. */
export interface Definition<K extends Kind, Schema extends StandardSchema> {
  /** `kebab-case`, as written after `use` in a config. */
  readonly name: string;
  /** Checks the options and fills in defaults. Omitted: it takes none. */
  readonly options?: Schema | undefined;
  /** Makes an instance from checked options. */
  readonly create: (options: OutputOf<Schema>, context: PluginContext) => Instances[K];
  /**
   * Options near the checked ones that `sluice tune` tries in a simulation, each of one key: a step up
   * and a step down. What does not fit the pool is left out by it. Omitted: none are tried.
   */
  readonly variants?:
    | ((
      options: OutputOf<Schema>,
      pool: VariantContext,
    ) => readonly Readonly<Record<string, unknown>>[])
    | undefined;
}

/**
 * The options of a plugin that takes none.
 *
 * @internal
 */
export type NoOptions = StandardSchema<Record<string, never>>;

/**
 * What `defineController` takes.
 *
 * @internal
 */
export interface ControllerDefinition<Schema extends StandardSchema>
  extends Definition<"controller", Schema> {
  /** True: it asks for one worker count, whatever comes. @default {false} */
  readonly constant?: boolean | undefined;
  /** Keys of lanes that it goes by, of those that not all controllers do. @default {[]} */
  readonly reads?: readonly OptionalRead[] | undefined;
}

/** Defines a controller: how many workers? */
export function defineController<Schema extends StandardSchema = NoOptions>(
  definition: ControllerDefinition<Schema>,
): Plugin<"controller", InputOf<Schema>> {
  const { constant = false, reads = [] } = definition;
  return { ...define("controller", definition), constant, reads };
}

/**
 * What `defineLanePolicy` takes.
 *
 * @internal
 */
export interface LanePolicyDefinition<Schema extends StandardSchema>
  extends Definition<"lane-policy", Schema> {
  /** Keys of lanes that it goes by, of those that not all policies do. @default {[]} */
  readonly reads?: readonly OptionalRead[] | undefined;
}

/** Defines a lane policy: which lane does the next free worker serve? */
export function defineLanePolicy<Schema extends StandardSchema = NoOptions>(
  definition: LanePolicyDefinition<Schema>,
): Plugin<"lane-policy", InputOf<Schema>> {
  return { ...define("lane-policy", definition), reads: definition.reads ?? [] };
}

/**
 * What `defineCap` takes.
 *
 * @internal
 */
export interface CapDefinition<Schema extends StandardSchema> extends Definition<"cap", Schema> {
  /** Where it holds unless its slot says otherwise. @default {"process"} */
  readonly scope?: Scope | undefined;
  /** True: it tries other sizes to see what comes of them, which `doctor` takes for no swinging. @default {false} */
  readonly tries?: boolean | undefined;
}

/** Defines a cap: how far may the pool grow, how fast may jobs start? */
export function defineCap<Schema extends StandardSchema = NoOptions>(
  definition: CapDefinition<Schema>,
): Plugin<"cap", InputOf<Schema>> {
  const { scope = "process", tries = false } = definition;
  return { ...define("cap", definition), scope, tries };
}

/** Defines a retirement: which workers stop now? */
export function defineRetirement<Schema extends StandardSchema = NoOptions>(
  definition: Definition<"retirement", Schema>,
): Plugin<"retirement", InputOf<Schema>> {
  return define("retirement", definition);
}

/**
 * What `defineAdmission` takes.
 *
 * @internal
 */
export interface AdmissionDefinition<Schema extends StandardSchema>
  extends Definition<"admission", Schema> {
  /** True: it rejects jobs that would wait for too long. @default {false} */
  readonly sheds?: boolean | undefined;
}

/** Defines an admission: take this job, or turn it away? */
export function defineAdmission<Schema extends StandardSchema = NoOptions>(
  definition: AdmissionDefinition<Schema>,
): Plugin<"admission", InputOf<Schema>> {
  return { ...define("admission", definition), sheds: definition.sheds ?? false };
}

/** What `defineStore` takes. */
export interface StoreDefinition<Schema extends StandardSchema>
  extends Definition<"store", Schema> {
  /** Whether its jobs outlive the process. @default {true} */
  readonly durable?: boolean | undefined;
  /** What this process lacks to open it, and what to add; `undefined`: nothing. Omitted: nothing. */
  readonly lacks?: (() => string | undefined) | undefined;
  /** What it took, where that was measured. Omitted: `check` judges no load by it. */
  readonly measured?: StoreMeasure | undefined;
  /** Has a database examined that nobody works on. Omitted: `sluice doctor --store` does not. */
  readonly doctor?: StoreExamination | undefined;
}

/** Defines a store: where do jobs live? */
export function defineStore<Schema extends StandardSchema = NoOptions>(
  definition: StoreDefinition<Schema>,
): Plugin<"store", InputOf<Schema>> {
  const { durable = true, lacks, measured, doctor } = definition;
  return { ...define("store", definition), durable, lacks, measured, doctor };
}

/**
 * A handler with options: its factory gets them checked.
 *
 * @internal
 */
export interface HandlerDefinition<Schema extends StandardSchema, Payload, Resource, Result> {
  /** `kebab-case`, as written after `use` in a config. */
  readonly name: string;
  /** Checks the options and fills in defaults. Omitted: it takes none. */
  readonly options?: Schema | undefined;
  /** Makes the handler from checked options. */
  readonly create: (
    options: OutputOf<Schema>,
    context: PluginContext,
  ) => Handler<Payload, Resource, Result>;
}

/** A handler without options, written in one piece. */
export interface HandlerParts<Payload extends StandardSchema, Resource, Result = unknown> {
  /** Shown in faults. @default {"handler"} */
  readonly name?: string;
  /** Types `job.payload`; checked at enqueue and again before the run. */
  readonly payload?: Payload;
  /** Opens what a worker owns: a connection, a browser. */
  readonly start?: (workerId: string) => MaybePromise<Resource>;
  /** Runs one job. */
  readonly run: (job: Job<OutputOf<Payload>>, context: JobContext<Resource>) => Result;
  /** Closes what `start` opened. */
  readonly stop?: (resource: Resource) => MaybePromise<void>;
}

/** Defines a handler in one piece. */
export function defineHandler<
  Payload extends StandardSchema = StandardSchema,
  Resource = undefined,
  Result = unknown,
>(
  parts: HandlerParts<Payload, Resource, Result>,
): Plugin<"handler", Record<string, never>, InputOf<Payload>, Awaited<Result>>;
/** Defines a handler that takes options. */
export function defineHandler<
  Schema extends StandardSchema = NoOptions,
  Payload = unknown,
  Resource = undefined,
  Result = unknown,
>(
  definition: HandlerDefinition<Schema, Payload, Resource, Result>,
): Plugin<"handler", InputOf<Schema>, Payload, Awaited<Result>>;
export function defineHandler(
  given:
    | HandlerParts<StandardSchema, unknown>
    | HandlerDefinition<StandardSchema, unknown, unknown, unknown>,
): Plugin<"handler"> {
  if ("create" in given) return define("handler", given);
  const { name = "handler", ...handler } = given;
  return define("handler", { name, create: () => handler });
}

/** Pairs a plugin with its options, for a config given in code. Options without defaults must be given. */
export function use<K extends Kind, Input, Payload, Result>(
  plugin: Plugin<K, Input, Payload, Result>,
  ...options: Record<never, never> extends Input ? [options?: Input] : [options: Input]
): Slot<K, Payload, Result> {
  return options[0] === undefined ? { use: plugin } : { use: plugin, with: options[0] };
}

/** True if `value` is a plugin of `kind`. */
export function isPlugin<K extends Kind>(value: unknown, kind: K): value is Plugin<K> {
  return typeof value === "object" && value !== null && "kind" in value && value.kind === kind &&
    "name" in value && typeof value.name === "string" && "create" in value &&
    typeof value.create === "function";
}

function define<K extends Kind, Schema extends StandardSchema>(
  kind: K,
  definition: Definition<K, Schema>,
): Plugin<K, InputOf<Schema>> {
  const { variants } = definition;
  return {
    kind,
    name: definition.name,
    ...(variants && {
      variants: (options, pool) => variants(options as OutputOf<Schema>, pool), // checked by `bind`
    }),
    options: definition.options as StandardSchema<InputOf<Schema>, unknown> | undefined, // the schema's own input
    create: (options, context) => definition.create(options as OutputOf<Schema>, context), // checked by `bind`
  };
}

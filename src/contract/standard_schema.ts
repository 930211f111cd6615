/**
 * The Standard Schema interface (standardschema.dev, version 1): what valibot, zod and arktype
 * schemas have in common. Declared here so that no validator is part of the public types.
 *
 * @module
 */

/** A schema of any validator that implements Standard Schema. */
export interface StandardSchema<Input = unknown, Output = Input> {
  /** The interface's one property. */
  readonly "~standard": StandardSchemaProps<Input, Output>;
}

/** What a Standard Schema offers. */
export interface StandardSchemaProps<Input = unknown, Output = Input> {
  /** Version of the interface. */
  readonly version: 1;
  /** Name of the validator. */
  readonly vendor: string;
  /** Checks a value. */
  readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>;
  /** Only for inference; never present at run time. */
  readonly types?: { readonly input: Input; readonly output: Output } | undefined;
}

/** What a check came to. */
export interface StandardResult<Output> {
  /** The checked value, if there are no issues. */
  readonly value?: Output;
  /** What is wrong. `undefined`: nothing. */
  readonly issues?: readonly StandardIssue[] | undefined;
}

/** One thing that is wrong with a value. */
export interface StandardIssue {
  /** What is wrong. */
  readonly message: string;
  /** Where, as property names, indices or segments with a `key`. */
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** What may be given to a schema. */
export type InputOf<S> = S extends StandardSchema<infer Input, unknown> ? Input : never;

/** What a schema makes of it. */
export type OutputOf<S> = S extends StandardSchema<infer _Input, infer Output> ? Output : never;

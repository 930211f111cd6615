/**
 * Refuses keys that a config does not have at compile time, wherever they stand.
 *
 * @module
 */

/**
 * `unknown` keys of `Given` become a type that no value has; `Shape` is what may be given. Options of
 * plugins and payloads are theirs.
 *
 * @internal
 */
export type KnownKeys<Given, Shape> = Given extends Whole ? unknown
  : Given extends readonly unknown[]
    ? { readonly [Index in keyof Given]: KnownKeys<Given[Index], ItemOf<Shape>> }
  : {
    readonly [Key in keyof Given]: Key extends KeyOf<Shape>
      ? unknown extends ValueOf<Shape, Key> ? unknown : KnownKeys<Given[Key], ValueOf<Shape, Key>>
      : `No key is named ${Key & string}`;
  };

/** What is not looked into: plain values, functions, plugins, addresses. */
type Whole =
  | string
  | number
  | boolean
  | null
  | undefined
  | URL
  | { readonly create: unknown }
  | ((...given: never) => unknown);

type KeyOf<Shape> = Shape extends Whole ? never : keyof Shape;

type ValueOf<Shape, Key> = Shape extends Whole ? never
  : Key extends keyof Shape ? Shape[Key]
  : never;

type ItemOf<Shape> = Shape extends readonly (infer Item)[] ? Item : never;

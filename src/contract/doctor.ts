/**
 * The doctor of a store: what a store plugin may bring to have a database examined that nobody works on.
 *
 * @module
 */

/** Something that does not agree in a database. */
export interface StoreFinding {
  /** Name of the pool. */
  readonly pool: string;
  /** What kind of fault it is. */
  readonly kind: string;
  /** What was seen, in a sentence. */
  readonly saw: string;
  /** What a repair does. `undefined`: there is none. */
  readonly repair: string | undefined;
}

/** An open database that nobody should work on. */
export interface StoreDoctor {
  /** What it holds. @throws {RangeError} If it is of a newer release, or none of ours. */
  contents(): Promise<{ readonly pools: readonly string[]; readonly jobs: number }>;
  /** Pools that someone works on. `waiting` hears how long it will watch, ms. */
  worked(waiting: (ms: number) => void): Promise<readonly string[]>;
  /** What does not agree. */
  faults(): Promise<readonly StoreFinding[]>;
  /** Repairs what it can. What is left. */
  repair(nowMs: number): Promise<readonly StoreFinding[]>;
}

/** How a database file is examined. */
export interface StoreExamination {
  /** Name of the engine below the store. */
  readonly engine: string;
  /**
   * What the engine below it reports of a file, before anything else believes what is in it. Empty:
   * it is whole. Not for a file that this process has open.
   */
  damageIn(file: string): Promise<readonly string[]>;
  /** Opens a file. Makes none. @throws {Deno.errors.NotFound} If there is none. */
  open(file: string): Promise<{ readonly doctor: StoreDoctor; close(): void }>;
}

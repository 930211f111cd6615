/**
 * What is under way, oldest first.
 *
 * @module
 */

/** One that is under way, or was. */
export class OpenEntry<T> {
  /** False once it was taken out. */
  isOpen = true;
  before: OpenEntry<T> | undefined = undefined;
  after: OpenEntry<T> | undefined = undefined;

  /** Begins alone. */
  constructor(readonly value: T) {}
}

/**
 * Adds at the end, and removes from anywhere, in O(1).
 *
 * A `Set` does that too, and what went through it stays: each of the tables that it outgrows refers to the
 * next. The first one that lives long enough to be moved to the old space keeps all later ones, and what
 * was in them, until a full collection.
 */
export class OpenList<T> {
  #first: OpenEntry<T> | undefined;
  #last: OpenEntry<T> | undefined;

  /** The oldest. `undefined`: nothing is under way. */
  get first(): T | undefined {
    return this.#first?.value;
  }

  /** Takes one in. */
  add(value: T): OpenEntry<T> {
    const open = new OpenEntry(value);
    open.before = this.#last;
    if (this.#last === undefined) this.#first = open;
    else this.#last.after = open;
    this.#last = open;
    return open;
  }

  /** Takes one out. False: it was taken out before. */
  delete(open: OpenEntry<T>): boolean {
    if (!open.isOpen) return false;
    const { before, after } = open;
    if (before === undefined) this.#first = after;
    else before.after = after;
    if (after === undefined) this.#last = before;
    else after.before = before;
    open.isOpen = false;
    open.before = open.after = undefined; // or what comes later lives as long as this
    return true;
  }

  /** Takes the oldest out. */
  shift(): T | undefined {
    const open = this.#first;
    if (open !== undefined) this.delete(open);
    return open?.value;
  }

  /** All that are under way, oldest first. */
  values(): T[] {
    const values: T[] = [];
    for (let open = this.#first; open !== undefined; open = open.after) values.push(open.value);
    return values;
  }
}

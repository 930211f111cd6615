/**
 * A binary heap.
 *
 * @module
 */

/** Keeps the least item on top. Push and pop are O(log n). */
export class Heap<Item> {
  readonly #items: Item[] = [];
  readonly #before: (a: Item, b: Item) => boolean;

  /** `before(a, b)`: whether `a` comes out before `b`. */
  constructor(before: (a: Item, b: Item) => boolean) {
    this.#before = before;
  }

  /** Items held. */
  get size(): number {
    return this.#items.length;
  }

  /** The least item. `undefined` if there is none. */
  peek(): Item | undefined {
    return this.#items[0];
  }

  /** Adds an item. */
  push(item: Item): void {
    const items = this.#items;
    let index = items.length;
    items.push(item);
    while (index > 0) {
      const parent = (index - 1) >> 1;
      if (!this.#before(item, items[parent]!)) break;
      items[index] = items[parent]!;
      index = parent;
    }
    items[index] = item;
  }

  /** Takes the least item out. `undefined` if there is none. */
  pop(): Item | undefined {
    const items = this.#items;
    const top = items[0];
    const last = items.pop();
    if (last === undefined || items.length === 0) return top;
    let index = 0;
    for (;;) {
      let child = 2 * index + 1;
      if (child >= items.length) break;
      if (child + 1 < items.length && this.#before(items[child + 1]!, items[child]!)) child++;
      if (!this.#before(items[child]!, last)) break;
      items[index] = items[child]!;
      index = child;
    }
    items[index] = last;
    return top;
  }
}

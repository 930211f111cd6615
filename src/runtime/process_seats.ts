/**
 * The seats of one process in records that several of its pools share: they hear of each other at once,
 * and know for certain which of them go on.
 *
 * @module
 */

/** As much of a seat as its neighbors ask for. */
export interface Neighbor {
  /** Its number in the record. Empty: it is not there. */
  readonly id: string;
  /** Another has changed the record. */
  told(): void;
}

/** Owns who of this process sits where. */
export class ProcessSeats {
  /** A name that no other process has. */
  readonly host: string = crypto.randomUUID();
  readonly #byRecord = new Map<string, Set<Neighbor>>();

  /** A pool takes its seat. */
  enter(record: string, seat: Neighbor): void {
    const seats = this.#byRecord.get(record) ?? new Set();
    this.#byRecord.set(record, seats.add(seat));
  }

  /** A pool has left, as far as it could. */
  leave(record: string, seat: Neighbor): void {
    this.#byRecord.get(record)?.delete(seat);
    this.changed(record, seat);
  }

  /** True if the one with that number goes on. */
  isHere(record: string, id: string): boolean {
    return this.#byRecord.get(record)?.values().some((seat) => seat.id === id) ?? false;
  }

  /** One has changed the record: a store tells other processes only. */
  changed(record: string, by: Neighbor): void {
    for (const seat of this.#byRecord.get(record) ?? []) if (seat !== by) seat.told();
  }
}

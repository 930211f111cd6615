/**
 * The wire format of Protocol Buffers, as far as KV Connect uses it: varints and bytes.
 *
 * @module
 */

/** Bytes that may be sent. */
export type Bytes = Uint8Array<ArrayBuffer>;

/** One field of a message. */
export interface Field {
  /** Its number in the schema. */
  readonly number: number;
  /** Its value, if it is a varint. */
  readonly value: bigint;
  /** Its content, if it is bytes or a message. */
  readonly bytes: Bytes;
}

const VARINT = 0;
const LENGTH_DELIMITED = 2;

/** No bytes. */
export const NO_BYTES: Bytes = new Uint8Array(0);

/** The fields of a message, in order. @throws {RangeError} If it is cut off or has others. */
export function* fieldsIn(message: Bytes): Generator<Field> {
  let at = 0;
  const varint = (): bigint => {
    let value = 0n;
    for (let shift = 0n;; shift += 7n) {
      const byte = message[at++];
      if (byte === undefined) throw new RangeError("The message is cut off");
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  };
  while (at < message.length) {
    const tag = Number(varint());
    const number = tag >> 3;
    const type = tag & 7;
    if (type === VARINT) {
      yield { number, value: varint(), bytes: NO_BYTES };
    } else if (type === LENGTH_DELIMITED) {
      const length = Number(varint());
      if (at + length > message.length) throw new RangeError("The message is cut off");
      yield { number, value: 0n, bytes: message.subarray(at, at + length) };
      at += length;
    } else throw new RangeError(`Expected a field of type 0 or 2 but received ${type}`);
  }
}

/** A message in the making. */
export class MessageWriter {
  readonly #pieces: Uint8Array[] = [];
  #length = 0;

  /** Adds a number. */
  int(number: number, value: number | bigint): this {
    return this.#add(varintOf(number << 3 | VARINT)).#add(varintOf(value));
  }

  /** Adds bytes, or another message. */
  bytes(number: number, bytes: Uint8Array): this {
    return this.#add(varintOf(number << 3 | LENGTH_DELIMITED)).#add(varintOf(bytes.length))
      .#add(bytes);
  }

  /** The message. */
  finish(): Bytes {
    const message = new Uint8Array(this.#length);
    let at = 0;
    for (const piece of this.#pieces) {
      message.set(piece, at);
      at += piece.length;
    }
    return message;
  }

  #add(piece: Uint8Array): this {
    this.#pieces.push(piece);
    this.#length += piece.length;
    return this;
  }
}

function varintOf(value: number | bigint): Uint8Array {
  const bytes: number[] = [];
  for (let left = BigInt(value);; left >>= 7n) {
    if (left < 0x80n) return Uint8Array.from([...bytes, Number(left)]);
    bytes.push(Number(left & 0x7fn) | 0x80);
  }
}

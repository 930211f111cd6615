/**
 * Whether only SQLite has written to the log (`-wal`) of a database. SQLite itself never asks: it goes on
 * behind the end of a log that was cut, and what it commits is lost.
 *
 * @module
 */

/** Bytes of what a log begins with. */
const HEADER_BYTES = 32;

/** What a log begins with. The last bit says in which order of bytes it is summed. */
const MAGIC = 0x377f0682;

/** Bytes before each page. */
const FRAME_HEADER_BYTES = 24;

/** Where the size of a page is in the header. */
const PAGE_SIZE_AT = 8;

/** Where the salts stand: two numbers that are others whenever SQLite begins the log again. */
const SALTS_AT = 16;

/** Where the sum over all before it is. */
const SUM_AT = 24;

/** How often a header is read that does not agree in itself: it may just be written. */
const MOST_READS = 4;

/**
 * Reads a log beside SQLite, which has no locks on it that closing it could lose. SQLite only appends to
 * it, or starts it again from its start, with other salts, and may cut it then; or empties it once all is
 * in the database. So under one header it never shrinks, and what stood in it is never blank.
 */
export class SameLog {
  /** True while nothing is in it: SQLite has emptied it, or something else has. The next commit tells. */
  isEmpty = false;
  readonly #path: string;
  readonly #bytes = new Uint8Array(HEADER_BYTES);
  readonly #header = new DataView(this.#bytes.buffer);
  #file: Deno.FsFile | undefined;
  #closed = false;
  #salts: bigint | undefined;
  #sum: bigint | undefined;
  #size = 0; // that it has had under this header
  #lastAt = 0; // where its last page stood then; 0: the header

  /** Reads the log of that name, once it is there. */
  constructor(path: string) {
    this.#path = path;
  }

  /**
   * Looks at it. What is wrong with it; `undefined`: nothing that can be seen.
   *
   * @param size How many bytes it had just now.
   */
  look(size: number): string | undefined {
    this.#file ??= this.#open();
    if (this.#file === undefined) return undefined;
    const isCut = size < this.#size || size > this.#size && this.#isBlank(this.#lastAt);
    // Last: if that is the header still, it was so all the while.
    const isThere = size >= HEADER_BYTES && this.#read(0);
    this.isEmpty = !isThere;
    if (!isThere) {
      this.#begin(undefined, undefined);
      return undefined;
    }
    const salts = this.#header.getBigUint64(SALTS_AT);
    const sum = this.#header.getBigUint64(SUM_AT);
    if (salts !== this.#salts || sum !== this.#sum) return this.#readAnew();
    if (isCut) return `${this.#path} was cut`;
    if (size > this.#size) this.#grow(size);
    return undefined;
  }

  /** Closes it: nothing is seen any more. */
  close(): void {
    this.#file?.close();
    this.#file = undefined;
    this.#closed = true;
    this.isEmpty = false;
  }

  /** `undefined`: no descriptor is left, or it is gone. Then the next look may see something. */
  #open(): Deno.FsFile | undefined {
    if (this.#closed) return undefined;
    try {
      return Deno.openSync(this.#path);
    } catch {
      return undefined;
    }
  }

  /** Another header than before: from now on that one, if it agrees in itself. */
  #readAnew(): string | undefined {
    for (let reads = 1; !isWhole(this.#header); reads++) {
      if (reads === MOST_READS) return `${this.#path} was cut or overwritten`;
      this.isEmpty = !this.#read(0);
      if (this.isEmpty) break;
    }
    // Its size may be that of the one before: the next look tells.
    if (this.isEmpty) this.#begin(undefined, undefined);
    else this.#begin(this.#header.getBigUint64(SALTS_AT), this.#header.getBigUint64(SUM_AT));
    return undefined;
  }

  #begin(salts: bigint | undefined, sum: bigint | undefined): void {
    this.#salts = salts;
    this.#sum = sum;
    this.#size = 0;
    this.#lastAt = 0;
  }

  #grow(size: number): void {
    const frameBytes = FRAME_HEADER_BYTES + this.#header.getUint32(PAGE_SIZE_AT);
    const frames = Math.floor((size - HEADER_BYTES) / frameBytes);
    this.#size = size;
    this.#lastAt = frames === 0 ? 0 : HEADER_BYTES + (frames - 1) * frameBytes;
  }

  /** Neither a header nor the number of a page begins with 0: what lies behind a cut does. */
  #isBlank(at: number): boolean {
    return !this.#read(at) || this.#header.getUint32(0) === 0;
  }

  /** Reads as many bytes as a header has. False if there are fewer. */
  #read(at: number): boolean {
    this.#file?.seekSync(at, Deno.SeekMode.Start);
    return this.#file?.readSync(this.#bytes) === HEADER_BYTES;
  }
}

/** Whether a header is one that SQLite has written. */
function isWhole(header: DataView): boolean {
  const magic = header.getUint32(0);
  if ((magic & ~1) !== MAGIC) return false;
  const isLittle = magic === MAGIC;
  let first = 0;
  let second = 0;
  for (let at = 0; at < SUM_AT; at += 8) {
    first = (first + header.getUint32(at, isLittle) + second) >>> 0;
    second = (second + header.getUint32(at + 4, isLittle) + first) >>> 0;
  }
  return header.getUint32(SUM_AT) === first && header.getUint32(SUM_AT + 4) === second;
}

/**
 * SQLite's own check of a database file, before anything else believes what is in it.
 *
 * @module
 */

/** Most faults that are reported. */
const MOST_FAULTS = 5;

/** SQLite's codes for a file that is damaged, or no database at all. */
const DAMAGED = [11, 26];

/**
 * What SQLite reports of a file. Empty: it is whole.
 *
 * Not for a file that this process has open: closing a second handle takes the locks of the first.
 *
 * @throws {Error} If it cannot be opened or read.
 */
export async function damageIn(file: string): Promise<readonly string[]> {
  const { DatabaseSync } = await import("node:sqlite");
  const database = new DatabaseSync(file, { readOnly: true });
  try {
    return database.prepare(`PRAGMA integrity_check(${MOST_FAULTS})`).all()
      .map(({ integrity_check: fault }) => String(fault))
      .filter((fault) => fault !== "ok");
  } catch (thrown) {
    if (!(thrown instanceof Error && "errcode" in thrown)) throw thrown;
    if (!DAMAGED.includes(Number(thrown.errcode) & 0xff)) throw thrown; // the rest is its extension
    return [thrown.message];
  } finally {
    database.close();
  }
}

/**
 * Opens the database that the options name, and refuses what would not keep jobs.
 *
 * @module
 */

import { messageOf, OptionError } from "../../../src/contract/errors.ts";
import type { Db } from "./db.ts";
import { openInTime } from "./remote_connection.ts";
import { newerDatabase, POINTERS_KEY, SCHEMA, SCHEMA_KEY } from "../record/keys.ts";
import { pointAtDone } from "./upgrade.ts";

/** Where the database is. */
export interface Whereabouts {
  /** A file, or `:memory:`. */
  readonly path?: string | undefined;
  /** Address of a database over the network. */
  readonly url?: string | undefined;
  /** Makes a relative path absolute. @default {from the current directory} */
  readonly locate?: ((path: string) => string) | undefined;
}

/** An open database. */
export interface Opened {
  /** The handle. */
  readonly kv: Deno.Kv;
  /** The file, if there is one. */
  readonly file: string | undefined;
  /** True over the network. */
  readonly remote: boolean;
  /** Opens another handle to the same. */
  readonly again: () => Promise<Deno.Kv>;
}

/** What this process lacks to open any database, and what to add. `undefined`: nothing. */
export function lackingKv(): string | undefined {
  if (typeof Deno.openKv === "function") return undefined;
  return 'Deno KV is not switched on: add "unstable": ["kv"] to deno.json, or run with --unstable-kv';
}

/**
 * Opens the database.
 *
 * @throws {OptionError} If neither `path` nor `url` says where it is, the file cannot be opened, or the
 * place would not last.
 */
export async function openDatabase({ path, url, locate = fromHere }: Whereabouts): Promise<Opened> {
  const lacking = lackingKv();
  if (lacking !== undefined) throw new TypeError(lacking);
  if (path !== undefined && url !== undefined) {
    throw new OptionError(["url"], "Expected path or url but received both: leave one out");
  }
  if (url !== undefined) return await openRemote(() => Deno.openKv(url));
  if (isOnDeploy()) return await openAttached(path);
  if (path === undefined) {
    throw new OptionError(
      ["path"],
      "Expected path, the file that keeps the jobs, or url: only Deno Deploy has a database " +
        "without either",
    );
  }
  if (path === ":memory:") return await openLocal(path);
  const file = locate(path);
  try {
    await Deno.mkdir(file.slice(0, file.lastIndexOf("/")) || "/", { recursive: true });
    return await openLocal(file);
  } catch (thrown) {
    throw new OptionError(
      ["path"],
      `The database "${file}" cannot be opened: ${messageOf(thrown)}; ${
        adviceOn(messageOf(thrown))
      }`,
    );
  }
}

/** What a start failed with, with the file and what helps, where the file is to blame that did open. */
export function withAdvice(file: string | undefined, thrown: unknown): unknown {
  const message = messageOf(thrown);
  if (file === undefined || !FULL.test(message) && !message.includes(LOCKED)) return thrown;
  const text = `The database "${file}" cannot be opened: ${message}; ${adviceOn(message)}`;
  return new Error(text, { cause: thrown });
}

/** What SQLite or the system says if a file cannot grow, or fails. */
const FULL = /disk is full|disk I\/O error|No space left/;

/** What SQLite says if another program does not let go of a file. */
const LOCKED = "database is locked";

/** What helps against what SQLite or the system says of a file. */
function adviceOn(message: string): string {
  if (FULL.test(message)) {
    return "check whether its disk is full or failing, free some space and start again";
  }
  if (message.includes(LOCKED)) {
    return "another program has locked it: stop that program, or wait for it, and start again";
  }
  return "use a database that Sluice created, or a new file in a writable folder";
}

/** Variables that Deno Deploy sets. */
const ON_DEPLOY = [
  "DENO_DEPLOYMENT_ID",
  "DENO_DEPLOY",
  "DENO_KV_REQUIRES_DISTRIBUTED_DATABASE",
] as const;

/** What is wrong on Deno Deploy without a database. */
const UNATTACHED = "No database is attached to this app: the temporary one of Deno Deploy is " +
  "lost with the instance, so attach one";

function fromHere(path: string): string {
  return path.startsWith("/") ? path : `${Deno.cwd()}/${path.replace(/^\.\//, "")}`;
}

/**
 * Marks a new database with the version of its key space, adds what earlier releases did not write, and
 * refuses one that is newer.
 */
export async function checkSchema(db: Db): Promise<void> {
  const { value, key, versionstamp } = await db.get<unknown>(SCHEMA_KEY);
  if (value === null) {
    const atomic = db.kv.atomic().check({ key, versionstamp }).set(SCHEMA_KEY, SCHEMA)
      .set(POINTERS_KEY, 1);
    await db.commit({ atomic, signals: false });
    return;
  }
  if (typeof value !== "number") {
    throw new RangeError(
      'The version of the database cannot be read: stop all processes and run "sluice doctor --store ' +
        'FILE --repair"',
    );
  }
  if (value <= SCHEMA) return await pointAtDone(db);
  throw newerDatabase(value, "run");
}

/** On Deno Deploy: the database that is attached to the app. */
async function openAttached(path: string | undefined): Promise<Opened> {
  if (path !== undefined) {
    throw new OptionError(
      ["path"],
      `Expected no path on Deno Deploy but received "${path}": files there do not last, ` +
        "so leave it out and attach a database to the app",
    );
  }
  try {
    const opened = await openRemote(() => Deno.openKv());
    if (await isRemote(opened.kv)) return opened;
    opened.kv.close();
  } catch (thrown) {
    // DENO_KV_REQUIRES_DISTRIBUTED_DATABASE makes `openKv` itself refuse.
    throw new OptionError([], `${UNATTACHED} (${messageOf(thrown)})`);
  }
  throw new OptionError([], UNATTACHED);
}

async function openRemote(open: () => Promise<Deno.Kv>): Promise<Opened> {
  return { kv: await openInTime(open), file: undefined, remote: true, again: open };
}

async function openLocal(path: string): Promise<Opened> {
  const open = (): Promise<Deno.Kv> => Deno.openKv(path);
  const file = path === ":memory:" ? undefined : path;
  return { kv: await open(), file, remote: false, again: open };
}

/** Only a local database, such as the temporary one of an app without any, has queues. */
async function isRemote(kv: Deno.Kv): Promise<boolean> {
  try {
    await kv.enqueue(null);
    return false;
  } catch {
    return true;
  }
}

function isOnDeploy(): boolean {
  return ON_DEPLOY.some((variable) => {
    const { state } = Deno.permissions.querySync({ name: "env", variable });
    return state === "granted" && Deno.env.get(variable) !== undefined;
  });
}

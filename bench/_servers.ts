/**
 * Servers of peers: found on this machine, started on a free port, their data in a temporary folder.
 *
 * @module
 */

import { LeftOut } from "./_bench.ts";

/** Where Debian keeps PostgreSQL's programs, a folder a version. */
const DEBIAN_POSTGRES = "/usr/lib/postgresql";

/** A server that runs. */
export interface PeerServer extends AsyncDisposable {
  /** Where it listens, on 127.0.0.1. */
  readonly port: number;
}

/** Starts Redis with its append-only file. @throws {LeftOut} If it is not on this machine. */
export async function startRedis(fsync: "everysec" | "always"): Promise<PeerServer> {
  const program = await findProgram("redis-server", []);
  const folder = await Deno.makeTempDir();
  const port = freePort();
  const data = ["--dir", folder, "--appendonly", "yes", "--appendfsync", fsync, "--save", ""];
  const command = new Deno.Command(program, {
    args: ["--bind", "127.0.0.1", "--port", `${port}`, ...data],
    stdout: "piped",
    stderr: "null",
  });
  return await runServer(command, { port, folder, says: "stdout" });
}

/** Starts PostgreSQL with initdb's defaults. @throws {LeftOut} If it is not on this machine. */
export async function startPostgres(): Promise<PeerServer> {
  const folders = await debianFolders();
  const [initdb, postgres] = await Promise.all(
    ["initdb", "postgres"].map((name) => findProgram(name, folders)),
  );
  const folder = await Deno.makeTempDir();
  const who = await userOf("postgres");
  if (who !== undefined) await Deno.chown(folder, who.uid, who.gid);
  const data = `${folder}/data`;
  const port = freePort();
  const made = await new Deno.Command(initdb!, {
    args: ["-D", data, "-U", "bench", "-A", "trust"],
    cwd: folder,
    ...who,
  }).output();
  if (!made.success) throw new Error(`initdb failed: ${new TextDecoder().decode(made.stderr)}`);
  const command = new Deno.Command(postgres!, {
    args: ["-D", data, "-p", `${port}`, "-h", "127.0.0.1", "-k", folder],
    cwd: folder,
    ...who,
    stdout: "null",
    stderr: "piped",
  });
  return await runServer(command, { port, folder, says: "stderr" });
}

/** Starts a server and waits until it says that it is ready. */
async function runServer(
  command: Deno.Command,
  { port, folder, says }: {
    readonly port: number;
    readonly folder: string;
    readonly says: "stdout" | "stderr";
  },
): Promise<PeerServer> {
  const child = command.spawn();
  const ready = Promise.withResolvers<void>();
  let said = "";
  const listening = async (): Promise<void> => {
    for await (const text of child[says].pipeThrough(new TextDecoderStream())) {
      said = (said + text).slice(-4000);
      if (/ready to accept connections/i.test(said)) ready.resolve();
    }
    ready.reject(new Error(`The server ended before it was ready: ${said}`));
  };
  const listened = listening();
  await ready.promise;
  return {
    port,
    [Symbol.asyncDispose]: async () => {
      child.kill(); // PostgreSQL waits for those who are about to leave
      await child.status;
      await listened;
      await Deno.remove(folder, { recursive: true });
    },
  };
}

/** A program on the PATH or in one of the folders. @throws {LeftOut} If it is in none of them. */
async function findProgram(name: string, folders: readonly string[]): Promise<string> {
  const all = [...(Deno.env.get("PATH") ?? "").split(":"), ...folders];
  for (const folder of all) {
    const path = `${folder}/${name}`;
    const isThere = await Deno.stat(path).then(({ isFile }) => isFile, () => false);
    if (isThere) return path;
  }
  throw new LeftOut(`${name} is not on this machine`);
}

async function debianFolders(): Promise<string[]> {
  const folders: string[] = [];
  try {
    for await (const { name } of Deno.readDir(DEBIAN_POSTGRES)) {
      folders.push(`${DEBIAN_POSTGRES}/${name}/bin`);
    }
  } catch (thrown) {
    if (!(thrown instanceof Deno.errors.NotFound)) throw thrown;
  }
  return folders;
}

/** The user that PostgreSQL runs as. `undefined`: this user, since only root is refused. */
async function userOf(name: string): Promise<{ uid: number; gid: number } | undefined> {
  if (Deno.uid() !== 0) return undefined;
  const [uid, gid] = await Promise.all(["-u", "-g"].map(async (flag) => {
    const { stdout } = await new Deno.Command("id", { args: [flag, name] }).output();
    return Number(new TextDecoder().decode(stdout));
  }));
  return uid! > 0 ? { uid: uid!, gid: gid! } : undefined;
}

function freePort(): number {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  return listener.addr.port;
}

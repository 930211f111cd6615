import assert from "node:assert/strict";

/** Debian's libfaketime: a process under it has the wall clock that a file says. */
const LIBRARY = ["x86_64-linux-gnu", "aarch64-linux-gnu"]
  .map((machine) => `/usr/lib/${machine}/faketime/libfaketimeMT.so.1`)
  .find((path) => {
    try {
      return Deno.statSync(path).isFile;
    } catch {
      return false;
    }
  });

const CHILD = new URL("_stepping.ts", import.meta.url).pathname;

/** How far a schedule of each second may be behind, ms: three times what it may in truth. */
const LATE_MS = 3 * 60_000;

interface Line {
  readonly kind: string;
  readonly id?: string;
  readonly atMs: number;
  readonly byMs?: number;
  readonly attempt?: number;
  readonly handedBack?: readonly string[];
}

/** Waits until what the processes have printed is as it should be. */
async function until(processes: readonly Stepping[], reached: () => boolean): Promise<void> {
  const late = Promise.withResolvers<void>();
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    late.resolve();
  }, LATE_MS);
  try {
    while (!reached()) {
      const says = (): string => JSON.stringify(processes.map(({ lines }) => lines.slice(-5)));
      assert.ok(!isLate && !processes.some(({ hasEnded }) => hasEnded), `It ends: ${says()}`);
      await Promise.race([late.promise, ...processes.map(({ heard }) => heard)]);
    }
  } finally {
    clearTimeout(timer);
  }
}

/** A process on `file` whose wall clock is that of `clockFile`. */
class Stepping {
  readonly lines: Line[] = [];
  readonly #child: Deno.ChildProcess;
  readonly #read: Promise<void>;
  #heard = Promise.withResolvers<void>();
  #hasEnded = false;

  constructor(file: string, clockFile: string, role: string) {
    this.#child = new Deno.Command(Deno.execPath(), {
      args: ["run", "-A", "--no-check", "--unstable-kv", CHILD, file, role],
      cwd: new URL("../../../", import.meta.url),
      env: {
        LD_PRELOAD: LIBRARY!,
        FAKETIME_TIMESTAMP_FILE: clockFile,
        FAKETIME_NO_CACHE: "1",
        FAKETIME_DONT_FAKE_MONOTONIC: "1",
        NO_FAKE_STAT: "1",
      },
      stdin: "piped",
      stdout: "piped",
      stderr: "inherit",
    }).spawn();
    this.#read = this.#listen();
  }

  /** Resolves with its next lines, or its end. */
  get heard(): Promise<void> {
    return this.#heard.promise;
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** Kills it, if it has not ended. */
  kill(): void {
    if (!this.#hasEnded) this.#child.kill("SIGKILL");
  }

  /** Ends it, as it should be ended. */
  async end(): Promise<void> {
    await this.#child.stdin.close();
    await this.#read;
    assert.equal((await this.#child.status).code, 0);
  }

  /** Waits until nothing of it is left. */
  async stop(): Promise<void> {
    if (!this.#child.stdin.locked) await this.#child.stdin.close().catch(() => {}); // it was, at its end
    await this.#read;
    await this.#child.status;
  }

  async #listen(): Promise<void> {
    let rest = "";
    for await (const text of this.#child.stdout.pipeThrough(new TextDecoderStream())) {
      const lines = (rest + text).split("\n");
      rest = lines.pop()!;
      this.lines.push(...lines.map((line) => JSON.parse(line)));
      const heard = this.#heard;
      this.#heard = Promise.withResolvers();
      heard.resolve();
    }
    this.#hasEnded = true;
    this.#heard.resolve();
  }
}

Deno.test({
  name: `two processes on one file follow real steps of the wall clock${
    LIBRARY === undefined ? " (LEFT OUT: there is no libfaketime)" : ""
  }`,
  ignore: LIBRARY === undefined,
  fn: async () => {
    const folder = await Deno.makeTempDir();
    const clockFile = `${folder}/clock`;
    await Deno.writeTextFile(clockFile, "+0");
    const processes = ["first", "second"].map((role) =>
      new Stepping(`${folder}/queue.db`, clockFile, role)
    );
    try {
      await follow(processes, clockFile);
    } finally {
      for (const process of processes) process.kill();
      await Promise.all(processes.map((process) => process.stop()));
      await Deno.remove(folder, { recursive: true });
    }
  },
});

async function follow(processes: readonly Stepping[], clockFile: string): Promise<void> {
  const every = (kind: string, from: readonly number[] = []): boolean =>
    processes.every(({ lines }, index) =>
      lines.slice(from[index] ?? 0).some((line) => line.kind === kind)
    );
  const lines = (from: readonly number[] = []): readonly Line[] =>
    processes.flatMap((process, index) => process.lines.slice(from[index] ?? 0));
  const starts = (from?: readonly number[]): readonly Line[] =>
    lines(from).filter(({ kind }) => kind === "job-started");
  const counts = (): readonly number[] => processes.map((process) => process.lines.length);
  await until(processes, () => every("ready") && starts().length > 1);
  const delayed = (): string | undefined => lines().find(({ kind }) => kind === "delayed")?.id;
  await until(processes, () => delayed() !== undefined);

  let nowS = 0;
  for (const atS of [-5, 3600, 0, 864_000, -86_400]) {
    const from = counts();
    const byMs = 1000 * (atS - nowS);
    await Deno.writeTextFile(clockFile, `${atS < 0 ? "" : "+"}${atS}`);
    nowS = atS;
    await until(processes, () => every("clock-stepped", from));
    const after = counts();
    await until(processes, () => starts(after).length >= 3);

    for (const [index, process] of processes.entries()) {
      const stepped = process.lines.slice(from[index]).filter((line) =>
        line.kind === "clock-stepped"
      );
      assert.equal(stepped.length, 1, "reported once");
      assert.ok(Math.abs(stepped[0]!.byMs! - byMs) < 2000, `${stepped[0]!.byMs} of ${byMs}`);
    }
    const shownMs = Date.now() + 1000 * atS;
    const off = starts(after).find(({ atMs }) => Math.abs(atMs - shownMs) > LATE_MS);
    assert.equal(off, undefined);
    if (atS === 3600) await until(processes, () => starts().some(({ id }) => id === delayed()));
  }

  for (const process of processes) await process.end();
  const faults = lines().filter(({ kind }) =>
    ["job-dead", "job-failed", "lease-lost"].includes(kind)
  );
  assert.deepEqual(faults, []);
  assert.deepEqual(lines().flatMap(({ handedBack = [] }) => handedBack), []);
  assert.equal(starts().every(({ attempt }) => attempt === 1), true);
}

import { connect } from "@sluice/sluice/client";
import assert from "node:assert/strict";

/** An instance of the service, and what it said. */
class Instance {
  readonly #child: Deno.ChildProcess;
  readonly #lines: AsyncIterator<string>;

  constructor(path: string) {
    const script = new URL("graceful.ts", import.meta.url).pathname;
    this.#child = new Deno.Command(Deno.execPath(), {
      args: ["run", "--no-prompt", "--no-check", "-A", "--unstable-kv", script, path],
      stdout: "piped",
      stderr: "null",
    }).spawn();
    this.#lines = linesOf(this.#child.stdout);
  }

  /** What it says next. */
  async said(): Promise<string> {
    return (await this.#lines.next()).value;
  }

  /** Asks it to end, as a service manager does. How it ended. */
  async end(): Promise<number> {
    this.#child.kill("SIGTERM");
    const { code } = await this.#child.status;
    await this.#lines.return?.();
    return code;
  }
}

async function* linesOf(stream: Deno.ChildProcess["stdout"]): AsyncGenerator<string> {
  let rest = "";
  for await (const text of stream.pipeThrough(new TextDecoderStream())) {
    const lines = `${rest}${text}`.split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) if (!line.startsWith("{")) yield line;
  }
}

Deno.test("examples/graceful.ts ends what runs, hands back what waits, and the next one goes on", async () => {
  const folder = await Deno.makeTempDir();
  try {
    const first = new Instance(`${folder}/queue.db`);
    const jobs = Array.from({ length: 8 }, () => ({ lane: "jobs", payload: { steps: 3 } }));
    const clientOf = (line: string) => connect(line.replace("Up at ", ""));
    const added = await clientOf(await first.said()).enqueueAll("work", jobs);
    assert.equal(await first.end(), 0);

    const next = new Instance(`${folder}/queue.db`);
    const client = clientOf(await next.said());
    const outcomes = await Promise.all(
      added.map((job) => {
        assert.ok("id" in job && job.id !== undefined);
        return client.wait(job.id);
      }),
    );

    assert.deepEqual(outcomes, jobs.map(() => ({ state: "done", result: "3 steps" })));
    assert.equal(await next.end(), 0);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

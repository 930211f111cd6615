/**
 * A service that is deployed without losing a job: at SIGTERM it takes no more, lets what runs end,
 * hands back the rest uncharged and exits. The next version, or another instance, goes on with the
 * same file. Run it: `deno run -A --unstable-kv examples/graceful.ts data/queue.db`.
 *
 * @module
 */

import { type Job, type JobContext, start } from "@sluice/sluice";

/** How long a job that runs may take to end. What kills it has to wait for longer: 10 s and more. */
const DRAIN_MS = 5000;

const [path = "./data/queue.db"] = Deno.args;

const sluice = await start({
  store: { use: "deno-kv", with: { path } },
  admin: { port: 0 },
  pools: {
    work: {
      handler: work,
      size: { min: 1, max: 4 },
      lanes: [{ name: "jobs" }],
      drainMs: DRAIN_MS,
    },
  },
});

for (const signal of ["SIGINT", "SIGTERM"] as const) Deno.addSignalListener(signal, stop);
say(`Up at ${sluice.adminUrl}`); // from here on GET /readyz answers 200

/** Does a job in steps. Between two of them it looks whether its time is over. */
async function work({ payload }: Job, context: JobContext): Promise<string> {
  const { steps = 1 } = payload as { readonly steps?: number }; // whatever was enqueued
  for (let step = 1; step <= steps; step++) {
    context.signal.throwIfAborted(); // the drain is over: the job goes back, and starts again elsewhere
    await new Promise((resolve) => setTimeout(resolve, 100));
    await context.progress({ step, steps });
  }
  return `${steps} steps`;
}

let stopping: Promise<void> | undefined;

/** Stops once, however many signals come: GET /readyz answers 503 meanwhile. */
function stop(): void {
  stopping ??= (async () => {
    say("Draining");
    const { handedBack, waiting } = await sluice.stop();
    say(`Stopped: ${handedBack.length} handed back, ${waiting} waiting`);
    Deno.exit(0);
  })();
}

function say(line: string): void {
  Deno.stdout.writeSync(new TextEncoder().encode(`${line}\n`));
}

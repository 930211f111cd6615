/** A process whose pool `p` hands the ends of its jobs on to pool `care`, on the file given as its argument. */

import { Fatal, start } from "../../../mod.ts";
import type { ConfigInput } from "../../../src/config/input.ts";

/** What the processes run: jobs of lane `last` take their process with them. */
export function handOnConfig(path: string): ConfigInput {
  return {
    store: { use: "deno-kv", with: { path } },
    pools: {
      p: {
        handler: async ({ lane, payload }) => {
          if (lane === "last" && import.meta.main) Deno.kill(Deno.pid, "SIGKILL");
          if (lane === "last") throw new Error("no");
          await new Promise((resolve) => setTimeout(resolve, 2));
          if (lane === "bad") throw new Fatal("no");
          return payload;
        },
        size: { min: 20, max: 20 },
        leaseMs: 1000,
        keep: { done: 0, dead: 5000 },
        onDead: { pool: "care", lane: "dead" },
        lanes: [
          { name: "bad", attempts: 100 },
          { name: "good", attempts: 100, then: { pool: "care", lane: "done" } },
          { name: "last", attempts: 1 },
        ],
      },
      care: {
        handler: () => {},
        size: { min: 0, max: 1 },
        lanes: [{ name: "dead", paused: true, maxDepth: 1 }, { name: "done", paused: true }],
      },
    },
  };
}

if (import.meta.main) {
  await start(handOnConfig(Deno.args[0]!));
  Deno.stdout.writeSync(new TextEncoder().encode("runs\n"));
}

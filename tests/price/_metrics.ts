/** What `/metrics` costs to be read. */

import { type ConfigInput, type Sluice, start } from "../../mod.ts";
import { admin } from "../../src/admin/mod.ts";

/** Judges what input of size `n` costs, and of four times that. */
type Judge = (
  what: string,
  n: number,
  run: (n: number, what: string) => Promise<void>,
) => Promise<void>;

/** What pools and lanes cost to be read: a scraper asks again and again. */
export async function readMetrics(judge: Judge): Promise<void> {
  const handler = (): void => {};
  const size = { min: 0, max: 1 };
  const shapes: Record<string, (n: number) => Record<string, object>> = {
    "lanes of a pool": (n) => ({
      p: { handler, size, lanes: Array.from({ length: n }, (_, lane) => ({ name: `l${lane}` })) },
    }),
    "pools": (n) =>
      Object.fromEntries(
        Array.from({ length: n / 4 }, (_, pool) => [
          `p${pool}`,
          { handler, size, lanes: [{ name: "a" }] },
        ]),
      ),
  };
  for (const [name, make] of Object.entries(shapes)) {
    const systems = new Map<number, Sluice>();
    for (const n of [1000, 4000]) {
      systems.set(n, await start({ pools: make(n) } as unknown as ConfigInput));
    }
    await judge(`GET /metrics, ${name}`, 1000, async (n, what) => {
      const response = await admin(systems.get(n)!).request("/metrics");
      if (!(await response.text()).includes("_sum")) throw new Error(`${what}: no metrics`);
    });
    for (const system of systems.values()) await system.stop();
  }
}

/**
 * How long jobs wait of the one process that has work, while permits of a cluster cap are with another:
 * `deno run -A bench/permit_waits.ts`. Two pools on one file, each with a lane of its own, 10 workers
 * between them; each in turn gets 60 jobs of 20 ms, every 1.5 s.
 *
 * @module
 */

// deno-lint-ignore-file no-console
import { start } from "../mod.ts";
import { delay } from "../src/base/async.ts";
import type { ConfigInput } from "../src/config/input.ts";
import type { Sluice } from "../src/runtime/handles.ts";

const BURSTS = 12;
const JOBS = 60;
const EVERY_MS = 1500;
const RUN_MS = 20;

async function waitsAt(reportMs: number): Promise<readonly number[]> {
  const folder = await Deno.makeTempDir();
  const waits: number[] = [];
  const open = (lane: string): Promise<Sluice> => {
    const config: ConfigInput = {
      store: { use: "deno-kv", with: { path: `${folder}/queue.db` } },
      pools: {
        p: {
          handler: () => delay(RUN_MS),
          size: { min: 1, max: 10 },
          lanes: [{ name: lane }],
          caps: [{ use: "fixed-cap", with: { workers: 10 }, scope: "cluster", reportMs }],
          adaptive: false,
        },
      },
    };
    return start(config, {
      observer: (event) => {
        if (event.kind === "job-started") waits.push(event.waitMs);
      },
    });
  };
  const both = [await open("a"), await open("b")] as const;
  await delay(500);
  for (let burst = 0; burst < BURSTS; burst++) {
    const [pool, lane] = [both[burst % 2]!.pool("p"), burst % 2 === 0 ? "a" : "b"];
    await pool.enqueueAll(Array.from({ length: JOBS }, () => ({ lane, payload: 0 })));
    await delay(EVERY_MS);
  }
  await Promise.all(both.map((sluice) => sluice.stop()));
  await Deno.remove(folder, { recursive: true });
  return waits.toSorted((a, b) => a - b);
}

console.log("reportMs   p50   p95   max   (ms)");
for (const reportMs of [10, 50, 200, 1000]) {
  const waits = await waitsAt(reportMs);
  const at = (share: number): string =>
    waits[Math.min(waits.length - 1, Math.floor(share * waits.length))]!.toFixed(0).padStart(5);
  console.log(`${String(reportMs).padStart(8)} ${at(0.5)} ${at(0.95)} ${at(1)}`);
}

/**
 * `deno task soak MINUTES`: worker processes on one database file, killed and frozen at random, with
 * clocks that differ and a database that fails now and then. For this many minutes jobs come; in the end
 * none may be lost or ended twice, counts must be exact, and nothing may be left over.
 */

import assert from "node:assert/strict";
import { messageOf } from "../../../src/contract/errors.ts";
import { randomStream } from "../../../src/base/random.ts";
import { Fleet, now, sleep } from "./_fleet.ts";

const LEASE_MS = 900;
const WORKERS = 4;
/** Jobs that come at least, however slow the machine is. */
const LEAST_JOBS = 15_000;
/** Jobs that wait at most before more are added. */
const MOST_WAITING = 3000;
const BATCH = 500;
const REPORT_EVERY_MS = 10_000;

const [minutes = 30, seed = Date.now() % 1e9] = Deno.args.map(Number);
if (!(minutes > 0)) {
  say("Usage: deno task soak [MINUTES] [SEED]");
  Deno.exit(2);
}
const random = randomStream(seed);
const folder = await Deno.makeTempDir({ prefix: "soak" });
const harms = { killed: 0, stopped: 0, frozen: 0 };
say(`Soak of ${minutes} min with seed ${seed} in ${folder}`);
try {
  await soak();
  await Deno.remove(folder, { recursive: true });
} catch (thrown) {
  say(`FAILED: ${messageOf(thrown)}\nThe database and what processes wrote down stay in ${folder}`);
  Deno.exit(1);
}

async function soak(): Promise<void> {
  const fleet = await Fleet.open(folder, {
    leaseMs: LEASE_MS,
    aheadMs: 40_000,
    faultEvery: 150,
    oddShare: 0.1,
  });
  try {
    for (let worker = 0; worker < WORKERS; worker++) fleet.start();
    const untilMs = now() + minutes * 60_000;
    const harming = harm(fleet, untilMs);
    harming.catch(() => {}); // told where it is awaited
    for (let reportAtMs = now(); now() < untilMs || fleet.added < LEAST_JOBS;) {
      const [waiting, running] = await fleet.look();
      if (waiting < MOST_WAITING) await fleet.add(BATCH);
      else await sleep(50);
      if (now() < reportAtMs) continue;
      reportAtMs = now() + REPORT_EVERY_MS;
      say(`${fleet.added} jobs added, ${waiting} wait, ${running} run; ${JSON.stringify(harms)}`);
    }
    await harming;
    await fleet.finish();
    const { ended, leases, refused } = await fleet.check();
    assert.ok(fleet.added >= LEAST_JOBS);
    const { size } = await Deno.stat(fleet.path);
    say(
      `OK: ${fleet.added} jobs, ${ended} ends written down, none twice, none lost; ` +
        `${leases} leases, ${refused} ends refused; ${JSON.stringify(harms)}; ` +
        `the file has ${(size / 1e6).toFixed(1)} MB`,
    );
  } finally {
    await fleet.close();
  }
}

/** Kills, stops and freezes one process after the other, and starts others in their place. */
async function harm(fleet: Fleet, untilMs: number): Promise<void> {
  while (now() < untilMs) {
    await sleep(300 + random() * 1500);
    const victim = fleet.live[Math.floor(random() * fleet.live.length)]!;
    const chance = random();
    if (chance < 0.4) {
      harms.killed++;
      await fleet.kill(victim, "SIGKILL");
      fleet.start();
    } else if (chance < 0.5) {
      harms.stopped++;
      await fleet.kill(victim, "SIGTERM");
      fleet.start();
    } else {
      harms.frozen++;
      await fleet.freeze(victim, random() * 3 * LEASE_MS);
    }
  }
}

function say(text: string): void {
  Deno.stdout.writeSync(new TextEncoder().encode(`${text}\n`));
}

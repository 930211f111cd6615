/**
 * `deno task soak MINUTES [SEED]`: real processes, files, sockets, disks and clocks for this many minutes.
 * Half of the time goes to the store alone, half to `sluice run` as its users run it.
 */

import { DATA } from "./_config.ts";
import { soakService } from "./service.ts";

/** Room that a minute's jobs take on the disk, all of which are kept to be listed in the end, MB. */
const DISK_MB_PER_MINUTE = 160;

const [minutes = 30, seed = Date.now() % 1e9] = Deno.args.map(Number);
if (!(minutes > 0)) {
  say("Usage: deno task soak [MINUTES] [SEED]");
  Deno.exit(2);
}
const isWell = [await soakStore(minutes / 2), await soakTheService(minutes / 2)];
Deno.exit(isWell.every(Boolean) ? 0 : 1);

async function soakStore(minutes: number): Promise<boolean> {
  const script = new URL("../stores/deno_kv/soak.ts", import.meta.url).pathname;
  const { success } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "--no-prompt", "-A", "--unstable-kv", script, String(minutes), String(seed)],
    stdout: "inherit",
    stderr: "inherit",
  }).spawn().status;
  return success;
}

async function soakTheService(minutes: number): Promise<boolean> {
  const folder = await Deno.makeTempDir({ prefix: "soak-service" });
  await Deno.mkdir(`${folder}/${DATA}`);
  const size = `size=${Math.ceil(DISK_MB_PER_MINUTE * Math.max(1, minutes))}m`;
  const disk = await isDone("mount", [
    "-t",
    "tmpfs",
    "-o",
    size,
    "sluice-soak",
    `${folder}/${DATA}`,
  ]);
  say(`Soak of the service for ${minutes} min with seed ${seed} in ${folder}`);
  if (!disk) say("WARNING: no disk can be mounted here: the disk is not filled");
  try {
    const { acknowledged, starts, harms, faults } = await soakService({
      folder,
      minutes,
      seed,
      disk,
      say,
    });
    const sum = `${acknowledged} jobs acknowledged, ${starts} starts; ${JSON.stringify(harms)}`;
    if (faults.length === 0) {
      say(`OK: ${sum}; none lost`);
      return true;
    }
    say(`FAILED: ${sum}; ${faults.length} faults:`);
    for (const fault of faults.slice(0, 30)) say(`  ${fault}`);
    say(`What processes wrote down stays in ${folder}`);
    return false;
  } finally {
    if (disk) await isDone("umount", [`${folder}/${DATA}`]);
  }
}

async function isDone(command: string, args: readonly string[]): Promise<boolean> {
  try {
    const { success } = await new Deno.Command(command, { args: [...args], stderr: "null" })
      .output();
    return success;
  } catch {
    return false; // there is no such command
  }
}

function say(text: string): void {
  Deno.stdout.writeSync(new TextEncoder().encode(`${text}\n`));
}

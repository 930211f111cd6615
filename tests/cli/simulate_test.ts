import assert from "node:assert/strict";
import { join } from "node:path";
import { sluice, temporaryFolder } from "./_io.ts";

const CONFIG = {
  pools: {
    mail: {
      handler: "./never_loaded.ts",
      size: { min: 2, max: 32 },
      lanes: [{ name: "urgent" }, { name: "batch" }],
    },
  },
};

const SCENARIO = {
  durationMs: 2000,
  pools: {
    mail: {
      lanes: {
        urgent: {
          arrivals: { kind: "poisson", perSec: 300 },
          serviceMs: { kind: "lognormal", ms: 20, cv: 0.7 },
          failRate: 0.05,
        },
        batch: { backlog: 40, serviceMs: { kind: "uniform", min: 100, max: 300 }, keys: 5 },
      },
    },
  },
};

interface Files extends AsyncDisposable {
  readonly config: string;
  readonly other: string;
  readonly scenario: string;
}

/** A config, another that holds one worker, and a scenario. */
async function files(scenario: object = SCENARIO): Promise<Files> {
  const folder = await temporaryFolder();
  const write = async (name: string, content: object): Promise<string> => {
    const path = join(folder.path, name);
    await Deno.writeTextFile(path, JSON.stringify(content));
    return path;
  };
  const few = { pools: { mail: { ...CONFIG.pools.mail, size: { min: 1, max: 4 } } } };
  return {
    config: await write("pools.json", CONFIG),
    other: await write("few.json", few),
    scenario: await write("scenario.json", scenario),
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  };
}

Deno.test("simulate shows a table of each pool", async () => {
  await using at = await files();

  const { code, out, err } = await sluice(["simulate", at.config, at.scenario]);

  const lines = out.trimEnd().split("\n");
  assert.deepEqual([code, err], [0, ""]);
  assert.equal(lines[0], `${at.config}: 2 s, seed 1`);
  assert.match(
    lines[2] ?? "",
    /^mail: \d+ to \d+ workers, .* worker-seconds\); \d+ scale events?, /,
  );
  assert.match(lines[3] ?? "", /^lane +arrived +done +dead +shed +left +per sec +wait p50 /);
  assert.match(lines[4] ?? "", /^urgent +\d+ /);
  assert.match(lines[5] ?? "", /^batch +40 /);
});

Deno.test("simulate --seed plays another run, and --json prints the report", async () => {
  await using at = await files();
  const run = (...more: string[]): ReturnType<typeof sluice> =>
    sluice(["simulate", at.config, at.scenario, "--json", ...more]);

  const first = JSON.parse((await run()).out);
  const other = JSON.parse((await run("--seed", "5")).out);
  const wrong = await run("--seed", "five");

  assert.deepEqual(Object.keys(first), ["seed", "durationMs", "pools"]);
  assert.deepEqual([first.seed, other.seed], [1, 5]);
  assert.notDeepEqual(first.pools, other.pools);
  assert.deepEqual([wrong.code, wrong.err], [
    2,
    'Expected --seed to be a whole number >= 0 but received "five"\n',
  ]);
});

Deno.test("simulate --compare says what is better and what is worse in the other config", async () => {
  await using at = await files();

  const args = ["simulate", at.config, at.scenario, "--compare", at.other];
  const plain = await sluice(args);
  const json = await sluice([...args, "--json"]);

  const lines = plain.out.trimEnd().split("\n");
  assert.equal(lines.at(-3), `${at.other} against ${at.config}`);
  assert.match(lines.at(-2) ?? "", /^Better: .*; mail [\d.]+ worker-seconds instead of \d/);
  assert.match(lines.at(-1) ?? "", /^Worse: mail\/urgent .* done instead of /);
  assert.deepEqual(Object.keys(JSON.parse(json.out)), ["report", "compared", "better", "worse"]);
});

Deno.test("simulate --html and --svg write pictures, of both configs if there are two", async () => {
  await using at = await files();
  const html = `${at.config}.html`;
  const svg = `${at.config}.svg`;
  const pictures = ["--html", html, "--svg", svg];

  const plain = await sluice(["simulate", at.config, at.scenario, ...pictures]);
  const one = await Deno.readTextFile(html);
  const json = await sluice([
    ...["simulate", at.config, at.scenario, "--compare", at.other, "--json"],
    ...pictures,
  ]);
  const two = await Deno.readTextFile(html);

  assert.match(plain.out, new RegExp(`^urgent [^]*\\n\\nWrote ${html} and ${svg}\\n$`, "m"));
  assert(one.includes(`<h1>${at.config} under ${at.scenario}</h1>`));
  assert.deepEqual(Object.keys(JSON.parse(json.out)), ["report", "compared", "better", "worse"]);
  assert(two.includes(`<h2>${at.other} against ${at.config}</h2>`));
  assert.match(await Deno.readTextFile(svg), /^<svg .*>Pool mail of .*few\.json<\/text>/s);
});

Deno.test("simulate exits 2 with every fault of the scenario in its place", async () => {
  await using at = await files({ durationMs: 0, pools: { mial: { lanes: {} } } });

  const { code, err } = await sluice(["simulate", at.config, at.scenario]);

  const lines = err.trimEnd().split("\n");
  assert.equal(code, 2);
  assert.equal(lines.length, 2);
  assert.match(lines[0] ?? "", /scenario\.json:1:15 \/durationMs: Expected a number > 0 /);
  assert.match(lines[1] ?? "", /\/pools\/mial: .* did you mean "mail"\?$/);
});

Deno.test("simulate shows its progress on a terminal, and a signal makes it report at once", async () => {
  await using at = await files({ ...SCENARIO, durationMs: 864_000_000 });
  let bar = "";
  let signal = (): void => {};

  const { code, out } = await sluice(["simulate", at.config, at.scenario], {
    terminal: true,
    err: (text) => {
      bar += text;
      signal();
    },
    onSignal: (handler) => {
      signal = handler;
      return () => {};
    },
  });

  assert.equal(code, 130);
  assert.match(bar, /^\r-{20,} 0 %\r +\rInterrupted: the report covers the time until then\n$/);
  assert.match(out, /, seed 1, interrupted\n/);
});

Deno.test("simulate --compare plays no second config, once the first was interrupted", async () => {
  await using at = await files({ ...SCENARIO, durationMs: 864_000_000 });
  let signals = 0;

  const { code, out } = await sluice(
    ["simulate", at.config, at.scenario, "--compare", at.config, "--json"],
    {
      onSignal: (handler) => {
        signals++;
        queueMicrotask(handler);
        return () => {};
      },
    },
  );

  assert.deepEqual([code, signals], [130, 1]);
  assert.equal(JSON.parse(out).interrupted, true);
});

for (const option of ["--html", "--svg"]) {
  Deno.test(`simulate ${option} says that its file cannot be written before it plays`, async () => {
    await using at = await files(SCENARIO);
    let listens = false;

    const { code, out, err } = await sluice(
      ["simulate", at.config, at.scenario, option, `${at.config}.d/picture`],
      {
        onSignal: () => {
          listens = true;
          return () => {};
        },
      },
    );

    assert.deepEqual([code, out, listens], [1, "", false]);
    assert.equal(err, "Cannot write the picture: its folder does not exist, create it first\n");
  });
}

Deno.test("simulate --real-time plays with real timers", async () => {
  await using at = await files({ ...SCENARIO, durationMs: 200 });
  const beganMs = performance.now();

  const { code, out } = await sluice(["simulate", at.config, at.scenario, "--real-time"]);

  assert.equal(code, 0);
  assert(performance.now() - beganMs >= 200);
  assert.match(out, /^urgent +\d\d /m);
});

Deno.test("simulate prints the same bytes in two processes", async () => {
  const scenario = {
    ...SCENARIO,
    peers: 2,
    timerLateMs: { kind: "exponential", ms: 0.3 },
    faults: [{ kind: "kill", atMs: 500, forMs: 300 }, {
      kind: "store-error",
      atMs: 900,
      forMs: 50,
    }],
  };
  await using at = await files(scenario);
  const run = async (): Promise<string> => {
    const { success, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
      args: [
        ...["run", "--no-prompt", "--allow-read", "--allow-env"],
        ...["src/cli/main.ts", "simulate", at.config, at.scenario, "--json"],
      ],
      cwd: new URL("../../", import.meta.url),
    }).output();
    assert(success, new TextDecoder().decode(stderr));
    return new TextDecoder().decode(stdout);
  };

  const [first, second] = await Promise.all([run(), run()]);

  assert(first.length > 1000);
  assert.equal(first, second);
});

Deno.test("schema --scenario prints the JSON Schema of scenarios", async () => {
  const { code, out } = await sluice(["schema", "--scenario"]);

  assert.equal(code, 0);
  assert.equal(JSON.parse(out).title, "Sluice scenario");
});

Deno.test("simulate says which strategy failed: the figures are not its own", async () => {
  await using at = await files();
  const pool = { ...CONFIG.pools.mail, caps: [{ use: "./broken.ts" }] };
  await Deno.writeTextFile(at.config, JSON.stringify({ pools: { mail: pool } }));
  await Deno.writeTextFile(
    join(at.config, "..", "broken.ts"),
    `export default {
      kind: "cap",
      name: "broken",
      create: () => () => { throw new Error("not today"); },
    };`,
  );

  const { code, out } = await sluice(["simulate", at.config, at.scenario]);

  assert.equal(code, 0);
  assert.match(
    out,
    /^Strategy "broken" failed, first at \d+ ms: not today\n {2}Change: Fix it: the pool ran without it/m,
  );
});

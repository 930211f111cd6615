import assert from "node:assert/strict";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { context, errorOf, faultsOf, pool, resolveFiles } from "./_bench.ts";

function config(handler: unknown, top: Readonly<Record<string, unknown>> = {}): string {
  return JSON.stringify({ ...top, pools: { mail: pool({ handler }) } });
}

/** The one message of a config whose handler is `use`, with modules beside it. */
async function messageOf(
  use: string,
  files: Readonly<Record<string, string>> = {},
): Promise<string> {
  const faults = await faultsOf(resolveFiles({ "pools.json": config(use), ...files }));
  assert.deepEqual(faults.map(({ pointer }) => pointer), ["/pools/mail/handler"]);
  return faults[0]?.message ?? "";
}

const twice = `
export default function mail(): string { return "default"; }
export const other = (): string => "other";
export const text = "text";
export const one = 1;
`;

Deno.test("loadExport() takes the default export, or the one after #", async () => {
  for (const [use, expected] of [["./a/mail.ts", "default"], ["./a/../a/mail.ts#other", "other"]]) {
    const files = { "pools.json": config(use), "a/mail.ts": twice };

    const settings = await resolveFiles(files);

    const bound = settings.pools[0]?.handlers.get("");
    assert.equal(bound?.name, use);
    const run = bound?.create(context).run;
    assert.equal(run === undefined ? undefined : Reflect.apply(run, undefined, []), expected);
  }
});

Deno.test("loadExport() takes a plugin with options", async () => {
  const source = new URL("../../src/contract/plugin.ts", import.meta.url).href;
  const module = `import { defineController } from ${JSON.stringify(source)};
export const still = defineController({ name: "still", create: () => () => ({ workers: 1, reason: "" }) });`;
  const files = {
    "pools.json": JSON.stringify({
      pools: { mail: pool({ controller: { use: "./still.ts#still" } }) },
    }),
    "still.ts": module,
  };

  const settings = await resolveFiles(files);

  assert.equal(settings.pools[0]?.controller.name, "still");
});

Deno.test("loadExport() takes a file: module within the folder", async () => {
  const folder = await Deno.realPath(await Deno.makeTempDir());
  try {
    const use = pathToFileURL(join(folder, "mail.ts")).href;
    await Deno.writeTextFile(join(folder, "mail.ts"), twice);
    await Deno.writeTextFile(join(folder, "pools.json"), config(use));

    // The same config from a folder of its own: the module lies outside of that.
    const outside = await faultsOf(resolveFiles({ "pools.json": config(use) }));

    assert.match(
      outside[0]?.message ?? "",
      /^The module "file:.*mail\.ts" lies outside the folder/,
    );
    const settings = await resolveFiles({ "pools.json": config("./mail.ts"), "mail.ts": twice });
    assert.equal(settings.pools[0]?.handlers.size, 1);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("loadExport() says which exports there are", async () => {
  assert.equal(
    await messageOf("./mail.ts#othr", { "mail.ts": twice }),
    'The module "./mail.ts" does not export "othr": did you mean "other"?',
  );
  assert.equal(
    await messageOf("./mail.ts#something", { "mail.ts": twice }),
    'The module "./mail.ts" does not export "something": expected one of "default", "one", "other", "text"',
  );
  assert.equal(
    await messageOf("./mail.ts", { "mail.ts": "export const a = 1, b = 2;" }),
    'The module "./mail.ts" does not export "default": it exports "a", "b", write "./mail.ts#a"',
  );
  assert.equal(
    await messageOf("./mail.ts", { "mail.ts": "export {};" }),
    'The module "./mail.ts" exports nothing: expected an export "default"',
  );
});

Deno.test("loadExport() refuses a handler module without a function", async () => {
  assert.equal(
    await messageOf("./mail.ts#text", { "mail.ts": twice }),
    'Expected a function (job, context) or a plugin made by defineHandler but "./mail.ts#text" is "text"',
  );
});

Deno.test("loadExport() keeps what a module throws, or why it cannot be compiled", async () => {
  const error = await errorOf(
    resolveFiles({
      "pools.json": config("./mail.ts"),
      "mail.ts": 'throw new RangeError("no luck");',
    }),
  );
  assert.match(error.message, /Cannot load the module "\.\/mail\.ts": no luck$/);
  assert.ok(error.cause instanceof RangeError);
  assert.match(
    await messageOf("./mail.ts", { "mail.ts": "export default function (" }),
    /^Cannot load the module "\.\/mail\.ts": /,
  );
});

Deno.test("loadExport() says that there is no such file", async () => {
  assert.equal(
    await messageOf("./mial.ts"),
    'Cannot find the module "./mial.ts": no such file, relative to the folder of the config',
  );
});

Deno.test("loadExport() says how a module is written", async () => {
  assert.equal(
    await messageOf("examples/mail.ts#send"),
    'A module starts with "./", "../" or "file:" but this is "examples/mail.ts#send": did you mean "./examples/mail.ts#send"?',
  );
  assert.equal(
    await messageOf("/etc/mail.ts"),
    'A module starts with "./", "../" or "file:" but this is "/etc/mail.ts"',
  );
});

Deno.test("loadExport() refuses modules outside the folder, also behind links", async () => {
  const outside = await Deno.realPath(await Deno.makeTempDir());
  try {
    await Deno.writeTextFile(join(outside, "evil.ts"), 'throw new Error("it ran");');
    const prepare = async (folder: string): Promise<void> => {
      await Deno.symlink(join(outside, "evil.ts"), join(folder, "linked.ts"));
      await Deno.symlink(outside, join(folder, "inner"));
    };
    const uses = [
      "./linked.ts",
      "./inner/evil.ts",
      `..${outside}/evil.ts`,
      "../../../../../../etc/hosts",
    ];
    for (const use of uses) {
      const faults = await faultsOf(resolveFiles({ "pools.json": config(use) }, { prepare }));
      const [fault] = faults;
      assert.match(
        fault?.message ?? "",
        use.startsWith("../..") || use.startsWith("./")
          ? /lies outside the folder of the config: move it to ".*" or below$/
          : /^Cannot find|lies outside/,
      );
    }
  } finally {
    await Deno.remove(outside, { recursive: true });
  }
});

Deno.test("loadExport() takes links that stay within the folder", async () => {
  const prepare = (folder: string): Promise<void> =>
    Deno.symlink(join(folder, "real.ts"), join(folder, "linked.ts"));

  const settings = await resolveFiles({ "pools.json": config("./linked.ts"), "real.ts": twice }, {
    prepare,
  });

  assert.equal(settings.pools[0]?.handlers.get("")?.name, "./linked.ts");
});

Deno.test("loadExport() refuses a folder whose name merely starts like the config's", async () => {
  const sibling = (folder: string): string => `${folder}-more`;
  let made = "";
  const prepare = async (folder: string): Promise<void> => {
    made = sibling(folder);
    await Deno.mkdir(made);
    await Deno.writeTextFile(join(made, "evil.ts"), 'throw new Error("it ran");');
    await Deno.writeTextFile(
      join(folder, "pools.json"),
      config(`../${made.split("/").at(-1)}/evil.ts`),
    );
  };
  try {
    const faults = await faultsOf(resolveFiles({ "pools.json": "" }, { prepare }));

    assert.match(faults[0]?.message ?? "", /lies outside the folder/);
  } finally {
    await Deno.remove(made, { recursive: true });
  }
});

Deno.test("loadExport() refuses modules from elsewhere that are not listed", async () => {
  const specifiers = [
    "npm:left-pad",
    "jsr:@a/b",
    "https://example.com/a.ts",
    "http://example.com/a.ts",
    "data:text/javascript,1",
    "blob:x",
  ];
  for (const use of specifiers) {
    const scheme = use.slice(0, use.indexOf(":"));
    assert.equal(
      await messageOf(use),
      `A "${scheme}:" module runs code from elsewhere: add "${use}" to "allowModules" to allow it`,
    );
  }
});

Deno.test("loadExport() loads modules from elsewhere that are listed exactly", async () => {
  const use = "data:text/javascript,export const a = () => 1;";

  const settings = await resolveFiles({
    "pools.json": config(`${use}#a`, { allowModules: [use] }),
  });

  assert.equal(settings.pools[0]?.handlers.get("")?.create(context).run.name, "a");
  const faults = await faultsOf(
    resolveFiles({ "pools.json": config(`${use}#a`, { allowModules: [`${use} `, "data:"] }) }),
  );
  assert.match(faults[0]?.message ?? "", /^A "data:" module runs code from elsewhere/);
});

Deno.test("resolveConfig() refuses a class as a handler", async () => {
  assert.match(
    await messageOf("./mail.ts", { "mail.ts": "export default class A { run() {} }" }),
    /Expected a function \(job, context\) or a plugin made by defineHandler but "\.\/mail\.ts" is a class/,
  );
});

Deno.test("loadExport() says of a folder that it is one", async () => {
  const files = { "a/mail.ts": twice };

  for (const use of ["./", "./a"]) {
    assert.equal(
      await messageOf(use, files),
      `The module "${use}" is a folder: name a file in it, such as "./handlers/mail.ts"`,
    );
  }
});

/** Runs the import of a module with this code in a process of its own: what it leaves behind goes with it. */
async function imported(code: string): Promise<{ readonly code: number; readonly err: string }> {
  const source = new URL("../../src/config/import.ts", import.meta.url).href;
  const url = `data:text/javascript,${encodeURIComponent(code)}`;
  const what = { url, module: "./m.ts", pointer: "/pools/p/handler", withinMs: 200 };
  const script = `import { importModule } from ${JSON.stringify(source)};
    await importModule(${JSON.stringify(what)}).catch(({ message }) => console.error(message));
    Deno.exit(1);`;
  const { code: exit, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--no-lock", `data:text/typescript,${encodeURIComponent(script)}`],
  }).output();
  return { code: exit, err: new TextDecoder().decode(stderr) };
}

Deno.test("importModule() gives a module up that does not finish, and says what to look at", async () => {
  assert.deepEqual(await imported("await new Promise(() => {});"), {
    code: 1,
    err: "Not finished within 0.2 s: check what it awaits at its top level\n",
  });
});

Deno.test("importModule() says which module of which slot ends the process, and has it exit with 2", async () => {
  for (const call of ["Deno.exit(0)", "Deno.exit(7)"]) {
    assert.deepEqual(await imported(call), {
      code: 2,
      err:
        '/pools/p/handler: The module "./m.ts" ends the process while it is loaded: call Deno.exit in the handler, if at all\n',
    });
  }
});

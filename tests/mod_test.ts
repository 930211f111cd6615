import assert from "node:assert/strict";

interface Dependency {
  readonly code?: { readonly specifier: string };
  readonly isDynamic?: boolean;
  readonly npmPackage?: string;
}

interface Graph {
  readonly roots: readonly string[];
  readonly redirects: Readonly<Record<string, string>>;
  readonly modules: readonly {
    readonly specifier: string;
    readonly dependencies?: readonly Dependency[];
  }[];
}

/** All that is loaded at once by who imports a file: packages by their npm specifier. */
async function loadedBy(path: string): Promise<readonly string[]> {
  const { stdout, success } = await new Deno.Command(Deno.execPath(), {
    args: ["info", "--json", path],
    cwd: new URL("../", import.meta.url),
    stderr: "inherit",
  }).output();
  assert.ok(success);
  const graph: Graph = JSON.parse(new TextDecoder().decode(stdout));
  const byName = new Map(graph.modules.map((module) => [module.specifier, module]));
  const found = new Set(graph.roots);
  for (const name of found) { // grows while it is read
    for (const { code, isDynamic } of byName.get(name)?.dependencies ?? []) {
      if (code !== undefined && !isDynamic) {
        found.add(graph.redirects[code.specifier] ?? code.specifier);
      }
    }
  }
  return [...found];
}

Deno.test("mod.ts loads neither Hono nor OpenTelemetry, until they are asked for", async () => {
  const loaded = await loadedBy("mod.ts");

  const ours = loaded.filter((name) =>
    name.includes("/src/admin/") || name.includes("/src/telemetry/")
  );
  const theirs = loaded.filter((name) => /^npm:\/?(hono|@opentelemetry|commander)\b/.test(name));
  assert.ok(loaded.some((name) => name.endsWith("/src/runtime/supervisor.ts")));
  assert.deepEqual([...ours, ...theirs], []);
});

Deno.test("loadedBy() sees that the admin API loads Hono", async () => {
  const loaded = await loadedBy("src/admin/mod.ts");

  assert.ok(loaded.some((name) => /^npm:\/?hono\b/.test(name)));
});

/**
 * Reads our own sources for the tests that judge them: by syntax tree, so that comments and strings
 * never count.
 *
 * @module
 */

/** One source file. */
export interface SourceFile {
  /** Path below the repository, with `/`. */
  readonly path: string;
  /** Its text. */
  readonly text: string;
}

/** The repository's own folder. */
export const ROOT: URL = new URL("../", import.meta.url);

/** All TypeScript files at or below these paths, in order of path. */
export async function sourceFiles(...paths: readonly string[]): Promise<readonly SourceFile[]> {
  const found: SourceFile[] = [];
  for (const path of paths) await collect(path, found);
  return found.sort((a, b) => a.path < b.path ? -1 : 1);
}

async function collect(path: string, found: SourceFile[]): Promise<void> {
  const url = new URL(path, ROOT);
  if (/\.tsx?$/.test(path)) {
    found.push({ path, text: await Deno.readTextFile(url) });
    return;
  }
  if (/\.[a-z]+$/.test(path)) return;
  for await (const entry of Deno.readDir(url)) await collect(`${path}/${entry.name}`, found);
}

/** Reports what a rule finds in a file, as `line: message`. */
export function findIn(
  file: SourceFile,
  visitor: (report: (node: Deno.lint.Node, message: string) => void) => Deno.lint.LintVisitor,
): readonly string[] {
  const rule: Deno.lint.Rule = {
    create: (context) => visitor((node, message) => context.report({ node, message })),
  };
  const plugin: Deno.lint.Plugin = { name: "own", rules: { rule } };
  return Deno.lint.runPlugin(plugin, file.path, file.text).map(({ range, message }) =>
    `${file.text.slice(0, range[0]).split("\n").length}: ${message}`
  );
}

/** What a file imports or re-exports, types included, as written. Computed specifiers are left out. */
export function importsOf(file: SourceFile): readonly string[] {
  const specifiers = new Set<string>();
  const add = (value: unknown): void => {
    if (typeof value === "string") specifiers.add(value);
  };
  findIn(file, () => ({
    ImportDeclaration: (node) => add(node.source.value),
    ExportAllDeclaration: (node) => add(node.source.value),
    ExportNamedDeclaration: (node) => add(node.source?.value),
    ImportExpression: (node) => add(literalIn(node.source)),
    TSImportType: ({ argument }) =>
      add(argument.type === "TSLiteralType" ? literalIn(argument.literal) : undefined),
  }));
  return [...specifiers];
}

function literalIn(node: Deno.lint.Node): unknown {
  return node.type === "Literal" ? node.value : undefined;
}

/** A relative specifier as a path below the repository; a package's name as it is in the import map. */
export function resolveImport(from: string, specifier: string): string {
  if (!specifier.startsWith(".")) return specifier;
  const base = new URL(from, "file:///");
  return new URL(specifier, base).pathname.slice(1);
}

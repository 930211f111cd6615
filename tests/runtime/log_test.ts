import assert from "node:assert/strict";
import type { Logger } from "../../src/contract/job.ts";
import { jsonLogger, type LogOptions, prettyLogger, withFields } from "../../src/runtime/log.ts";

/** What a logger of these options writes at a fixed time. */
function linesOf(
  make: (options: LogOptions) => Logger,
  options: LogOptions,
  run: (log: Logger) => void,
): readonly string[] {
  const lines: string[] = [];
  run(
    make({ ...options, write: (line) => lines.push(line), nowMs: () => Date.UTC(2026, 0, 1, 12) }),
  );
  return lines;
}

Deno.test("prettyLogger() writes time, level, message and fields in one line", () => {
  const lines = linesOf(prettyLogger, {}, (log) => {
    log.warn("The store cannot be read", {
      pool: "mail",
      tries: 3,
      error: new TypeError("No disk"),
    });
  });

  assert.deepEqual(lines, [
    '12:00:00.000 warn The store cannot be read pool=mail tries=3 error="TypeError: No disk"',
  ]);
});

Deno.test("prettyLogger() colors the level only when told to", () => {
  const lines = linesOf(prettyLogger, { color: true }, (log) => {
    log.error("No");
    log.info("Yes");
  });

  assert.deepEqual(lines, ["12:00:00.000 \x1b[31merror\x1b[0m No", "12:00:00.000 info Yes"]);
});

Deno.test("jsonLogger() writes one JSON object a line, its own fields last so that none is forged", () => {
  const lines = linesOf(jsonLogger, {}, (log) => {
    log.info("Two\nlines", { level: "forged", size: 10n, reason: undefined });
  });

  assert.equal(lines.length, 1);
  assert.deepEqual(JSON.parse(lines[0] ?? ""), {
    level: "info",
    size: "10",
    at: "2026-01-01T12:00:00.000Z",
    message: "Two\nlines",
  });
});

Deno.test("jsonLogger() writes something of a value with a cycle rather than throw", () => {
  const cycle: Record<string, unknown> = {};
  cycle.self = cycle;

  const lines = linesOf(jsonLogger, {}, (log) => log.error("Odd", { cycle }));

  assert.deepEqual(lines, [
    '{"cycle":"[object Object]","at":"2026-01-01T12:00:00.000Z","level":"error","message":"Odd"}',
  ]);
});

Deno.test("loggers leave out lines below their level", () => {
  const all = (log: Logger): void => {
    log.debug("D");
    log.info("I");
    log.warn("W");
    log.error("E");
  };

  assert.equal(linesOf(prettyLogger, {}, all).length, 3);
  assert.equal(linesOf(jsonLogger, { level: "debug" }, all).length, 4);
  assert.equal(linesOf(jsonLogger, { level: "error" }, all).length, 1);
});

Deno.test("withFields() adds its fields to every line, and a line's own win", () => {
  const lines = linesOf(prettyLogger, { level: "debug" }, (log) => {
    const scoped = withFields(log, { pool: "mail", lane: "urgent" });
    scoped.debug("D");
    scoped.info("I", { lane: "batch" });
  });

  assert.deepEqual(lines, [
    "12:00:00.000 debug D pool=mail lane=urgent",
    "12:00:00.000 info I pool=mail lane=batch",
  ]);
});

Deno.test("loggers write to standard error, and silentLogger() writes nothing", async () => {
  const module = new URL("../../src/runtime/log.ts", import.meta.url).href;
  const script = `import { prettyLogger, silentLogger } from ${JSON.stringify(module)};
    silentLogger().error("Lost");
    prettyLogger({ nowMs: () => 0 }).info("Kept");`;
  const command = new Deno.Command(Deno.execPath(), { args: ["eval", script] });

  const { stdout, stderr } = await command.output();

  const decoder = new TextDecoder();
  assert.equal(decoder.decode(stdout), "");
  assert.equal(decoder.decode(stderr), "00:00:00.000 info Kept\n");
});

Deno.test("prettyLogger() shows control characters rather than sends them", () => {
  const lines: string[] = [];
  const log = prettyLogger({ write: (line) => lines.push(line), nowMs: () => 0 });

  log.info("a\x1b[2J", { error: "\x1b[31m\x9b2J", name: "x\u007f y" });

  assert.equal(
    lines[0],
    '00:00:00.000 info a\\u001b[2J error=\\u001b[31m\\u009b2J name="x\\u007f y"',
  );
});

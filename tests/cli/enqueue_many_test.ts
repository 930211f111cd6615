import assert from "node:assert/strict";
import { serveAdmin } from "../../src/admin/mod.ts";
import { running } from "../admin/_app.ts";
import { type Ran, sluice } from "./_io.ts";

async function ran(input: string, more: readonly string[] = []): Promise<Ran & { count: number }> {
  await using system = await running();
  const server = await serveAdmin(system.sluice, {
    hostname: "127.0.0.1",
    port: 0,
    adminToken: undefined,
    viewerToken: undefined,
    allowedHosts: [],
  });
  const pool = system.sluice.pool("mail");
  await pool.pause();
  try {
    const args = ["enqueue", "mail", "-", "--lane", "batch", ...more, "--url", server.url];
    const result = await sluice(args, { readInput: () => Promise.resolve(input) });
    await system.clock.advance(100);
    const lane = pool.snapshot().lanes[1];
    return { ...result, count: (lane?.ready ?? 0) + (lane?.blocked ?? 0) };
  } finally {
    await server.stop();
  }
}

Deno.test("enqueue - stores a job for each line of JSON, however many", async () => {
  const lines = Array.from({ length: 2_500 }, (_, index) => JSON.stringify({ index }));

  const { code, out, count } = await ran(`${lines.join("\n")}\n\n`);

  assert.deepEqual([code, out, count], [0, "2,500 jobs stored\n", 2_500]);
});

Deno.test("enqueue - takes JSON of several lines for one payload", async () => {
  const { code, out, count } = await ran(JSON.stringify({ a: 1, b: [2] }, null, 2));

  assert.equal(code, 0);
  assert.match(out, /^Job \S+ is stored/);
  assert.equal(count, 1);
});

Deno.test("enqueue - says which line is no JSON, before any job is stored", async () => {
  const { code, err, count } = await ran('{"a":1}\n{"a":\n');

  assert.equal(code, 2);
  assert.match(
    err,
    /^Expected JSON from line 2 of standard input \(a text in double quotes is JSON\): /,
  );
  assert.equal(count, 0);
});

Deno.test("enqueue - says which lines were refused, and exits 1", async () => {
  const { code, out, err, count } = await ran(`1\n"${"x".repeat(70_000)}"\n3\n`);

  assert.equal(code, 1);
  assert.match(
    out,
    /^2 jobs stored\n {2}line 2: The job is too large: expected at most 65536 bytes/,
  );
  assert.equal(err, "1 job refused\n");
  assert.equal(count, 2);
});

Deno.test("enqueue - exits 2, when no line fits", async () => {
  const all = await ran("1\n2\n", ["--type", "none"]);

  assert.deepEqual([all.code, all.err, all.count], [2, "2 jobs refused\n", 0]);
  assert.match(all.out, /^0 jobs stored\n {2}line 1: \/type: /);
});

Deno.test("enqueue - refuses --wait and --dedupe-key for several lines", async () => {
  const { code, err } = await ran("1\n2\n", ["--wait", "1s"]);

  assert.equal(code, 2);
  assert.equal(err, "--wait and --dedupe-key are for one job: leave them out for lines\n");
});

Deno.test("enqueue refuses a number that JSON would turn into null", async () => {
  const { code, err } = await ran('{"a":1e999}');

  assert.equal(code, 2);
  assert.match(err, /Expected finite numbers but one is too large: send it as a string\n$/);
});

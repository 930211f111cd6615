/**
 * What verbs print on a terminal of 80 columns: lines that fit, with nothing missing that matters.
 *
 * @module
 */

import assert from "node:assert/strict";
import { type Column, showTable } from "../../src/cli/fold.ts";
import type { Io } from "../../src/cli/io.ts";
import { type Served, served } from "./_served.ts";

const LONG = "connect ECONNREFUSED while the order was sent to the receiver, with all of its lines";

/** A system in which jobs of a lane die of one error, and one waits for an hour. */
async function failing(): Promise<Served & { readonly dead: string; readonly delayed: string }> {
  const remote = await served();
  const { send, clock } = remote.system;
  const post = async (job: object): Promise<string> =>
    (await (await send("POST", "/api/pools/mail/jobs", job)).json()).id;
  let dead = "";
  for (let index = 0; index < 60; index++) {
    dead = await post({ lane: "urgent", payload: { fail: `${LONG} ${index}` } });
    await clock.advance(1_000);
  }
  const delayed = await post({ lane: "batch", payload: 1, delayMs: 3_600_000 });
  await remote.run(["pools", "pause", "mail", "--lane", "full"]);
  return { ...remote, dead, delayed };
}

Deno.test("Verbs fit 80 columns, and break sentences at spaces", async () => {
  await using remote = await failing();
  const calls = [
    ["pools"],
    ["pools", "describe", "mail"],
    ["doctor"],
    ["explain", "mail"],
    ["jobs", "ls", "mail"],
    ["jobs", "show", remote.delayed],
    ["dlq", "ls", "mail"],
    ["dlq", "ls", "mail", "--group"],
    ["schedules"],
    ["events", "--since", "100000h"],
  ];

  for (const call of calls) {
    const { out } = await remote.run(call, { columns: () => 80 });
    // What is to be copied stays in one piece.
    const lines = out.split("\n").filter((line) => !/^Retry a group|--cursor/.test(line));
    const longest = Math.max(...lines.map((line) => line.length));
    assert.ok(lines.length > 2 && longest <= 80, `${call.join(" ")}: ${longest}\n${out}`);
  }
});

Deno.test("At 80 columns a group of failures has its whole error below it, and a job its own", async () => {
  await using remote = await failing();
  const io = { columns: () => 80 };

  const groups = await remote.run(["dlq", "ls", "mail", "--group"], io);
  const jobs = await remote.run(["dlq", "ls", "mail", "--limit", "1"], io);

  const [, row = "", ...rest] = groups.out.split("\n");
  assert.match(row, /^ {2}60 {2}2026-\S+Z {2}2026-\S+Z {2}\S+$/);
  assert.ok(rest.join(" ").replaceAll(/\s+/g, " ").includes(`${LONG} <n>`), groups.out);
  assert.match(jobs.out, new RegExp(`^ID .*\\n${remote.dead} .*\\n {2}connect ECONNREFUSED `));
});

Deno.test("showTable() keeps a column in its row where there is room, and leaves empty ones out below", () => {
  const columns: readonly Column<string>[] = [
    { title: "NAME", rank: 0, cell: (name) => name },
    { title: "ERROR", rank: 0, cell: (name) => name === "a" ? "it broke" : "", below: true },
  ];
  const shown = (width: number): string => {
    let out = "";
    const io = { out: (text: string) => out += text, color: false, columns: () => width };
    showTable(io as unknown as Io, columns, ["a", "b"]); // all that a table asks of it
    return out.replaceAll(/ +$/gm, "");
  };

  assert.equal(shown(14), "NAME  ERROR\na     it broke\nb\n");
  assert.equal(shown(13), "NAME\na\n  it broke\nb\n");
});

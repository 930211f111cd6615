import assert from "node:assert/strict";
import { start } from "../../mod.ts";
import { sluice } from "./_io.ts";

async function system() {
  return await start({
    admin: { port: 0 },
    pools: {
      mail: { handler: "sleep", size: { min: 1, max: 2 }, lanes: [{ name: "urgent" }] },
    },
  });
}

Deno.test("events lists who did what, newest first, since when it is asked", async () => {
  await using running = await system();
  const at = ["--url", running.adminUrl ?? ""];
  await sluice(["pools", "pause", "mail", ...at]);
  await sluice(["pools", "resume", "mail", "--lane", "urgent", ...at]);

  const all = await sluice(["events", ...at]);
  const audits = await sluice(["events", "ls", "--since", "1h", "--kind", "audit", ...at]);
  const none = await sluice(["events", "ls", "--since", "0s", ...at]);
  const json = await sluice(["events", "ls", "--json", ...at]);
  const wrong = await sluice(["events", "ls", "--kind", "audits", ...at]);

  const [head, first, second, rest = ""] = all.out.split("\n");
  assert.match(head ?? "", /^TIME +WHO +POOL +WHAT$/);
  assert.match(
    first ?? "",
    /^\S+Z {2}local from 127\.0\.0\.1 +mail +resume urgent: paused true -> false$/,
  );
  assert.match(second ?? "", /mail +pause: paused false -> true$/);
  assert.match(rest, /^This process keeps events since \S+Z: others have their own$/);
  assert.equal(audits.out.trimEnd().split("\n").length, 4);
  assert.equal(none.out, "Nothing happened\n");
  assert.equal(JSON.parse(json.out).events.length, 2);
  assert.deepEqual([wrong.code, /did you mean "audit"\?/.test(wrong.err)], [2, true]);
});

Deno.test("events tail prints events as they come, until a signal ends it", async () => {
  await using running = await system();
  const at = ["--url", running.adminUrl ?? ""];
  let stop = (): void => {};
  const heard = Promise.withResolvers<void>();
  let out = "";
  const tail = sluice(["events", "tail", "--pool", "mail", ...at], {
    onSignal: (handler) => {
      stop = handler;
      return () => {};
    },
    out: (text) => {
      out += text;
      if (/ audit /.test(out)) heard.resolve();
    },
  });
  const pausing = setInterval(() => void sluice(["pools", "pause", "mail", ...at]), 50);
  await heard.promise;
  clearInterval(pausing);
  stop();
  const { code } = await tail;

  assert.equal(code, 0);
  assert.match(out, /^\S+Z {2}paused {2}mail {2}Paused$/m);
  assert.match(out, /^\S+Z {2}audit {2}mail {2}pause by local from 127\.0\.0\.1: /m);
});

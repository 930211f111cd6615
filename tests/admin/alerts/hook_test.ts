import assert from "node:assert/strict";
import { AlertHook, type AlertHookOptions } from "../../../src/admin/alerts/hook.ts";
import type { AlertJson } from "../../../src/admin/alerts/line.ts";
import type { Finding } from "../../../src/explain/diagnose.ts";
import { VirtualClock } from "../../../src/time/virtual_clock.ts";
import { jsonLogger } from "../../../src/runtime/log.ts";
import { running } from "../_app.ts";

interface Post {
  readonly alert: AlertJson;
  readonly key: string | null;
  readonly authorization: string | null;
}

/** An address that takes alerts: answers each of `statuses` once, then 204. */
function address(...statuses: number[]) {
  const posts: Post[] = [];
  let heard = Promise.withResolvers<void>();
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => {} },
    async (request) => {
      const { headers } = request;
      const [key, authorization] = [headers.get("idempotency-key"), headers.get("authorization")];
      posts.push({ alert: await request.json(), key, authorization });
      heard.resolve();
      heard = Promise.withResolvers();
      return new Response(null, { status: statuses.shift() ?? 204 });
    },
  );
  return {
    url: `http://127.0.0.1:${server.addr.port}/hook/s3cret`,
    posts,
    /** Waits until this many posts of a code have come; lets time pass for waits between attempts. */
    async heard(count: number, clock: VirtualClock, code?: string): Promise<void> {
      const isOf = ({ alert }: Post): boolean => code === undefined || alert.code === code;
      while (posts.filter(isOf).length < count) {
        await Promise.race([heard.promise, clock.advance(100)]);
      }
    },
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}

/** An address that answers as it is set to. */
function answering(answer: (request: Request) => Response | Promise<Response>) {
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, answer);
  return {
    url: `http://127.0.0.1:${server.addr.port}/hook/s3cret`,
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}

const FINDING: Finding = {
  code: "stalled",
  lane: undefined,
  saw: "3 jobs are ready and none has ended for 95 s",
  change: "Check what the handler waits for",
  numbers: { ready: 3 },
};

function hooked(url: string, more: Partial<AlertHookOptions> = {}) {
  const clock = new VirtualClock();
  const lines: string[] = [];
  const state: { findings: readonly Finding[] } = { findings: [] };
  const hook = new AlertHook({
    url,
    token: undefined,
    ignore: ["fixed-would-do"],
    pools: () => [{ name: "mail", diagnosis: () => state.findings }],
    clock,
    log: jsonLogger({ write: (line) => lines.push(line) }),
    ...more,
  });
  return { clock, lines, state, hook };
}

Deno.test("AlertHook tells once when a pool stalls, and once when it goes on", async () => {
  await using to = address();
  await using system = await running();
  const { clock } = system;
  const { hook } = hooked(to.url, { clock, pools: () => system.sluice.pools, token: "t0ken" });
  for (let n = 0; n < 6; n++) {
    await system.sluice.enqueue("mail", { lane: "urgent", payload: { hang: true } });
  }

  await to.heard(1, clock, "stalled");
  system.release();
  await to.heard(2, clock, "stalled");
  await hook.stop();

  const stalls = to.posts.filter(({ alert }) => alert.code === "stalled");
  assert.deepEqual(stalls.map(({ alert }) => alert.alert), ["began", "ended"]);
  const [began, ended] = stalls;
  assert.equal(began?.authorization, "Bearer t0ken");
  assert.match(began?.alert.text ?? "", /^mail: stalled\. .+ stuck.*\. .+/);
  assert.equal(ended?.alert.text, "mail: stalled ended");
  assert.equal(ended?.alert.sinceMs, began?.alert.atMs);
});

Deno.test("AlertHook tells a finding once that comes and goes, and none that is to be ignored", async () => {
  await using to = address();
  const { clock, state, hook } = hooked(to.url);

  for (let n = 0; n < 10; n++) {
    state.findings = [FINDING, { ...FINDING, code: "fixed-would-do" }];
    await clock.advance(10_000);
    state.findings = [];
    await clock.advance(30_000);
  }
  await clock.advance(60_000);
  await to.heard(2, clock);
  await hook.stop();

  assert.deepEqual(to.posts.map(({ alert }) => [alert.alert, alert.code]), [
    ["began", "stalled"],
    ["ended", "stalled"],
  ]);
});

Deno.test("AlertHook tells of each lane and pool by itself", async () => {
  await using to = address();
  const { clock, state, hook } = hooked(to.url);
  state.findings = ["urgent", "batch"].map((lane) => ({ ...FINDING, lane, code: "no-preemption" }));

  await clock.advance(5_000);
  await to.heard(2, clock);
  await hook.stop();

  assert.deepEqual(to.posts.map(({ alert }) => alert.text), [
    "mail, lane urgent: no-preemption. 3 jobs are ready and none has ended for 95 s. Check what the handler waits for",
    "mail, lane batch: no-preemption. 3 jobs are ready and none has ended for 95 s. Check what the handler waits for",
  ]);
});

Deno.test("AlertHook sends again what was not taken, under the same key", async () => {
  await using to = address(503, 429);
  const { clock, state, lines, hook } = hooked(to.url);
  state.findings = [FINDING];

  await clock.advance(5_000);
  await to.heard(3, clock);
  state.findings = [FINDING, { ...FINDING, code: "failing" }];
  await to.heard(4, clock); // what was told before has been delivered
  const faults = [...lines];
  await hook.stop();

  assert.deepEqual(to.posts.map(({ alert }) => alert.code), [
    "stalled",
    "stalled",
    "stalled",
    "failing",
  ]);
  assert.equal(new Set(to.posts.slice(0, 3).map(({ key }) => key)).size, 1);
  assert.deepEqual(faults, []);
});

Deno.test("AlertHook says what is refused at once, without the address, and tries on", async () => {
  await using to = address(404);
  const { clock, state, lines, hook } = hooked(to.url);
  state.findings = [FINDING];

  await clock.advance(5_000);
  await to.heard(1, clock);
  while (lines.length === 0) await clock.advance(100);
  await to.heard(2, clock);
  await hook.stop();

  const { message, error, pool, code } = JSON.parse(lines[0] ?? "");
  assert.equal(message, "An alert was not delivered: see admin.alerts");
  assert.deepEqual([error, pool, code], ["the address answered 404", "mail", "stalled"]);
  assert.equal(new Set(to.posts.map(({ key }) => key)).size, 1);
});

Deno.test("AlertHook hides the address when nothing answers there", async () => {
  const gone = address();
  await gone[Symbol.asyncDispose]();
  const { clock, state, lines, hook } = hooked(gone.url);
  state.findings = [FINDING];

  await clock.advance(5_000);
  while (lines.length === 0) await clock.advance(1_000);
  await hook.stop();

  assert.match(lines[0] ?? "", /An alert was not delivered/);
  assert.ok(!lines[0]?.includes("s3cret"), lines[0]);
});

Deno.test("AlertHook stops while it waits for the next attempt", async () => {
  await using to = address(503, 503, 503, 503, 503, 503);
  const { clock, state, lines, hook } = hooked(to.url);
  state.findings = [FINDING];

  await clock.advance(5_000);
  await to.heard(1, clock);
  await hook.stop();

  assert.equal(JSON.parse(lines[0] ?? "").error, "the process stops");
});

for (const status of [301, 302, 303, 307, 308]) {
  Deno.test(`AlertHook follows no redirect by ${status}: it reports it`, async () => {
    await using elsewhere = address();
    const location = `${elsewhere.url}?token=s3cret`;
    await using to = answering(() => new Response(null, { status, headers: { location } }));
    const { clock, state, lines, hook } = hooked(to.url);
    state.findings = [FINDING];

    await clock.advance(5_000);
    while (lines.length === 0) await clock.advance(100);
    await hook.stop();

    assert.equal(
      JSON.parse(lines[0] ?? "").error,
      `the address answered ${status}: use the address that it redirects to`,
    );
    assert.ok(!lines.join().includes("s3cret"));
    assert.deepEqual(elsewhere.posts, []);
  });
}

Deno.test("AlertHook delivers what is open once the address takes it, however late", async () => {
  await using to = address(...Array(20).fill(503), 302, 404);
  const { clock, state, lines, hook } = hooked(to.url);
  state.findings = [FINDING];

  await clock.advance(5_000);
  await to.heard(23, clock);
  await clock.advance(60_000);
  state.findings = [];
  await to.heard(24, clock);
  assert.deepEqual(lines.map((line) => JSON.parse(line).message), [
    "An alert was not delivered: see admin.alerts",
    "An alert was delivered late",
  ]);
  await hook.stop();

  assert.deepEqual(to.posts.slice(-2).map(({ alert }) => alert.alert), ["began", "ended"]);
  assert.equal(new Set(to.posts.slice(0, 23).map(({ key }) => key)).size, 1);
});

Deno.test("AlertHook has no finding wait for an address that hangs over another", async () => {
  const hanging = Promise.withResolvers<void>();
  const told: string[] = [];
  const both = Promise.withResolvers<void>();
  await using to = answering(async (request) => {
    const { code, alert } = await request.json();
    if (code === "stalled") await hanging.promise;
    else told.push(alert);
    if (told.length === 2) both.resolve();
    return new Response(null, { status: 204 });
  });
  const { clock, state, hook } = hooked(to.url);
  state.findings = [FINDING, { ...FINDING, code: "failing" }];

  await clock.advance(5_000);
  state.findings = [FINDING];
  for (let n = 0; n < 20 && told.length < 2; n++) await clock.advance(5_000);
  await both.promise;
  const stopped = hook.stop(); // while the first hangs
  await stopped;
  hanging.resolve();

  assert.deepEqual(told, ["began", "ended"]);
});

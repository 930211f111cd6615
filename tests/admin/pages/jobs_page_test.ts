import assert from "node:assert/strict";
import { Hono } from "hono";
import { type JobContext, start } from "../../../mod.ts";
import { admin } from "../../../src/admin/mod.ts";
import { Time } from "../../../src/admin/pages/time.tsx";
import { LONGEST_DELAY_MS } from "../../../src/contract/job.ts";
import { VirtualClock } from "../../../src/time/virtual_clock.ts";
import { type Running, running } from "../_app.ts";

const TOKENS = { adminToken: "admin-token-0123456789", viewerToken: "viewer-token-0123456789" };

async function enqueue(system: Running, pool: string, job: unknown): Promise<string> {
  const response = await system.send("POST", `/api/pools/${pool}/jobs`, job);
  const { id }: { id: string } = await response.json();
  return id;
}

/** Ids of the jobs that a page lists, in order. */
function idsOn(page: string): readonly string[] {
  return [...page.matchAll(/<tr id="job-([^"]+)"/g)].map(([, id = ""]) => id);
}

async function pageAt(system: Running, path: string): Promise<string> {
  const response = await system.send("GET", path);
  assert.equal(response.status, 200, path);
  return await response.text();
}

Deno.test("GET /jobs lists the jobs of all pools, payloads folded and redacted, errors as text", async () => {
  await using system = await running();
  const payload = { password: "hunter2", fail: "<b>broken</b>" };
  const dead = await enqueue(system, "mail", { lane: "urgent", payload });
  const other = await enqueue(system, "typed", { lane: "only", type: "send", payload: 5 });
  await system.clock.advance(100);

  const page = await pageAt(system, "/jobs");

  assert.deepEqual(idsOn(page), [dead, other]);
  assert.match(page, /<span class="mark bad">dead<\/span>/);
  assert.match(page, /<p class="wrong">&lt;b&gt;broken&lt;\/b&gt;<\/p>/);
  assert.match(page, /<details><summary>Payload/);
  assert.match(page, /&quot;password&quot;: &quot;\[redacted\]&quot;/);
  assert.doesNotMatch(page, /hunter2|<b>broken/);
  assert.match(page, /data-label="Attempts">1 of 1</);
});

Deno.test("GET /jobs shows no error of a job that is done after a failure, its own page does", async () => {
  const clock = new VirtualClock();
  await using sluice = await start({
    pools: {
      mail: {
        handler: ({ attempt }) => {
          if (attempt === 1) throw new Error("try again");
        },
        size: { min: 1, max: 1 },
        lanes: [{ name: "urgent", backoff: { baseMs: 1_000, jitter: 0 } }],
      },
    },
  }, { clock });
  const app = admin(sluice);
  const { id } = await sluice.enqueue("mail", { lane: "urgent", payload: 1 });
  const look = async (path: string): Promise<string> => await (await app.request(path)).text();

  await clock.advance(100);
  const failed = await look("/jobs");
  await clock.advance(5_000);
  const done = await look("/jobs");

  assert.match(failed, /<p class="soft">try again<\/p>/);
  assert.match(done, /<span class="mark good">done<\/span>/);
  assert.doesNotMatch(done, /try again/);
  const page = await look(`/jobs/${id}`);
  assert.doesNotMatch(page, /Its latest failure/);
  assert.match(page, /Attempts<\/h2>.*<strong>2<\/strong>.*>done<.*<strong>1<\/strong>.*>failed</s);
  assert.match(page, /Error of attempt 1">try again</);
});

Deno.test("GET /jobs/:id shows what was logged and reported, and stacks to those who may change it", async () => {
  const handler = async (_: unknown, context: JobContext): Promise<void> => {
    context.log.warn("almost <there>", { page: 7 });
    await context.progress({ pages: 7 });
    throw new RangeError("too far");
  };
  const lanes = [{ name: "urgent", attempts: 1 }];
  await using sluice = await start({
    pools: { mail: { handler, size: { min: 1, max: 1 }, lanes } },
  });
  const app = admin(sluice, TOKENS);
  const { id, done } = await sluice.enqueue("mail", { lane: "urgent", payload: 1 });
  await done;
  const at = async (token: string, path: string): Promise<string> => {
    const headers = { authorization: `Bearer ${token}` };
    return await (await app.request(path, { headers })).text();
  };

  const page = await at(TOKENS.adminToken, `/jobs/${id}`);
  assert.match(
    page,
    /<span class="mark bad">failed<\/span> after .* on w1, started .*1 line of log/,
  );
  assert.match(page, /Stack of attempt 1">RangeError\n +at .*jobs_page_test/);
  assert.match(page, /warn +almost &lt;there&gt; page=7/);
  assert.match(page, /&quot;pages&quot;: 7/);
  const seen = await at(TOKENS.viewerToken, `/jobs/${id}`);
  assert.match(seen, /almost &lt;there&gt;.*too far|too far.*almost &lt;there&gt;/s);
  assert.match(seen, /Stacks are shown to those with the admin token/);
  assert.doesNotMatch(seen, /jobs_page_test/);
  const [admins, viewers] = await Promise.all(
    Object.values(TOKENS).map(async (token) => JSON.parse(await at(token, `/api/jobs/${id}`))),
  );
  assert.match(admins.history[0].stack, /jobs_page_test/);
  assert.deepEqual(
    [viewers.history[0].stack, viewers.history[0].log.length, viewers.history[0].error],
    [undefined, 1, "too far"],
  );
  const list = JSON.parse(await at(TOKENS.adminToken, "/api/pools/mail/jobs"));
  assert.equal(list.jobs[0].history, undefined);

  await sluice.pool("mail").change(id, "revive");
  assert.match(
    await at(TOKENS.viewerToken, `/jobs/${id}`),
    /It was dead after 1 attempt and was retried by hand/,
  );
});

Deno.test("GET /jobs/:id says when a job is due that is put off for as long as can be", async () => {
  await using system = await running();
  const job = { lane: "urgent", payload: 1, delayMs: LONGEST_DELAY_MS };
  const id = await enqueue(system, "mail", job);

  const page = await pageAt(system, `/jobs/${id}`);

  const due = new Date(system.clock.nowMs() + LONGEST_DELAY_MS).toISOString();
  assert.ok(due < "9999");
  assert.ok(page.includes(`Due</dt><dd><time datetime="${due}"`));
});

Deno.test("Time says never, when a time is later than any date", () => {
  assert.equal(String(Time({ atMs: 2 ** 53 })), "<span>never</span>");
});

Deno.test("GET /jobs shows the beginning of a long payload, and the page of the job all of it", async () => {
  await using system = await running();
  const payload = { text: "x".repeat(10_000) };
  const id = await enqueue(system, "mail", { lane: "urgent", payload });
  await system.clock.advance(100);

  const list = await pageAt(system, "/jobs");
  const whole = await pageAt(system, `/jobs/${id}`);

  assert.match(list, /x{1900}… \(10,\d{3} characters, all on the page of the job\)/);
  assert.doesNotMatch(list, /x{2001}/);
  assert.match(whole, /x{10000}/);
});

Deno.test("GET /jobs filters by pool, lane, state and text, and keeps what was chosen", async () => {
  await using system = await running();
  const urgent = await enqueue(system, "mail", { lane: "urgent", payload: { fail: "no" } });
  const batch = await enqueue(system, "mail", { lane: "batch", payload: { to: "Ann" } });
  const typed = await enqueue(system, "typed", { lane: "only", type: "send", payload: 5 });
  await system.clock.advance(100);
  const listed = async (query: string) => idsOn(await pageAt(system, `/jobs?${query}`));

  assert.deepEqual(await listed("pool=mail"), [batch, urgent]); // the latest end first
  assert.deepEqual(await listed("lane=only"), [typed]);
  assert.deepEqual(await listed("state=dead"), [urgent]);
  assert.deepEqual(await listed("match=ann"), [batch]);
  assert.deepEqual(await listed(`match=${typed}`), [typed]);
  assert.deepEqual(await listed("pool=typed&state=dead"), []);
  const page = await pageAt(system, "/jobs?pool=mail&lane=batch&state=done&match=ann");
  assert.match(page, /<option [^>]*value="mail" selected/);
  assert.match(page, /<option [^>]*value="batch" selected/);
  assert.match(page, /<option [^>]*value="done" selected/);
  assert.match(page, /name="match"[^>]* value="ann"/);
});

Deno.test("GET /jobs goes from page to page, and from pool to pool, by links", async () => {
  await using system = await running();
  const all: string[] = [];
  for (let index = 0; index < 60; index++) {
    all.push(await enqueue(system, "mail", { lane: "batch", payload: index, delayMs: 60_000 }));
  }
  for (let index = 0; index < 45; index++) {
    const job = { lane: "only", type: "send", payload: index, delayMs: 60_000 };
    all.push(await enqueue(system, "typed", job));
  }

  const seen: string[] = [];
  let path: string | undefined = "/jobs?state=delayed";
  for (let pages = 0; path !== undefined && pages < 9; pages++) {
    const page: string = await pageAt(system, path);
    seen.push(...idsOn(page));
    const next: string | undefined = /href="([^"]+)">\s*Next page/.exec(page)?.[1];
    path = next?.replaceAll("&amp;", "&");
  }

  assert.deepEqual(seen, all);
});

Deno.test("GET /jobs says what is wrong with a query, with what was meant", async () => {
  await using system = await running();

  const response = await system.send("GET", "/jobs?pool=mial&state=ded&cursor=abc");
  const page = await response.text();

  assert.equal(response.status, 400);
  assert.match(page, /No pool is named &quot;mial&quot;: did you mean &quot;mail&quot;\?/);
  assert.match(page, /No state is named &quot;ded&quot;: did you mean &quot;dead&quot;\?/);
  assert.match(page, /The cursor belongs to another list: start from the first page/);
  assert.match(page, /role="search"/);
});

Deno.test("GET /jobs and /dead say in words that nothing is there, and why", async () => {
  await using system = await running();
  const said = async (path: string) =>
    /<p class="card empty">\s*([^<]+?)\s*<\/p>/.exec(await pageAt(system, path))?.[1];

  assert.equal(await said("/jobs"), "There are no jobs yet. Post one, or wait for the first.");
  assert.equal(await said("/jobs?state=dead"), "No such job now.");
  assert.equal(
    await said("/jobs?match=x"),
    "No job has that text in its id, key, type, error or payload.",
  );
  assert.equal(
    await said("/dead"),
    "No job is dead. Jobs that fail for good are kept here, see “keep” in the config.",
  );
  assert.equal(await said("/dead?pool=mail"), "No dead job matches.");
});

Deno.test("GET /jobs/:id shows all of a job, and why it waits", async () => {
  await using system = await running();
  await system.send("POST", "/api/pools/mail/pause", { lane: "batch" });
  await enqueue(system, "mail", { lane: "batch", payload: 1 });
  const id = await enqueue(system, "mail", { lane: "batch", payload: { to: "ann" }, key: "k<1>" });

  const page = await pageAt(system, `/jobs/${id}`);

  assert.match(page, new RegExp(`<h1>Job ${id}</h1>`));
  assert.match(page, /Lane &quot;batch&quot; is paused: resume it/);
  assert.match(page, /2 of batch/);
  assert.match(page, /Unknown: depends on the resume/);
  assert.match(page, /<dd>k&lt;1&gt;<\/dd>/);
  assert.match(page, /<dd>0 of 5<\/dd>/);
  assert.match(page, /<body data-live="on"/);
});

Deno.test("GET /jobs/:id shows how a job ended: its result, or why it is dead", async () => {
  await using system = await running();
  const done = await enqueue(system, "mail", { lane: "urgent", payload: { to: "ann" } });
  const dead = await enqueue(system, "mail", { lane: "urgent", payload: { fail: "no route" } });
  await system.clock.advance(100);

  const well = await pageAt(system, `/jobs/${done}`);
  const badly = await pageAt(system, `/jobs/${dead}`);

  assert.match(well, /<h2>Result<\/h2>/);
  assert.match(well, /&quot;echo&quot;/);
  assert.match(badly, /attempts: its attempts are used up/);
  assert.match(badly, /<pre class="error"[^>]*>no route<\/pre>/);
  assert.doesNotMatch(badly, /Why it waits|data-live/);
});

Deno.test("GET /jobs/:id answers 404 with a page for a job that nobody knows", async () => {
  await using system = await running();

  const response = await system.send("GET", "/jobs/nope");

  assert.equal(response.status, 404);
  assert.match(await response.text(), /No job has the id &quot;nope&quot;/);
});

Deno.test("Pages of jobs have buttons for those who may write, and none for a viewer", async () => {
  await using system = await running(TOKENS);
  const as = (token: string) => ({
    authorization: `Bearer ${token}`,
    "content-type": "application/json",
  });
  const added = await system.app.request("/api/pools/mail/jobs", {
    method: "POST",
    headers: as(TOKENS.adminToken),
    body: JSON.stringify({ lane: "urgent", payload: { fail: "no" } }),
  });
  const { id }: { id: string } = await added.json();
  await system.clock.advance(100);
  const actsOn = async (path: string, token: string) => {
    const page = await (await system.app.request(path, { headers: as(token) })).text();
    assert.match(page, new RegExp(path === "/config" ? "As given" : id));
    return [...page.matchAll(/data-act="(\w+)" data-path="([^"]+)"|id="reload"/g)].length;
  };

  for (const path of ["/jobs", `/jobs/${id}`, "/dead", "/config"]) {
    assert.ok(await actsOn(path, TOKENS.adminToken) > 0, path);
    assert.equal(await actsOn(path, TOKENS.viewerToken), 0, path);
  }
});

Deno.test("Pages of jobs link to where the app is mounted", async () => {
  await using system = await running();
  const id = await enqueue(system, "mail", { lane: "urgent", payload: { fail: "no" } });
  await system.clock.advance(100);
  const outer = new Hono().route("/ops/queue", system.app);

  for (const path of ["/jobs", `/jobs/${id}`, "/dead", "/config"]) {
    const page = await (await outer.request(`/ops/queue${path}`)).text();
    const links = [...page.matchAll(/(?:href|src|action)="([^"]+)"/g)].map(([, to = ""]) => to);
    assert.ok(links.length > 5);
    assert.deepEqual(links.filter((to) => !/^(#|\/ops\/queue)/.test(to)), [], path);
    assert.ok(!links.includes("/ops/queue/")); // no route has a slash at its end
  }
});

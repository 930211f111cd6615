import assert from "node:assert/strict";

const GIVEN = "0af7651916cd43dd8448eb211c80319c";
const SYSTEM = new URL("./_system.ts", import.meta.url).pathname;

/** Once figures are exported that hold all jobs. */
const EXPORTED =
  /^METRIC sluice\.jobs\.done [^]*? value=2\n[^]*^METRIC sluice\.lane\.served [^]*? value=.*\n/m;

/** What the system wrote of itself. */
interface Result {
  readonly outcomes: readonly { readonly state: string; readonly result?: unknown }[];
  readonly traceId: string;
  readonly stored?: string;
  readonly received: readonly (string | null)[];
  /** Jobs of requests that came together: the trace of the request, and the one that the handler saw. */
  readonly posted: readonly { readonly traceId: string; readonly ran: string }[];
}

/** A span as the console exporter writes it. */
interface SpanText {
  readonly name: string;
  readonly traceId: string;
  readonly kind: string;
  readonly text: string;
}

/** Runs the system until what it wrote matches. */
async function runSystem(
  until: RegExp,
  env: Readonly<Record<string, string>> = {},
): Promise<{ readonly result: Result; readonly out: string }> {
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "--no-prompt", "--no-check", "--allow-net=127.0.0.1", SYSTEM],
    env: { NO_COLOR: "1", ...env },
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
    signal: AbortSignal.timeout(30_000), // only what is broken takes so long
  }).spawn();
  let out = "";
  let ended: Promise<void> | undefined;
  const read = async (stream: ReadableStream<Uint8Array<ArrayBuffer>>): Promise<void> => {
    for await (const text of stream.pipeThrough(new TextDecoderStream())) {
      out += text;
      if (/^RESULT .*\n/m.test(out) && until.test(out)) ended ??= child.stdin.close();
    }
  };
  const [{ code }] = await Promise.all([child.status, read(child.stdout), read(child.stderr)]);
  await ended;
  assert.equal(code, 0, out);
  return { result: JSON.parse(/^RESULT (.*)$/m.exec(out)?.[1] ?? ""), out };
}

function spansIn(out: string): readonly SpanText[] {
  return [...out.matchAll(/^SPAN (.+) \[(\w+)\/\w+\] (\w+) .*\n((?: .*\n)*)/gm)]
    .map(([, name = "", traceId = "", kind = "", text = ""]) => ({ name, traceId, kind, text }));
}

/** Last exported samples of one metric, each as `{labels} value`. */
function metricIn(out: string, name: string): string {
  const blocks = out.split(/^(?=METRIC |SPAN |RESULT )/m);
  return blocks.findLast((block) => block.startsWith(`METRIC ${name} `)) ?? "";
}

Deno.test("With OTEL_DENO each job has a span in its enqueuer's trace, and the metrics are exported", async () => {
  const { result, out } = await runSystem(EXPORTED, {
    OTEL_DENO: "true",
    OTEL_EXPORTER_OTLP_PROTOCOL: "console",
    OTEL_METRIC_EXPORT_INTERVAL: "100",
  });
  const spans = spansIn(out);
  const jobs = spans.filter(({ kind }) => kind === "Consumer");
  const ofTrace = (traceId: unknown): SpanText =>
    jobs.find((span) => span.traceId === traceId) ?? assert.fail(out);

  assert.equal(jobs.length, 7);
  const given = ofTrace(GIVEN);
  assert.equal(given.name, "process mail");
  assert.match(given.text, /^ +parent: b7ad6b7169203331$/m);
  assert.match(given.text, /^ +links:\n +- 0af7651916cd43dd8448eb211c80319c\/b7ad6b7169203331$/m);
  assert.match(given.text, /^ +messaging\.destination\.name: mail$/m);
  assert.match(given.text, /^ +sluice\.lane: urgent$/m);
  assert.match(given.text, /^ +sluice\.job\.attempt: 1$/m);
  assert.match(given.text, /^ +sluice\.job\.outcome: done$/m);
  assert.equal(result.outcomes[0]?.result, GIVEN);

  const root = ofTrace(result.outcomes[1]?.result);
  assert.doesNotMatch(root.text, /parent:|links:\n/);

  const failed = jobs.find(({ text }) => /outcome: dead/.test(text)) ?? assert.fail(out);
  assert.match(failed.text, /error\.type: TypeError/);
  assert.match(failed.text, /no such address/);
  assert.equal(jobs.filter(({ text }) => /outcome: deferred/.test(text)).length, 1);

  const hook = ofTrace(result.traceId);
  assert.equal(hook.name, "process hook");
  assert.match(result.stored ?? "", new RegExp(`^00-${result.traceId}-[0-9a-f]{16}-01$`));
  assert.equal(result.received.length, 1);
  assert.match(result.received[0] ?? "", new RegExp(`^00-${result.traceId}-[0-9a-f]{16}-01$`));

  const requests = result.posted.map(({ traceId }) => traceId);
  assert.equal(new Set(requests).size, 2);
  assert.deepEqual(result.posted.map(({ ran }) => ran), requests);

  assert.match(
    metricIn(out, "sluice.jobs.done"),
    /\{(lane=urgent, pool=mail|pool=mail, lane=urgent)\} value=2\n/,
  );
  assert.match(metricIn(out, "sluice.jobs.deferred"), /pool=mail[^\n]* value=1\n/);
  assert.match(out, /^METRIC sluice\.pool\.workers [^]*?state=idle[^\n]* value=1\n/m);
  assert.match(metricIn(out, "sluice.lane.oldest_wait"), /unit=s/);
  assert.match(metricIn(out, "sluice.job.wait"), /pool=mail[^\n]* count=4 /);
  assert.match(metricIn(out, "sluice.job.duration"), /pool=mail[^\n]* count=3 /);
  assert.match(metricIn(out, "sluice.job.duration"), /bounds: +\[0\.001, 0\.002, 0\.005,/);
});

Deno.test("Without OTEL_DENO nothing is traced: jobs carry only the trace that they are given", async () => {
  const { result, out } = await runSystem(/RESULT/);

  assert.equal(result.outcomes[0]?.result, "none");
  assert.equal(result.stored, undefined);
  assert.deepEqual(result.posted.map(({ ran }) => ran), ["none", "none"]);
  assert.deepEqual(result.received, [null]);
  assert.doesNotMatch(out, /SPAN|METRIC/);
});

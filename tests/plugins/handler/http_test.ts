import assert from "node:assert/strict";
import { http } from "../../../plugins/handler/http.ts";
import { AbortedError, Fatal, RetryLater, stackOf } from "../../../src/contract/errors.ts";
import { LONGEST_DELAY_MS } from "../../../src/contract/job.ts";
import { runOf, withReceiver } from "./_receiver.ts";
import { contextOf, faultsOf, jobOf } from "./_run.ts";

Deno.test("http delivers the payload as JSON with the job's headers", async () => {
  let seen:
    | { readonly method: string; readonly body: unknown; readonly headers: Headers }
    | undefined;
  const receive = async (request: Request): Promise<Response> => {
    seen = { method: request.method, body: await request.json(), headers: request.headers };
    return new Response("thanks", { status: 202 });
  };

  await withReceiver(receive, async (origin) => {
    const result = await runOf(
      { url: `${origin}/hook`, headers: { authorization: "Bearer abc" } },
      jobOf({ attempt: 3, traceparent: "00-1-2-01" }),
    );

    assert.deepEqual(result, { status: 202 });
  });
  assert.equal(seen?.method, "POST");
  assert.deepEqual(seen?.body, { to: "ada" });
  const sent = ["content-type", "authorization", "idempotency-key", "sluice-job-id", "sluice-lane"];
  assert.deepEqual(sent.map((name) => seen?.headers.get(name)), [
    "application/json",
    "Bearer abc",
    "mail/mail-1",
    "mail-1",
    "urgent",
  ]);
  assert.equal(seen?.headers.get("sluice-attempt"), "3");
  assert.equal(seen?.headers.get("traceparent"), "00-1-2-01");
});

Deno.test("http delivers with the configured method, content type and a lane name of any letters", async () => {
  let seen: readonly unknown[] = [];
  const receive = async (request: Request): Promise<Response> => {
    const { headers } = request;
    seen = [
      request.method,
      headers.get("content-type"),
      headers.get("sluice-lane"),
      await request.text(),
    ];
    return new Response(null, { status: 204 });
  };

  await withReceiver(receive, async (origin) => {
    await runOf(
      { url: origin, method: "PUT", headers: { "Content-Type": "application/cloudevents+json" } },
      jobOf({ lane: "für später", payload: undefined }),
    );
  });

  assert.deepEqual(seen, ["PUT", "application/cloudevents+json", "f%C3%BCr sp%C3%A4ter", "null"]);
});

Deno.test("http defers the job by Retry-After in seconds, and tells the caps", async () => {
  for (const status of [408, 425, 429, 503, 529]) {
    const receive = (): Response =>
      new Response("later", { status, headers: { "retry-after": "7" } });

    await withReceiver(receive, async (origin) => {
      const context = contextOf();
      const thrown = await runOf({ url: `${origin}/secret` }, jobOf(), context);

      assert.ok(thrown instanceof RetryLater);
      assert.equal(thrown.ms, 7000);
      assert.equal(thrown.message, `${origin}/secret answered ${status}: later`);
      assert.deepEqual(context.overloads, [7000]);
    });
  }
});

Deno.test("http reckons Retry-After as a date by the receiver's own clock", async () => {
  const headers = {
    "date": "Thu, 01 Jan 2026 00:00:00 GMT",
    "retry-after": "Thu, 01 Jan 2026 00:00:12 GMT",
  };
  const receive = (): Response => new Response(null, { status: 503, headers });

  await withReceiver(receive, async (origin) => {
    const thrown = await runOf({ url: origin });

    assert.ok(thrown instanceof RetryLater);
    assert.equal(thrown.ms, 12_000);
  });
});

// E8
Deno.test("http defers for as long as the receiver asks, and for a second at least", async () => {
  const cases = [
    ["0", 1000],
    ["7200", 7_200_000],
    ["1.5", 1500],
    ["9".repeat(400), LONGEST_DELAY_MS],
    ["Thu, 01 Jan 1970 00:00:00 GMT", 1000],
  ] as const;
  for (const [retryAfter, ms] of cases) {
    const receive = (): Response =>
      new Response(null, { status: 429, headers: { "retry-after": retryAfter } });

    await withReceiver(receive, async (origin) => {
      const thrown = await runOf({ url: origin });

      assert.ok(thrown instanceof RetryLater);
      assert.equal(thrown.ms, ms);
    });
  }
});

// B8
Deno.test("http defers one job, not the pool, by a Retry-After of any other 4xx or 5xx", async () => {
  for (const status of [400, 403, 404, 500, 502, 504]) {
    const receive = (): Response =>
      new Response("later", { status, headers: { "retry-after": "7" } });

    await withReceiver(receive, async (origin) => {
      const context = contextOf();
      const thrown = await runOf({ url: origin }, jobOf(), context);

      assert.ok(thrown instanceof RetryLater);
      assert.equal(thrown.ms, 7000);
      assert.deepEqual(context.overloads, []);
    });
  }
});

// B8
Deno.test("http judges by the status if the Retry-After can't be read", async () => {
  for (const value of ["soon", "-5", "1e3", "5, 7", "Sun, 99 Nov 1994 08:49:37 GMT"]) {
    const receive = (request: Request): Response =>
      new Response(null, {
        status: Number(new URL(request.url).pathname.slice(1)),
        headers: { "retry-after": value },
      });

    await withReceiver(receive, async (origin) => {
      assert.ok(await runOf({ url: `${origin}/403` }) instanceof Fatal);
      const thrown = await runOf({ url: `${origin}/500` });
      assert.ok(thrown instanceof Error && !(thrown instanceof RetryLater));
    });
  }
});

Deno.test("http defers by a second when Retry-After is missing or unreadable", async () => {
  const cases = [[429, {}, [undefined]], [529, {}, [undefined]], [503, { "retry-after": "soon" }, [
    undefined,
  ]], [
    425,
    {},
    [],
  ]] as const;
  for (const [status, headers, overloads] of cases) {
    const receive = (): Response => new Response(null, { status, headers });

    await withReceiver(receive, async (origin) => {
      const context = contextOf();
      const thrown = await runOf({ url: origin }, jobOf(), context);

      assert.ok(thrown instanceof RetryLater);
      assert.equal(thrown.ms, 1000);
      assert.deepEqual(context.overloads, overloads);
    });
  }
});

Deno.test("http gives a job up on any other 4xx", async () => {
  await withReceiver(() => new Response("no", { status: 404 }), async (origin) => {
    const context = contextOf();
    const thrown = await runOf({ url: `${origin}/hook?token=secret` }, jobOf(), context);

    assert.ok(thrown instanceof Fatal);
    assert.equal(thrown.message, `${origin}/hook?… answered 404: no`);
    assert.deepEqual(context.overloads, []);
  });
});

Deno.test("http gives a job up on a redirect rather than follow it", async () => {
  let asked = 0;
  const receive = (): Response => {
    asked++;
    return new Response(null, { status: 302, headers: { location: "/elsewhere" } });
  };

  await withReceiver(receive, async (origin) => {
    const thrown = await runOf({ url: origin });

    assert.ok(thrown instanceof Fatal);
    assert.equal(
      thrown.message,
      `${origin} answered 302: redirects are not followed, set "url" to the final address`,
    );
  });
  assert.equal(asked, 1);
});

Deno.test("http fails on a 5xx, so that the job is tried again", async () => {
  await withReceiver(() => new Response("oops", { status: 500 }), async (origin) => {
    const thrown = await runOf({ url: origin });

    assert.ok(thrown instanceof Error);
    assert.equal(thrown.name, "Error");
    assert.equal(thrown.message, `${origin} answered 500: oops`);
  });
});

Deno.test("http fails when nobody listens, and shows no more of the URL than its origin", async () => {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const origin = `http://127.0.0.1:${listener.addr.port}`;
  listener.close();

  const thrown = await runOf({ url: `${origin}/hook?token=secret` });

  assert.ok(thrown instanceof Error);
  assert.equal(thrown.name, "Error");
  assert.match(thrown.message, /^Cannot reach http:\/\/127\.0\.0\.1:\d+: .*refused/i);
  assert.doesNotMatch(`${thrown.message} ${stackOf(thrown, (text) => text)}`, /secret/);
});

Deno.test("http fails when no answer comes within timeoutMs", async () => {
  const { promise, resolve } = Promise.withResolvers<Response>();

  await withReceiver(() => promise, async (origin) => {
    const thrown = await runOf({ url: origin, timeoutMs: 20 });
    resolve(new Response(null));

    assert.ok(thrown instanceof Error);
    assert.equal(thrown.message, `No answer from ${origin} within 20 ms`);
  });
});

Deno.test("http ends at once with the signal's reason when the job is aborted", async () => {
  const { promise, resolve } = Promise.withResolvers<Response>();
  const controller = new AbortController();
  const reason = new AbortedError("cancelled", "The job was cancelled");
  const receive = (): Promise<Response> => {
    controller.abort(reason);
    return promise;
  };

  await withReceiver(receive, async (origin) => {
    const thrown = await runOf({ url: origin }, jobOf(), contextOf(controller.signal));
    resolve(new Response(null));

    assert.equal(thrown, reason);
  });
});

Deno.test("http is done when a 2xx arrived, however long or broken its body", async () => {
  const endless = (): Response => {
    const body = new ReadableStream({ pull: (stream) => stream.enqueue(new Uint8Array(16_384)) });
    return new Response(body);
  };

  await withReceiver(endless, async (origin) => {
    assert.deepEqual(await runOf({ url: origin }), { status: 200 });
  });
});

// B8
Deno.test("http is done by the status although the body drips, and lets the connection go", async () => {
  for (const status of [200, 429]) {
    const cancelled = Promise.withResolvers<void>();
    let drip: ReturnType<typeof setInterval> | undefined;
    const receive = (): Response => {
      const body = new ReadableStream({
        start: (stream) => {
          drip = setInterval(() => stream.enqueue(new Uint8Array(1)), 20);
        },
        cancel: () => {
          clearInterval(drip);
          cancelled.resolve();
        },
      });
      return new Response(body, { status });
    };

    await withReceiver(receive, async (origin) => {
      const fromMs = performance.now();
      const ended = await runOf({ url: origin, timeoutMs: 60_000 });

      if (status === 200) assert.deepEqual(ended, { status: 200 });
      else assert.ok(ended instanceof RetryLater);
      assert.ok(performance.now() - fromMs < 3 * 250, "a worker is held for 250 ms");
      await cancelled.promise;
    });
  }
});

Deno.test("http refuses options that cannot work, each with what is wanted", () => {
  assert.deepEqual(faultsOf(http, { url: "ftp://example.com" }), [
    'Expected a URL that begins with "http://" or "https://"',
  ]);
  assert.ok(
    faultsOf(http, { url: "hook" }).includes('Expected a URL such as "https://example.com/hook"'),
  );
  const url = "https://example.com";
  assert.deepEqual(faultsOf(http, { url, headers: { "two words": "x" } }), [
    "Expected a header name",
  ]);
  assert.deepEqual(faultsOf(http, { url, headers: { "x-note": "a\r\nb" } }), [
    "Expected a header value in one line of Latin-1",
  ]);
  assert.equal(faultsOf(http, { url, timeoutMs: 0 }).length, 1);
  assert.equal(faultsOf(http, { url, timeout: 5 }).length, 1);
  assert.equal(faultsOf(http, undefined).length, 1);
});

Deno.test("http says what it used of the downstream that it names, and that it refused", async () => {
  let status = 200;
  await withReceiver(() => new Response(null, { status }), async (origin) => {
    const context = contextOf();
    const options = { url: origin, downstream: "mailer", timeoutMs: 1000 };
    await runOf(options, jobOf(), context);
    status = 429;
    await runOf(options, jobOf(), context);
    status = 500;
    await runOf(options, jobOf(), context);
    await runOf({ url: origin }, jobOf(), context);
    await runOf({ ...options, url: "http://127.0.0.1:1" }, jobOf(), context);

    assert.deepEqual(context.uses, ["mailer true", "mailer false", "mailer false", "mailer false"]);
    assert.deepEqual(context.overloads, [undefined]);
  });
});

// D6
Deno.test("http says how the body of a failure begins, and neither query, keys nor its own headers", async () => {
  const bodies: readonly (readonly [string, string, string])[] = [
    ["text/html; charset=utf-8", "<h1>Bad\n\tgateway</h1>", ": <h1>Bad gateway</h1>"],
    ["application/problem+json", '{"detail":"no \u00fc"}', ': {"detail":"no ü"}'],
    ["text/plain", "x".repeat(70_000), `: ${"x".repeat(299)}…`],
    ["text/plain", "you sent Bearer s3cret-token", ": you sent [redacted]"],
    ["text/plain", "bad token s3cret-token", ": bad token [redacted]"],
    ["text/plain", "", ""],
    ["image/png", "binary", ""],
  ];
  for (const [type, body, told] of bodies) {
    const receive = (): Response =>
      new Response(body, { status: 502, headers: { "content-type": type } });

    await withReceiver(receive, async (origin) => {
      const url = `${origin}/services/T1/abcdefgh12345678?token=hunter2`;
      const thrown = await runOf({ url, headers: { authorization: "Bearer s3cret-token" } });

      assert.ok(thrown instanceof Error);
      assert.equal(thrown.message, `${origin}/services/T1/…?… answered 502${told}`);
    });
  }
});

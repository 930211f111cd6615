import assert from "node:assert/strict";
import { isPublic } from "../../../plugins/handler/_address.ts";
import { type Judging, sendPublic } from "../../../plugins/handler/_pinned.ts";
import { type ReadAnswer, send, type Sending } from "../../../plugins/handler/_send.ts";
import { Fatal } from "../../../src/contract/errors.ts";
import { withReceiver } from "./_receiver.ts";

/** Resolves any name to these addresses, one list a call. */
function resolver(...lists: readonly (readonly string[])[]): Judging["resolve"] & object {
  let calls = 0;
  return () => Promise.resolve(lists[calls++] ?? []);
}

const onLoopback = (address: string): boolean => address === "127.0.0.1";

function sent(url: string, judging: Judging, more: Partial<Sending> = {}): Promise<ReadAnswer> {
  return send({
    url,
    method: "POST",
    headers: new Headers({ "x-a": "\u00fc" }),
    body: "{}",
    keepBytes: 2_000,
    readMs: 250,
    timeoutMs: 5_000,
    signal: new AbortController().signal,
    ...more,
  }, (sending, signal) => sendPublic(sending, signal, judging));
}

Deno.test("isPublic() knows the networks that are not", () => {
  const open = ["1.1.1.1", "172.32.0.1", "192.0.1.1", "223.255.255.255", "2606:4700::1111"];
  open.push("::ffff:8.8.8.8", "::ffff:808:808");
  const shut = ["0.0.0.0", "10.0.0.1", "100.64.0.1", "127.9.9.9", "169.254.169.254", "172.16.0.1"];
  shut.push("192.0.0.8", "192.168.1.1", "198.18.0.1", "224.0.0.1", "255.255.255.255", "::", "::1");
  shut.push("::ffff:10.0.0.1", "::ffff:7f00:1", "64:ff9b::a00:1", "fd00::1", "fe80::1", "ff02::1");
  shut.push("fe80::1%eth0", "2001::1", "2002:a00:1::", "2001:db8::1", "fec0::1", "::7f00:1");

  assert.deepEqual(open.filter((address) => !isPublic(address)), []);
  assert.deepEqual(shut.filter(isPublic), []);
});

Deno.test("sendPublic() connects to the address that was judged, by the name of the URL", async () => {
  const seen: unknown[] = [];
  const receive = async (request: Request): Promise<Response> => {
    const { headers } = request;
    seen.push(request.method, headers.get("host"), headers.get("x-a"), await request.text());
    return new Response("thanks", { headers: { "x-b": "1" } });
  };
  await withReceiver(receive, async (origin) => {
    const { port } = new URL(origin);
    const judging = { resolve: resolver(["127.0.0.1"]), allows: onLoopback };
    for (const body of ["", "1", "x".repeat(8_192), "\u00fc".repeat(200_000)]) {
      seen.length = 0;
      const resolve = resolver(["127.0.0.1"]);
      const answer = await sent(`http://name.test:${port}/`, { ...judging, resolve }, { body });

      assert.equal(answer.status, 200);
      assert.equal(answer.headers.get("x-b"), "1");
      assert.equal(new TextDecoder().decode(answer.bytes), "thanks");
      assert.ok(answer.isWhole);
      assert.deepEqual(seen, ["POST", `name.test:${port}`, "\u00fc", body]);
    }
  });
});

Deno.test("sendPublic() connects nowhere if one of the addresses is not public", async () => {
  let asked = 0;
  const receive = (): Response => {
    asked++;
    return new Response(null);
  };
  await withReceiver(receive, async (origin) => {
    const { port } = new URL(origin);
    for (const list of [["127.0.0.1"], ["1.1.1.1", "127.0.0.1"], ["::ffff:127.0.0.1"]]) {
      await assert.rejects(
        sent(`http://name.test:${port}/`, { resolve: resolver(list) }),
        (thrown) => thrown instanceof Fatal && /private or local/.test(thrown.message),
      );
    }
  });
  assert.equal(asked, 0);
});

Deno.test("sendPublic() judges each connection: a name that is bound again is refused", async () => {
  await withReceiver(() => new Response(null), async (origin) => {
    const { port } = new URL(origin);
    const url = `http://name.test:${port}/`;
    const resolve = resolver(["127.0.0.1"], ["127.0.0.2"]);

    assert.equal((await sent(url, { resolve, allows: onLoopback })).status, 200);
    await assert.rejects(sent(url, { resolve, allows: onLoopback }), Fatal);
  });
});

Deno.test("sendPublic() ends with hung, huge, dripping and broken answers", async () => {
  const answers: Readonly<Record<string, () => Response | Promise<Response>>> = {
    huge: () =>
      new Response(
        new ReadableStream({ pull: (stream) => stream.enqueue(new Uint8Array(16_384)) }),
      ),
    empty: () => new Response(null, { status: 204 }),
    redirect: () => new Response(null, { status: 302, headers: { location: "/huge" } }),
  };
  const receive = (request: Request): Response | Promise<Response> =>
    answers[new URL(request.url).pathname.slice(1)]?.() ?? new Response(null, { status: 500 });
  await withReceiver(receive, async (origin) => {
    const { port } = new URL(origin);
    const ask = (path: string): Promise<ReadAnswer> =>
      sent(`http://127.0.0.1:${port}/${path}`, { allows: onLoopback });

    const huge = await ask("huge");
    assert.deepEqual([huge.status, huge.bytes.length, huge.isWhole], [200, 2_000, false]);
    assert.deepEqual((await ask("empty")).status, 204);
    assert.deepEqual((await ask("redirect")).status, 302);
  });
});

Deno.test("sendPublic() ends at the time limit and at an abort, and says who cannot be reached", async () => {
  const { promise, resolve: letGo } = Promise.withResolvers<Response>();
  await withReceiver(() => promise, async (origin) => {
    const { port } = new URL(origin);
    const url = `http://127.0.0.1:${port}`;
    const reason = new Error("enough");
    await assert.rejects(sent(url, { allows: onLoopback }, { timeoutMs: 20 }), {
      message: `No answer from ${url} within 20 ms`,
    });
    const aborted = { signal: AbortSignal.abort(reason) };
    await assert.rejects(sent(url, { allows: onLoopback }, aborted), reason);
    letGo(new Response(null));
    await assert.rejects(sent(`https://127.0.0.1:${port}`, { allows: onLoopback }), {
      message: /^Cannot reach https:\/\/127\.0\.0\.1:\d+: ./,
    });
    await assert.rejects(sent("http://127.0.0.1:1/?token=s3cret", { allows: onLoopback }), {
      message: /^Cannot reach http:\/\/127\.0\.0\.1:1: .*refused/,
    });
    await assert.rejects(sent("http://nowhere.invalid/", {}), {
      message: /^Cannot reach http:\/\/nowhere\.invalid: .*getaddrinfo/,
    });
  });
});

/** Answers one request with these bytes, and ends the connection unless it is to stay. */
async function answeredBy(text: string, { stays = false } = {}): Promise<number | string> {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const serving = (async () => {
    const connection = await listener.accept();
    await connection.read(new Uint8Array(4_096));
    await connection.write(new TextEncoder().encode(text));
    if (stays) await connection.read(new Uint8Array(1)).catch(() => {}); // until the other side ends it
    connection.close();
  })();
  try {
    const url = `http://127.0.0.1:${listener.addr.port}/`;
    return (await sent(url, { allows: onLoopback }, { timeoutMs: 2_000 })).status;
  } catch (thrown) {
    return String(thrown).replaceAll(/:\d+/g, "");
  } finally {
    await serving;
    listener.close();
  }
}

Deno.test("sendPublic() ends whatever bytes are answered", async () => {
  const switched = "HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n";
  const reach = "Error: Cannot reach http://127.0.0.1: ";

  assert.equal(
    await answeredBy(switched, { stays: true }),
    `${reach}It switched to another protocol`,
  );
  assert.equal(await answeredBy("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 202 Ok\r\n\r\n"), 202);
  assert.equal(await answeredBy("HTTP/1.1 200 Ok\r\ncontent-length: 10\r\n\r\nok"), 200);
  assert.equal(
    await answeredBy("HTTP/1.1 200 Ok\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n"),
    200,
  );
  const broken = ["", "garbage\r\n\r\n", `HTTP/1.1 200 Ok\r\nx: ${"y".repeat(300_000)}\r\n\r\n`];
  for (const text of broken) assert.match(String(await answeredBy(text)), /^Error: Cannot reach /);
});

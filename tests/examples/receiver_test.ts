import assert from "node:assert/strict";
import { type Receiver, type ReceiverOptions, startReceiver } from "../../examples/receiver.ts";

async function withReceiver(
  overrides: Partial<ReceiverOptions>,
  body: (receiver: Receiver) => Promise<void>,
): Promise<void> {
  const receiver = startReceiver({ port: 0, ratePerSec: 100, serviceMs: 0, ...overrides });
  try {
    await body(receiver);
  } finally {
    await receiver.stop();
  }
}

async function post(url: string, lane?: string): Promise<Response> {
  const headers: HeadersInit = lane === undefined ? {} : { "sluice-lane": lane };
  const response = await fetch(url, { method: "POST", body: "{}", headers });
  await response.body?.cancel();
  return response;
}

Deno.test("startReceiver() says which port is in use", () => {
  using taken = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = taken.addr;

  assert.throws(() => startReceiver({ port, ratePerSec: 1, serviceMs: 0 }), {
    message: `Port ${port} is in use: perhaps the example is running already`,
  });
});

Deno.test("startReceiver() refuses deliveries above its rate with a time to come back", async () => {
  await withReceiver({ ratePerSec: 3 }, async (receiver) => {
    const answers = await Promise.all(Array.from({ length: 5 }, () => post(receiver.url)));

    assert.deepEqual(answers.map((answer) => answer.status).sort(), [200, 200, 200, 429, 429]);
    assert.equal(answers.find(({ status }) => status === 429)?.headers.get("retry-after"), "1");
    assert.equal(receiver.stats().refused, 2);
  });
});

Deno.test("startReceiver() counts arrivals by lane, refused ones included, and tells them", async () => {
  await withReceiver({ ratePerSec: 1 }, async (receiver) => {
    for (const lane of ["urgent", "batch", "urgent"]) await post(receiver.url, lane);

    const told = await (await fetch(receiver.url)).json();

    assert.deepEqual(told, {
      arrived: 3,
      mostInAnySecond: 3,
      refused: 2,
      lanes: { urgent: 2, batch: 1 },
    });
  });
});

Deno.test("startReceiver() fails with the status it is told until it is healed", async () => {
  await withReceiver({}, async (receiver) => {
    await post(`${receiver.url}/fail?status=503`);
    assert.equal((await post(receiver.url)).status, 503);

    await post(`${receiver.url}/heal`);
    assert.equal((await post(receiver.url)).status, 200);
  });
});

Deno.test("startReceiver() takes the time it is told for a delivery until it is fast again", async () => {
  await withReceiver({}, async (receiver) => {
    const told = await fetch(`${receiver.url}/slow?ms=30`, { method: "POST" });
    assert.deepEqual(await told.json(), { serviceMs: 30, status: 200 });

    const beganMs = performance.now();
    await post(receiver.url);
    assert.ok(performance.now() - beganMs >= 29);

    const fast = await fetch(`${receiver.url}/fast`, { method: "POST" });
    assert.deepEqual(await fast.json(), { serviceMs: 0, status: 200 });
  });
});

Deno.test("startReceiver() says what it wants when a control path is given nonsense", async () => {
  await withReceiver({}, async (receiver) => {
    const answer = await fetch(`${receiver.url}/fail?status=12`, { method: "POST" });

    assert.equal(answer.status, 400);
    assert.deepEqual(await answer.json(), {
      error: "Expected a number from 200 to 599 but received 12",
    });
  });
});

import { type Sluice, start } from "@sluice/sluice";
import assert from "node:assert/strict";
import { announce, confirm } from "./producer.ts";

const sent: unknown[] = [];

function startMail(maxDepth: number): Promise<Sluice> {
  return start({
    admin: { port: 0 },
    pools: {
      mail: {
        handler: ({ payload }) => {
          sent.push(payload);
          return "sent";
        },
        size: { min: 1, max: 2 },
        lanes: [{ name: "urgent" }, { name: "batch", maxDepth }],
      },
    },
  });
}

Deno.test("announce() sends one mail an order, however often it is called", async () => {
  await using sluice = await startMail(100);
  const orders = [{ number: 1, email: "ann@example.com" }, { number: 2, email: "bob@example.com" }];

  const first = await announce(sluice.adminUrl!, orders);
  const again = await announce(sluice.adminUrl!, orders);

  assert.deepEqual(again, first);
  assert.equal(new Set(first).size, 2);
});

Deno.test("confirm() tells what became of a mail", async () => {
  await using sluice = await startMail(100);

  assert.equal(await confirm(sluice.adminUrl!, "eve@example.com"), "sent");
  assert.deepEqual(sent.at(-1), { to: "eve@example.com" });
});

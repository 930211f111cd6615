/**
 * A producer in a process of its own: it sends jobs to a pool over HTTP, once each however often it
 * has to ask, and comes back later when it is rejected.
 *
 * @module
 */

import { connect, RejectedError, type RemoteJob } from "@sluice/sluice/client";

/** What the pools take: the compiler holds lanes and payloads to it. */
type Pools = { readonly mail: RemoteJob<{ readonly to: string }, "urgent" | "batch"> };

/** An order of a shop. */
export interface Order {
  /** Its number: what makes a repeated enqueue the same one. */
  readonly number: number;
  /** Who hears of it. */
  readonly email: string;
}

/** Sends one mail an order. Ids of their jobs, in order; `undefined` where a pool is full. */
export async function announce(
  url: string,
  orders: readonly Order[],
): Promise<readonly (string | undefined)[]> {
  const client = connect<Pools>(url);
  return await Promise.all(orders.map(async ({ number, email }) => {
    const job = { lane: "batch", payload: { to: email } } as const;
    try {
      // Sent again under its number, after a crash too, it brings in no second mail.
      return (await client.enqueue("mail", job, { idempotencyKey: `order-${number}` })).id;
    } catch (thrown) {
      if (thrown instanceof RejectedError) return; // try it after `thrown.retryAfterMs`
      throw thrown;
    }
  }));
}

/** Sends one mail and waits until it is out. What its handler returned. */
export async function confirm(url: string, to: string): Promise<unknown> {
  const { state, result } = await connect<Pools>(url).run("mail", {
    lane: "urgent",
    payload: { to },
  });
  if (state !== "done") throw new Error(`The mail to ${to} is ${state}`);
  return result;
}

if (import.meta.main) {
  const [url = "http://127.0.0.1:8787", to = "ann@example.com"] = Deno.args;
  await Deno.stdout.write(new TextEncoder().encode(`${await confirm(url, to)}\n`));
}

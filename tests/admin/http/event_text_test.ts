import assert from "node:assert/strict";
import { eventText } from "../../../src/admin/http/event_text.ts";

const BASE = { atMs: 0, pool: "mail" };
const AUDIT = { ...BASE, kind: "audit", who: "me" } as const;

Deno.test("eventText() says who changed what, and how it was before", () => {
  assert.deepEqual(
    eventText({
      ...AUDIT,
      action: "override",
      before: { max: 3, min: 1 },
      after: { max: 2, min: 1, untilMs: Date.UTC(2026, 0, 1) },
    }),
    {
      who: "me",
      what: "override",
      details: "max 3 -> 2, min 1, untilMs none -> 2026-01-01T00:00:00.000Z",
    },
  );
  assert.deepEqual(
    eventText({ ...AUDIT, action: "cancel", target: "j1", before: "ready", after: "cancelled" }),
    { who: "me", what: "cancel j1", details: "ready -> cancelled" },
  );
  const changes = [{ pointer: "/pools/mail", change: "added" }, { pointer: "/store" }];
  assert.equal(
    eventText({ ...AUDIT, action: "reload", after: changes }).details,
    "/pools/mail /store",
  );
  assert.equal(
    eventText({ ...AUDIT, action: "drain", before: { max: 9e15 } }).details,
    "max 9000000000000000",
  );
});

Deno.test("eventText() says what the system did, with what the event has of it", () => {
  assert.deepEqual(
    eventText({ ...BASE, kind: "paused", lane: undefined }),
    { who: "system", what: "Paused", details: "" },
  );
  const { details } = eventText({ ...BASE, kind: "store-failed", error: "x".repeat(1_000) });
  assert.equal(details.length, 301);
  assert.equal(
    eventText({
      ...BASE,
      kind: "cooldown-began",
      key: undefined,
      cause: "failures",
      count: 3,
      untilMs: 9e15,
    }).details,
    "cause failures, count 3, untilMs never",
  );
});

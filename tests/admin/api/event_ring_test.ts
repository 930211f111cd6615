import assert from "node:assert/strict";
import fc from "fast-check";
import { EventRing } from "../../../src/admin/api/event_ring.ts";
import type { PoolEvent } from "../../../src/contract/event.ts";

const ALL = { pools: new Set<string>(), kinds: new Set<string>() };

function eventAt(atMs: number, pool = "p", kind: "draining" | "stopped" = "draining"): PoolEvent {
  return { kind, atMs, pool };
}

/** A ring of three whose text of an event is its time. */
function ring(capacity = 3): EventRing {
  return new EventRing(capacity, "abc", (event) => String(event.atMs));
}

Deno.test("EventRing keeps the latest events, as many as it has room for", () => {
  const events = ring();

  for (const atMs of [1, 2, 3, 4, 5]) events.push(eventAt(atMs));

  assert.deepEqual([events.oldest, events.latest], [3, 5]);
  assert.deepEqual(events.slice(0, ALL), {
    text: "id: abc-3\ndata: 3\n\nid: abc-4\ndata: 4\n\nid: abc-5\ndata: 5\n\n",
    upTo: 5,
  });
});

Deno.test("EventRing.resume() goes on after an id, unless events in between are lost", () => {
  const events = ring();
  for (const atMs of [1, 2, 3, 4, 5]) events.push(eventAt(atMs));

  assert.equal(events.resume("abc-2"), 2);
  assert.equal(events.resume("abc-5"), 5);
  for (const id of ["abc-1", "abc-6", "other-5", "abc", "abc-5x", "abc--5", "abc-1e1", ""]) {
    assert.equal(events.resume(id), undefined, id);
  }
});

Deno.test("EventRing.slice() passes events of a pool and kind, and those about no single pool", () => {
  const events = ring(10);
  events.push(eventAt(1, "p"));
  events.push(eventAt(2, "other"));
  events.push(eventAt(3, ""));
  events.push(eventAt(4, "p", "stopped"));

  const ofPool = events.slice(0, { pools: new Set(["p"]), kinds: new Set() });
  const stopped = events.slice(0, { pools: new Set(["p"]), kinds: new Set(["stopped"]) });

  assert.deepEqual(ofPool.text.match(/data: \d/g), ["data: 1", "data: 3", "data: 4"]);
  assert.deepEqual(stopped, { text: "id: abc-4\ndata: 4\n\n", upTo: 4 });
});

Deno.test("EventRing.slice() stops at a length, and goes on from there", () => {
  const events = new EventRing(10, "abc", () => "x".repeat(40_000));
  for (const atMs of [1, 2, 3]) events.push(eventAt(atMs));

  const first = events.slice(0, ALL);
  const second = events.slice(first.upTo, ALL);

  assert.deepEqual([first.upTo, second.upTo], [2, 3]);
});

Deno.test("EventRing.clear() leaves a hole that no id resumes over", () => {
  const events = ring();
  events.push(eventAt(1));

  events.clear();
  events.push(eventAt(2));

  assert.equal(events.resume("abc-1"), undefined);
  assert.equal(events.resume("abc-2"), 2);
  assert.equal(events.slice(0, ALL).text, "id: abc-3\ndata: 2\n\n");
});

Deno.test("EventRing gives a stream that resumes anywhere each kept event once, in order", () => {
  fc.assert(fc.property(
    fc.integer({ min: 1, max: 8 }),
    fc.array(fc.oneof(fc.constant("clear"), fc.integer({ min: 1, max: 9 })), { maxLength: 30 }),
    (capacity, steps) => {
      const events = ring(capacity);
      let pushed: number[] = [];
      for (const [index, step] of steps.entries()) {
        if (step === "clear") {
          events.clear();
          pushed = [];
        } else {
          events.push(eventAt(index));
          pushed.push(index);
        }
      }
      const kept = pushed.slice(-capacity);

      for (let number = 0; number <= events.latest; number++) {
        const from = events.resume(events.idOf(number));
        assert.equal(from !== undefined, number >= events.latest - kept.length);
        if (from === undefined) continue;
        const times = events.slice(from, ALL).text.match(/(?<=data: )\d+/g) ?? [];
        assert.deepEqual(times.map(Number), kept.slice(kept.length - (events.latest - number)));
      }
    },
  ));
});

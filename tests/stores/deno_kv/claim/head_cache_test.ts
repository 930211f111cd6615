import assert from "node:assert/strict";
import fc from "fast-check";
import { encode } from "../../../../stores/deno_kv/record/codec.ts";
import { PoolKeys } from "../../../../stores/deno_kv/record/keys.ts";
import { HeadCache } from "../../../../stores/deno_kv/claim/head_cache.ts";

const keys = new PoolKeys("p");

/** A part that is the `n`th in its lane. */
function part(n: number): Deno.KvEntry<ReturnType<typeof encode>> {
  const place = { ordinal: 0, dueMs: n >> 2, segment: `s${(n >> 1) & 1}`, first: n & 1 };
  const key = keys.part("r", { ...place, expiresAtMs: 0 });
  return { key, value: encode(`[0,0,${n}]`), versionstamp: String(n) };
}

function names(parts: readonly Deno.KvEntry<unknown>[]): string[] {
  return parts.map(({ versionstamp }) => versionstamp);
}

Deno.test("HeadCache has the first parts of its lane, none left out, whatever is put down and taken away", () => {
  const step = fc.record({
    what: fc.constantFrom("put", "put", "drop", "read", "see", "readEnd", "forget", "empty"),
    n: fc.integer({ min: 0, max: 200 }),
  });

  fc.assert(fc.property(fc.array(step, { maxLength: 400 }), (steps) => {
    const shelf = new HeadCache();
    const lane = new Map<number, ReturnType<typeof part>>();
    let after: Deno.KvEntry<unknown> | undefined;
    let read: { entries: ReturnType<typeof part>[]; whole: boolean } | undefined;
    const inOrder = () => [...lane].sort(([a], [b]) => a - b).map(([, entry]) => entry);
    for (const { what, n } of steps) {
      switch (what) {
        case "put":
          lane.set(n, part(n));
          shelf.put(part(n));
          break;
        case "drop":
          lane.delete(n);
          shelf.drop(part(n).key);
          break;
        case "read":
          read = undefined;
          after = shelf.parts.at(-1);
          shelf.reads();
          break;
        case "see": {
          const isBehind = (one: Deno.KvEntry<unknown>) =>
            Number(one.versionstamp) > Number(after?.versionstamp ?? -1);
          const rest = inOrder().filter(isBehind);
          read ??= { entries: rest.slice(0, n), whole: n > rest.length };
          break;
        }
        case "readEnd":
          if (read !== undefined) shelf.extend(after?.key, read.entries, read.whole);
          read = undefined;
          break;
        case "forget":
          shelf.forget();
          break;
        case "empty":
          lane.clear();
          shelf.clear(0);
      }
      const all = names(inOrder());
      assert.deepEqual(names(shelf.parts), all.slice(0, shelf.parts.length));
      if (shelf.whole) assert.equal(shelf.parts.length, all.length);
    }
  }));
});

Deno.test("HeadCache grows no larger than its bound, and knows that there is more", () => {
  const shelf = new HeadCache();
  shelf.clear(0);

  for (let n = 0; n < 200; n++) shelf.put(part(n));

  assert.deepEqual(names(shelf.parts), Array.from({ length: 64 }, (_, n) => String(n)));
  assert.equal(shelf.whole, false);
});

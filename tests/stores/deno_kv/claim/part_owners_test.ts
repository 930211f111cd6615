import assert from "node:assert/strict";
import type { Bytes } from "../../../../stores/deno_kv/record/codec.ts";
import { PoolKeys } from "../../../../stores/deno_kv/record/keys.ts";
import { PartOwners } from "../../../../stores/deno_kv/claim/part_owners.ts";

const keys = new PoolKeys("p");

/** Parts of one lane, oldest first. */
const PARTS: readonly Deno.KvEntry<Bytes>[] = Array.from({ length: 90 }, (_, index) => {
  const segment = `s${index % 7}`;
  const place = { ordinal: 0, dueMs: index, segment, first: index, expiresAtMs: Infinity };
  return { key: keys.part("r", place), value: new Uint8Array(), versionstamp: "1" };
});

/** The places of parts in the lane. */
function placesOf(parts: readonly Deno.KvEntry<Bytes>[]): readonly number[] {
  return parts.map((part) => PARTS.indexOf(part));
}

function shareOf(member: number, members: readonly number[], owners = new PartOwners(), nowMs = 0) {
  const { own, others } = owners.share(PARTS, { member, members, nowMs });
  return { own: placesOf(own), others: placesOf(others) };
}

Deno.test("each ready part has one owner among those who live, and each owner some", () => {
  const members = [3, 4, 8];
  const shares = members.map((member) => shareOf(member, members).own);

  assert.deepEqual(shares.flat().sort((a, b) => a - b), PARTS.map((_, index) => index));
  for (const own of shares) assert.ok(own.length >= 15, `${own.length} of ${PARTS.length}`);
});

Deno.test("a process tries its own parts from the head, and those of others from the end", () => {
  const { own, others } = shareOf(3, [3, 4, 8]);

  assert.deepEqual(own, own.toSorted((a, b) => a - b));
  assert.deepEqual(others, others.toSorted((a, b) => b - a));
  assert.equal(own.length + others.length, PARTS.length);
});

Deno.test("a process that goes leaves its parts to the others, and moves none of theirs", () => {
  const before = shareOf(3, [3, 4, 8]).own;
  const after = shareOf(3, [3, 4]).own;

  assert.ok(before.every((place) => after.includes(place)));
  assert.ok(after.length > before.length);
});

Deno.test("a part that has not moved for 3 s is anybody's", () => {
  const owners = new PartOwners();
  shareOf(3, [3, 4], owners, 0);

  assert.ok(shareOf(3, [3, 4], owners, 2_999).others.length > 0);
  assert.deepEqual(shareOf(3, [3, 4], owners, 3_000).others, []);
});

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

function shareOf(memberId: number, members: readonly number[], owners = new PartOwners()) {
  const { own, others } = owners.share(0, PARTS, { members, membership: { memberId } });
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

Deno.test("an owner whose first part has not moved for 3 s hangs: its parts are the others'", () => {
  const owners = new PartOwners();
  const members = [3, 4, 8];
  const looks = (nowMs: number, parts = PARTS) => owners.looks(0, parts, { nowMs, members });
  looks(0);

  looks(2_999);
  assert.deepEqual(shareOf(3, members, owners), shareOf(3, members));
  looks(3_000);
  assert.deepEqual(shareOf(3, members, owners).others, []);
  const [first] = shareOf(4, members).own;
  const others = PARTS.filter((_, place) => place !== first);
  looks(3_500, others); // no matter who took it
  assert.deepEqual(shareOf(3, members, owners).others, []);
  looks(13_500, others.slice(20));
  assert.deepEqual(shareOf(3, members, owners), shareOf(3, members));
});

Deno.test("in a lane that is long for any time, who takes its first part is not taken for one that hangs", () => {
  const owners = new PartOwners();
  const members = [3, 4];
  for (let nowMs = 0; nowMs <= 30_000; nowMs += 500) {
    owners.looks(0, PARTS.slice(nowMs / 500), { nowMs, members });
  }

  assert.deepEqual(shareOf(3, members, owners).own, shareOf(3, members).own);
});

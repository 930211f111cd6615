import assert from "node:assert/strict";
import { encode } from "../../../../stores/deno_kv/record/codec.ts";
import { jobsDone } from "../../../../stores/deno_kv/end/done.ts";
import { parseRow, recordIn } from "../../../../stores/deno_kv/end/ended.ts";
import { formatId, SegmentNames } from "../../../../stores/deno_kv/record/id.ts";
import { recordOf } from "../../../../stores/deno_kv/record/job.ts";

const SEGMENT = new SegmentNames(1).next(1_000);
const ID = formatId({ segment: SEGMENT, ordinal: 0, index: 1, delayMs: 0 });

Deno.test("A dead job as releases before attempts were kept have stored it is read as ever", () => {
  const row =
    `["${ID}","dead",5000,4000,3,1000,[3,2,{"to":"ann"},{"e":"no","s":4000}],"attempts","no"]`;

  const record = recordIn(parseRow(row), "mail", "urgent");

  assert.deepEqual([record.attempt, record.error, record.payload], [3, "no", { to: "ann" }]);
  assert.equal("history" in record || "revived" in record, false);
});

Deno.test("A done job that such a release has stored with the error of an attempt before has none", () => {
  const key = ["sluice", "pool", "mail", "d", 5000, "n", SEGMENT, 1, 0, 1000, 4000, 0];
  const value = encode(
    '[[0,"done",2,"no",{"sent":1}]]\n[1,1,"p",{"e":"no"}]\n[1,1,"q",{"e":"no"}]',
  );

  const jobs = jobsDone({ key, value, versionstamp: "0" });

  assert.deepEqual(
    jobs.map((job) => recordIn(job, "mail", "urgent")).map((
      { state, error, result },
    ) => [state, error, result]),
    [["done", undefined, { sent: 1 }], ["done", undefined, undefined]],
  );
});

for (const damaged of [5, "x", {}, [null, 5, { attempt: "1" }], [{ attempt: 1, log: [7] }]]) {
  Deno.test(`A job whose attempts were damaged to ${JSON.stringify(damaged)} is read without them`, () => {
    const line = JSON.parse(JSON.stringify([1, 1, "p", { e: "no", l: damaged }]));
    const stored = { ordinal: 0, segment: SEGMENT, index: 1, dueMs: 1000, line, text: "" };

    const record = recordOf(stored, { pool: "mail", lane: "urgent", state: "ready" });

    assert.deepEqual([record.error, record.history], ["no", undefined]);
  });
}

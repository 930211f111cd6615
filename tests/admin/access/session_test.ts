import assert from "node:assert/strict";
import { SESSION_MS, Sessions } from "../../../src/admin/access/session.ts";

Deno.test("Sessions.read() knows a cookie that open() made, until it ends", () => {
  const sessions = new Sessions();

  const { session, cookie } = sessions.open("viewer", 1_000);

  assert.equal(session.role, "viewer");
  assert.deepEqual(sessions.read(cookie, 1_000 + SESSION_MS - 1), session);
  assert.equal(sessions.read(cookie, 1_000 + SESSION_MS), undefined);
});

Deno.test("Sessions.read() knows no cookie that was changed, or that others made", () => {
  const sessions = new Sessions();
  const { cookie } = sessions.open("viewer", 0);
  const [role, until, id, signature] = cookie.split(".");
  const { cookie: foreign } = new Sessions().open("admin", 0);

  for (
    const other of [
      foreign,
      ["admin", until, id, signature].join("."),
      [role, `${Number(until) + 1}`, id, signature].join("."),
      [role, until, id, ""].join("."),
      [role, until, id].join("."),
      `${cookie}x`,
      cookie.slice(0, -1),
      ".",
      "",
    ]
  ) {
    assert.equal(sessions.read(other, 1), undefined, other);
  }
});

Deno.test("Sessions.close() ends one session, others go on", () => {
  const sessions = new Sessions();
  const first = sessions.open("admin", 0);
  const second = sessions.open("admin", 0);

  sessions.close(first.session, 1);

  assert.equal(sessions.read(first.cookie, 2), undefined);
  assert.deepEqual(sessions.read(second.cookie, 2), second.session);
});

Deno.test("Sessions.close() remembers what was closed as long as it would count", () => {
  const sessions = new Sessions();
  const early = sessions.open("admin", 0);
  const late = sessions.open("admin", 1_000);
  sessions.close(early.session, 1_000);

  sessions.close(late.session, SESSION_MS); // the early one has ended by now

  assert.equal(sessions.read(late.cookie, SESSION_MS), undefined);
  assert.equal(sessions.read(early.cookie, SESSION_MS), undefined);
});

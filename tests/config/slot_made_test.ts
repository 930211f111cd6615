import assert from "node:assert/strict";
import { defineAdmission, defineController } from "../../src/contract/plugin.ts";
import type { Verdict } from "../../src/contract/strategy.ts";
import { errorOf, pool, resolveObject } from "./_bench.ts";

/** What a module in JavaScript may make. */
function making(made: unknown): () => never {
  return () => made as never; // the wrong type is the point
}

Deno.test("resolveSlot() names the plugin whose factory makes no strategy", async () => {
  const cases = [
    [undefined, "undefined"],
    [{ workers: 2, reason: "" }, "an object"],
    [Promise.resolve(() => ({ workers: 2, reason: "" })), "a promise"],
  ] as const;

  for (const [made, received] of cases) {
    const plugin = defineController({ name: "mine", create: making(made) });
    const error = await errorOf(resolveObject({ pools: { mail: pool({ controller: plugin }) } }));
    assert.equal(
      error.message,
      '/pools/mail/controller/with: The controller "mine" could not be made: Expected create to ' +
        `answer with a function of a view but received ${received}`,
    );
  }
});

Deno.test("resolveSlot() takes an admission with a method submit, of a class too, and nothing else", async () => {
  class Open {
    submit(): Verdict {
      return { admit: true };
    }
  }
  const open = defineAdmission({ name: "open", create: () => new Open() });
  const bare = defineAdmission({ name: "bare", create: making(() => ({ admit: true })) });

  await resolveObject({ pools: { mail: pool({ admission: open }) } });
  const error = await errorOf(resolveObject({ pools: { mail: pool({ admission: bare }) } }));

  assert.equal(
    error.message,
    '/pools/mail/admission/with: The admission "bare" could not be made: Expected create to answer ' +
      "with an object with a method submit but received a function",
  );
});

import assert from "node:assert/strict";
import {
  defineAdmission,
  defineCap,
  defineController,
  defineLanePolicy,
  defineRetirement,
  use,
} from "../../src/contract/plugin.ts";
import type { Cap, Controller, LanePolicy, Retirement } from "../../src/contract/strategy.ts";
import {
  checkAdmission,
  checkCap,
  checkController,
  checkLanePolicy,
  checkRetirement,
} from "../../src/testing/mod.ts";
import type { PoolView } from "../../src/contract/view.ts";

/** The message that a controller fails with. */
function failure(create: () => Controller): string {
  return messageOf(() => checkController(defineController({ name: "mine", create })));
}

function messageOf(check: () => void): string {
  try {
    check();
  } catch (thrown) {
    assert.ok(thrown instanceof assert.AssertionError);
    return thrown.message;
  }
  return "passed";
}

Deno.test("checkController() passes a controller that remembers in its closure", () => {
  const create = (): Controller => {
    let last = 0;
    return (view) => {
      last = Math.max(last * 0.9, view.busy);
      return { workers: last, reason: `${last} lately`, reviewAtMs: view.nowMs + 1 };
    };
  };

  assert.equal(failure(create), "passed");
});

Deno.test("checkController() says which answer is wrong and on which view", () => {
  const answer = (proposal: unknown): Controller => () => proposal as never; // what no type allows

  assert.equal(
    failure(() => (view) => ({ workers: view.live / view.live, reason: "x" } as never)),
    'controller "mine": Expected workers to be a finite number >= 0 but received NaN, on "first tick, no workers"',
  );
  assert.match(
    failure(() => answer({ workers: -1, reason: "x" })),
    /finite number >= 0 but received -1/,
  );
  assert.match(failure(() => answer({ workers: Infinity, reason: "x" })), /but received Infinity/);
  assert.match(failure(() => answer({ workers: "2", reason: "x" })), /but received "2"/);
  assert.match(
    failure(() => answer({ workers: 1, reason: " " })),
    /Expected a reason with text but received " "/,
  );
  assert.match(
    failure(() => answer({ workers: 1 })),
    /Expected a reason with text but received undefined/,
  );
  assert.match(
    failure(() => answer({ workers: 1, reason: "NaN ready" })),
    /Expected a reason for people but received "NaN ready"/,
  );
  assert.match(
    failure(() => (view) => ({ workers: 1, reason: "x", reviewAtMs: view.nowMs })),
    /Expected reviewAtMs to be undefined or after nowMs/,
  );
  assert.match(
    failure(() => answer(Promise.reject(new Error("late")))),
    /Expected an answer at once but received a promise/,
  );
});

Deno.test("checkController() finds one that fails without data", () => {
  const create = (): Controller => (view) => ({
    workers: view.window.serviceMs!.mean,
    reason: "mean",
  });

  assert.match(failure(create), /Cannot read properties of undefined.*on "first tick, no workers"/);
});

Deno.test("checkController() finds one that is not pure", () => {
  let calls = 0;
  const impure = (): Controller => () => ({ workers: calls++, reason: "x" });
  const timed = (): Controller => () => ({ workers: Date.now() % 3, reason: "x" });
  const chancy = (): Controller => () => ({ workers: Math.random(), reason: "x" });
  const measuring = (): Controller => () => ({ workers: performance.now(), reason: "x" });

  assert.match(
    failure(impure),
    /same views to give the same answers.*keep its memory in the closure/,
  );
  assert.match(failure(timed), /it calls Date\.now\(\): use view\.nowMs/);
  assert.match(failure(chancy), /it calls Math\.random\(\): use context\.random\(\)/);
  assert.match(failure(measuring), /it calls performance\.now\(\): use view\.nowMs/);
  assert.ok(Math.random() < 1 && Date.now() > 0, "clock and chance work again");
});

Deno.test("checkController() refuses each clock and each chance by name, and takes times that are given", () => {
  const ways: Readonly<Record<string, () => number>> = {
    "new Date()": () => new Date().getTime(),
    "Date()": () => Date().length,
    "performance.now()": () => performance.now(),
    "Temporal.Now.instant()": () => Temporal.Now.instant().epochMilliseconds,
    "Temporal.Now.zonedDateTimeISO()": () => Temporal.Now.zonedDateTimeISO().year,
    "crypto.randomUUID()": () => crypto.randomUUID().length,
    "setTimeout()": () => (clearTimeout(setTimeout(() => {}, 0)), 1),
    "queueMicrotask()": () => (queueMicrotask(() => {}), 1),
    "crypto.getRandomValues()": () => crypto.getRandomValues(new Uint8Array(1))[0] ?? 0,
  };
  for (const [name, look] of Object.entries(ways)) {
    const looking = (): Controller => () => ({ workers: look() % 3, reason: "x" });
    assert.ok(failure(looking).includes(`it calls ${name}`), name);
    assert.ok(look() >= 0, name); // it works again
  }
  checkController(defineController({
    name: "given",
    create: () => (view) => ({ workers: new Date(view.nowMs).getUTCHours(), reason: "x" }),
  }));
  assert.ok(new Date() instanceof Date);
});

Deno.test("checkController() finds one that reaches outside", () => {
  const outside = (): Controller => () => ({ workers: Number(fetch("data:,1")), reason: "x" });

  assert.match(failure(outside), /it calls fetch\(\): use view\.signals/);
});

Deno.test("checkController() finds one that changes its view", () => {
  const create = (): Controller => (view) => {
    (view.lanes as PoolView["lanes"][number][]).reverse(); // what no type allows
    return { workers: 1, reason: "x" };
  };

  assert.match(failure(create), /Cannot assign to read only property/);
});

Deno.test("checkController() takes options by use() and says what is wrong with them", () => {
  const plain = defineController({
    name: "mine",
    create: () => () => ({ workers: 1, reason: "one" }),
  });

  checkController(use(plain));
  assert.match(
    messageOf(() => checkController({ use: plain, with: { wrong: 1 } })),
    /Expected its options to fit its schema but: "mine" takes no options/,
  );
});

Deno.test("checkCap() takes Infinity for no bound, and finds bounds that are none", () => {
  const check = (cap: Cap): string =>
    messageOf(() => checkCap(defineCap({ name: "mine", create: () => cap })));

  assert.equal(check(() => ({ workers: Infinity, reason: "no bound" })), "passed");
  assert.match(
    check(() => ({ workers: NaN, reason: "x" })),
    /cap "mine": Expected workers to be a number >= 0/,
  );
  assert.match(
    check(() => ({ workers: 1, startsPerSec: -1, reason: "x" })),
    /Expected startsPerSec to be a number >= 0 but received -1/,
  );
});

Deno.test("checkLanePolicy() finds a lane that may not be served", () => {
  const check = (policy: LanePolicy): string =>
    messageOf(() => checkLanePolicy(defineLanePolicy({ name: "mine", create: () => policy })));

  assert.equal(check((_, eligible) => eligible[0]), "passed");
  assert.match(check(() => undefined), /a lane of some view to be served but it never names one/);
  assert.match(
    check((view) => view.lanes[0]),
    /Expected one of the eligible lanes \("normal"\) or undefined but received "urgent"/,
  );
  assert.match(check((_, eligible) => ({ ...eligible[0]! })), /Expected one of the eligible lanes/);
});

Deno.test("checkRetirement() finds ids of nobody, and ids that come twice", () => {
  const check = (retirement: Retirement): string =>
    messageOf(() => checkRetirement(defineRetirement({ name: "mine", create: () => retirement })));

  assert.equal(check(() => []), "passed");
  assert.match(check(() => ["nobody"]), /Expected ids of workers but received "nobody"/);
  assert.match(check(() => undefined as never), /Expected a list of ids but received undefined/); // what no type allows
  assert.match(
    check((view) => view.workers.flatMap(({ id }) => [id, id])),
    /Expected each id once but received \["w1","w1"\]/,
  );
});

Deno.test("checkAdmission() finds a refusal without a reason or a time to come back", () => {
  const check = (verdict: unknown, take: unknown = true): string =>
    messageOf(() =>
      checkAdmission(defineAdmission({
        name: "mine",
        create: () => ({ submit: () => verdict as never, take: () => take as never }), // what no type allows
      }))
    );

  assert.equal(check({ admit: true }), "passed");
  assert.match(check({ admit: false, reason: "", retryAfterMs: 1 }), /Expected a reason with text/);
  assert.match(
    check({ admit: false, reason: "full", retryAfterMs: Infinity }),
    /Expected retryAfterMs to be a finite number >= 0 but received Infinity/,
  );
  assert.match(check(true), /Expected a verdict with admit but received true/);
  assert.match(
    check({ admit: true }, 1),
    /Expected take\(\) to answer true or false but received 1/,
  );
});

Deno.test("a counter in the closure, that makes two identical calls differ, is found in each kind", () => {
  const again = /Expected the same answer to the same call but received .* after .* on/;
  const policy = defineLanePolicy({
    name: "mine",
    create: () => {
      let calls = 0;
      return (_view, eligible) => eligible[calls++ % eligible.length];
    },
  });
  const retirement = defineRetirement({
    name: "mine",
    create: () => {
      let calls = 0;
      return (view) => view.workers.slice(0, calls++ % 2).map(({ id }) => id);
    },
  });
  const admission = defineAdmission({
    name: "mine",
    create: () => {
      let calls = 0;
      const submit = () => ({ admit: calls++ % 2 === 0, reason: "odd", retryAfterMs: 1 });
      return { submit } as never; // a verdict is one or the other
    },
  });
  const controller = failure(() => {
    let calls = 0;
    return () => ({ workers: calls++ % 2, reason: "odd" });
  });

  assert.match(messageOf(() => checkLanePolicy(policy)), again);
  assert.match(messageOf(() => checkRetirement(retirement)), again);
  assert.match(messageOf(() => checkAdmission(admission)), again);
  assert.match(controller, /Expected no more workers when asked again with the same view/);
});

Deno.test("chance and view.nowMs may make answers differ, in each kind", () => {
  checkLanePolicy(defineLanePolicy({
    name: "mine",
    create: (_, { random }) => (_view, eligible) =>
      eligible[Math.floor(random() * eligible.length)],
  }));
  checkRetirement(defineRetirement({
    name: "mine",
    create: () => (view) => view.workers.slice(0, view.nowMs % 2).map(({ id }) => id),
  }));
});

/** What a check says when a strategy is asked again with the same view. */

import assert from "node:assert/strict";
import { defineCap, defineController, type PluginContext } from "../../src/contract/plugin.ts";
import type { Limit } from "../../src/contract/strategy.ts";
import { checkCap, checkController } from "../../src/testing/mod.ts";
import type { PoolView } from "../../src/contract/view.ts";

type Workers = (view: PoolView) => number;

function controllerSays(create: (context: PluginContext) => Workers): string {
  return messageOf(() =>
    checkController(defineController({
      name: "mine",
      create: (_, context) => {
        const workers = create(context);
        return (view) => ({ workers: workers(view), reason: "x" });
      },
    }))
  );
}

function capSays(create: () => (view: PoolView) => Omit<Limit, "reason">): string {
  return messageOf(() =>
    checkCap(defineCap({
      name: "mine",
      create: () => {
        const limit = create();
        return (view) => ({ ...limit(view), reason: "x" });
      },
    }))
  );
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

/** Ways to go further with each call. All give the same answers to the same views, asked once each. */
const GROWING: Readonly<Record<string, (context: PluginContext) => Workers>> = {
  "one more each time": () => {
    let asked = 0;
    return () => asked++;
  },
  "one more up to size.max": () => {
    let last = 0;
    return ({ size }) => last = Math.min(last + 1, size.max);
  },
  "twice as many while jobs wait": () => {
    let last = 1;
    return ({ lanes, size }) => last = lanes[0]!.ready > 0 ? Math.min(last * 2, size.max) : 1;
  },
  "a mean of what it was asked": () => {
    let mean = 0;
    return ({ busy }) => mean += (busy - mean) * 0.1;
  },
  "a little more, out of the same view": () => {
    let grown = 0;
    let seenMs = 0;
    return ({ nowMs, busy }) => {
      grown = nowMs === seenMs ? grown + 1e-6 : 0;
      seenMs = nowMs;
      return busy + grown;
    };
  },
  "each third time": () => {
    let asked = 0;
    return () => Math.floor(asked++ / 3);
  },
  "to and fro": () => {
    let asked = 0;
    return () => asked++ % 2;
  },
  "some more, by chance": ({ random }) => {
    let last = 0;
    return () => last += random();
  },
  "as many as its samples": () => {
    const samples: number[] = [];
    return ({ busy }) => samples.push(busy);
  },
};

for (const [name, create] of Object.entries(GROWING)) {
  Deno.test(`checkController() finds one that answers with ${name}`, () => {
    assert.match(
      controllerSays(create),
      /^controller "mine": Expected no more workers when asked again with the same view but received [\d.e-]+ after [\d.e-]+: change its memory with view\.nowMs, not with each call, on "/,
    );
  });
}

const STEADY: Readonly<Record<string, (context: PluginContext) => Workers>> = {
  "a step from what lives": () => ({ live }) => live + 1,
  "a mean over time": () => {
    let [mean, seenMs] = [0, 0];
    return ({ busy, nowMs }) => {
      mean += (busy - mean) * (1 - Math.exp((seenMs - nowMs) / 1000));
      seenMs = nowMs;
      return mean;
    };
  },
  "the peak of ten seconds": () => {
    let seen: { readonly atMs: number; readonly busy: number }[] = [];
    return ({ busy, nowMs }) => {
      seen = [...seen, { atMs: nowMs, busy }].filter(({ atMs }) => atMs > nowMs - 10_000);
      return Math.max(...seen.map((one) => one.busy));
    };
  },
  "a step a second": () => {
    let [last, steppedMs] = [0, 0];
    return ({ nowMs, size }) => {
      if (nowMs < steppedMs + 1000) return last;
      steppedMs = nowMs;
      return last = Math.min(last + 1, size.max);
    };
  },
  "a fraction that is rounded by chance": ({ random }) => ({ busy }) =>
    Math.floor(busy * 1.1 + random()),
  "a peak that fades with each call": () => {
    let last = 0;
    return ({ busy }) => last = Math.max(last * 0.9, busy);
  },
};

for (const [name, create] of Object.entries(STEADY)) {
  Deno.test(`checkController() passes ${name}`, () => {
    assert.equal(controllerSays(create), "passed");
  });
}

Deno.test("checkCap() finds one that allows more each time, workers or starts", () => {
  let message = capSays(() => {
    let workers = 0;
    return ({ size }) => ({ workers: workers = Math.min(workers + 1, size.max) });
  });
  assert.match(
    message,
    /^cap "mine": Expected no more workers when asked again .* 2 after 1: change/,
  );

  message = capSays(() => {
    let startsPerSec = 1;
    return () => ({ workers: Infinity, startsPerSec: startsPerSec *= 2 });
  });
  assert.match(message, /Expected no more startsPerSec when asked again .* 4 after 2: change/);

  message = capSays(() => {
    let asked = 0;
    return () => asked++ % 50 === 3 ? { workers: 9 } : { workers: 9, startsPerSec: 5 };
  });
  assert.match(
    message,
    /Expected no more startsPerSec when asked again .* Infinity after 5: change/,
  );
});

Deno.test("checkCap() passes a bound that falls, and one that rises with time", () => {
  assert.equal(
    capSays(() => {
      let workers = 1e6;
      return () => ({ workers: workers *= 0.9 });
    }),
    "passed",
  );
  assert.equal(capSays(() => ({ nowMs }) => ({ workers: nowMs })), "passed");
});

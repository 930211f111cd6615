import { use } from "@sluice/sluice";
import { checkController, makeStrategy, makeView } from "@sluice/sluice/testing";
import assert from "node:assert/strict";
import { steady } from "./steady.ts";

Deno.test("steady keeps the rules of controllers", () => {
  checkController(steady);
  checkController(use(steady, { perWorker: 3 }));
});

Deno.test("steady asks for one worker for every ten ready jobs", () => {
  const controller = makeStrategy(steady);
  const view = makeView({ lanes: [{ ready: 21 }, { ready: 4 }] });

  assert.deepEqual(controller(view), { workers: 3, reason: "25 ready at 10 a worker" });
});

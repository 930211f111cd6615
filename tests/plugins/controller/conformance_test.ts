import { ageScaler } from "../../../plugins/controller/age_scaler.ts";
import { depthScaler } from "../../../plugins/controller/depth_scaler.ts";
import { fixed } from "../../../plugins/controller/fixed.ts";
import { littlesLaw } from "../../../plugins/controller/littles_law.ts";
import { checkController } from "../../../src/testing/mod.ts";
import { use } from "../../../src/contract/plugin.ts";

Deno.test("ageScaler passes checkController, with each rule", () => {
  checkController(ageScaler);
  checkController(use(ageScaler, { rule: "step" }));
});

Deno.test("depthScaler passes checkController", () => checkController(depthScaler));

Deno.test("littlesLaw passes checkController", () => checkController(littlesLaw));

Deno.test("fixed passes checkController, with and without a count", () => {
  checkController(fixed);
  checkController(use(fixed, { workers: 3 }));
});

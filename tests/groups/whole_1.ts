import { load } from "../_groups.ts";

await load("whole_1");

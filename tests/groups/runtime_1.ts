import { load } from "../_groups.ts";

await load("runtime_1");

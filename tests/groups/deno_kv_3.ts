import { load } from "../_groups.ts";

await load("deno_kv_3");

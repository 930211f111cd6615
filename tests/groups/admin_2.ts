import { load } from "../_groups.ts";

await load("admin_2");

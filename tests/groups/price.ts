import { load } from "../_groups.ts";

await load("price");

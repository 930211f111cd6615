import { load } from "../_groups.ts";

await load("cli_2");

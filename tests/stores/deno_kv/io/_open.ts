/** A process that opens a store with the options given as JSON, and says how that went. */

import { messageOf } from "../../../../src/contract/errors.ts";
import { openStore } from "../_store.ts";

try {
  await (await openStore(JSON.parse(Deno.args[0]!))).close();
  say("opened");
} catch (thrown) {
  say(messageOf(thrown));
}

function say(text: string): void {
  Deno.stdout.writeSync(new TextEncoder().encode(text));
}

import { checkStore } from "../../../../src/conformance/store.ts";
import { startServer, TOKEN } from "../../../_kvconnect/server.ts";
import { openStore } from "./_store.ts";

/** The same with another seed: the client takes 44 ms for each larger commit, so one is enough here. */
const REPEATED = /\(seed [^1]\)$/;

Deno.test("denoKv does what pools need, over KV Connect with 10 checks a commit", async (context) => {
  Deno.env.set("DENO_KV_ACCESS_TOKEN", TOKEN);
  const make = async (): ReturnType<typeof openStore> => {
    const server = startServer({ maxChecks: 10 });
    const store = await openStore({ url: server.url });
    const close = store.close.bind(store);
    store.close = async () => {
      await close();
      await server[Symbol.asyncDispose]();
    };
    return store;
  };
  await checkStore(make, {
    test: (name, check) => REPEATED.test(name) ? undefined : context.step(name, check),
  });
});
